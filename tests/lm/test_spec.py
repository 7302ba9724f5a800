from __future__ import annotations

from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videohv.errors import InputError
from videohv.lm.spec import Options, parse_spec


@pytest.mark.parametrize(
    ("text", "provider", "model"),
    [
        ("embedded", "embedded", ""),
        ("embedded/qwen2.5-coder-0.5b", "embedded", "qwen2.5-coder-0.5b"),
        ("embedded/models/my.gguf", "embedded", "models/my.gguf"),
        ("embedded//data/my.gguf", "embedded", "/data/my.gguf"),
        (" openai/gpt-4o-mini ", "openai", "gpt-4o-mini"),
        ("openrouter/qwen/qwen3-vl:free", "openrouter", "qwen/qwen3-vl:free"),
    ],
)
def test_provider_and_model(text: str, provider: str, model: str) -> None:
    spec = parse_spec(text)
    assert (spec.provider, spec.model) == (provider, model)
    assert spec.options == Options()


def test_options_are_typed() -> None:
    options = parse_spec(
        "a/b?temperature=0.5&max_tokens=9&seed=-1&timeout=2&retries=0&images=yes&key_env=MY_KEY"
    ).options
    assert (options.temperature, options.max_tokens, options.seed) == (0.5, 9, -1)
    assert (options.timeout, options.retries, options.images, options.key_env) == (2.0, 0, True, "MY_KEY")
    assert "context" not in options.given


@pytest.mark.parametrize(
    ("given_", "address"),
    [
        ("http://host:8000", "http://host:8000/v1"),
        ("http://HOST:8000/v1/", "http://host:8000/v1"),
        ("https://gate.example/team/v1", "https://gate.example/team/v1"),
    ],
)
def test_an_address_has_one_spelling(given_: str, address: str) -> None:
    assert parse_spec(f"openai-compatible/m?api_base={given_}").options.api_base == address


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "expected provider/model"),
        ("/model", "expected provider/model"),
        ("openai/", "expected provider/model"),
        ("a/b?temperature", "expected option=value"),
        ("a/b?temprature=1", "no option is called 'temprature'; known: temperature"),
        ("a/b?seed=1&seed=2", "'seed' is given twice"),
        ("a/b?temperature=3", "option 'temperature'.*less than or equal to 2"),
        ("a/b?max_tokens=0", "option 'max_tokens'"),
        ("a/b?api_base=host:8000", r"expected http://host\[:port\]"),
        ("a/b?api_base=http://host/v1%3Fa=b", "must not carry a query"),
    ],
)
def test_what_is_wrong_is_said(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said):
        parse_spec(text)


@pytest.mark.parametrize(
    "text", ["openai/m?api_key=sk-geheim", "a/b?token=geheim", "a/b?api_base=http://me:geheim@host", "a/b?KEY=geheim"]
)
def test_a_secret_is_refused_and_not_repeated(text: str) -> None:
    with pytest.raises(InputError, match=r"environment variable|key_env") as raised:
        parse_spec(text)
    assert "geheim" not in str(raised.value)
    assert raised.value.__cause__ is None


@given(st.text(max_size=60))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        spec = parse_spec(text)
    except InputError:
        return
    assert spec.provider
    assert "/" not in spec.provider


@given(st.floats(0, 2), st.integers(-(2**31), 2**31), st.integers(1, 10**6))
def test_options_survive_the_round_trip(temperature: float, seed: int, tokens: int) -> None:
    options = parse_spec(f"a/b?temperature={quote(str(temperature))}&seed={seed}&max_tokens={tokens}").options
    assert (options.temperature, options.seed, options.max_tokens) == (temperature, seed, tokens)
