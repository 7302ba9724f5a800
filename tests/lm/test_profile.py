from __future__ import annotations

import tomllib
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from videohv.errors import InputError
from videohv.lm.profile import read_profile

LAB = """
lm = "ollama/qwen3"

[mixed]
lm = "openai/gpt-4o-mini?temperature=0"
vision_lm = { model = "vllm/qwen3-vl", api_base = "http://lab:8000", key_env = "LAB_KEY", images = true }

[mixed.roles]
judge = "anthropic/claude-sonnet-4-5"
verifier = "embedded"
verifier.check = { model = "openai/gpt-4o", temperature = 0.5, max_tokens = 900 }
"""


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "lab.toml"
    path.write_text(LAB.replace('verifier = "embedded"\n', ""), encoding="utf-8")
    return path


def test_what_stands_at_the_top_is_the_profile_without_a_name(lab: Path) -> None:
    assert [(e.setting, str(e.spec), e.origin) for e in read_profile("lab.toml")] == [
        ("lm", "ollama/qwen3", "lab.toml, lm")
    ]


def test_a_named_one_stands_for_itself_and_takes_specs_as_texts_and_as_tables(lab: Path) -> None:
    read = {e.setting: e for e in read_profile("lab.toml#mixed")}
    assert {name: str(e.spec) for name, e in read.items()} == {
        "lm": "openai/gpt-4o-mini?temperature=0.0",
        "vision_lm": "vllm/qwen3-vl?api_base=http://lab:8000/v1&key_env=LAB_KEY&images=true",
        "judge": "anthropic/claude-sonnet-4-5",
        "verifier.check": "openai/gpt-4o?temperature=0.5&max_tokens=900",
    }
    assert read["judge"].origin == "lab.toml#mixed, role judge"


def test_a_quoted_role_stands_beside_its_family(tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text('[roles]\nverifier = "a/b"\n"verifier.check" = "c/d"\n', encoding="utf-8")
    assert [e.setting for e in read_profile(str(path))] == ["verifier", "verifier.check"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("lm = 3", r"p\.toml, \[lm\]: expected a spec"),
        ("llm = 'a/b'", r"p\.toml, at the top: no key is called 'llm'; known: lm, vision_lm, roles$"),
        ("[x]\nlmm = 'a/b'", r"p\.toml, \[x\]: no key is called 'lmm'; known"),
        ("roles = 'a/b'", "'roles' must be a table"),
        ("[x.roles]\njugde = 'a/b'", r"p\.toml, \[x\.roles\]: no role is called 'jugde'; known: answer"),
        ("[roles]\nverifier.luck = 'a/b'", r"p\.toml, \[roles\.verifier\]|no role is called 'verifier.luck'"),
        ("lm = { temperature = 0 }", r"\[lm\]: 'model' must be provider/model"),
        ("lm = { model = 'a/b', temprature = 0 }", r"\[lm\]: no key is called 'temprature'; known: model, temperature"),
        ("lm = { model = 'a/b', temperature = 9 }", r"\[lm\]: model 'a/b', option 'temperature'"),
        ("lm = { model = 'a/b?seed=1' }", "with its options beside it"),
        ("lm = 'a/b?bad=1'", r"\[lm\]: model 'a/b': no option is called 'bad'"),
        ("lm = ", r"p\.toml is not TOML: Invalid value"),
        ("[a]\nlm = 'x/y'\n[b]\nlm = 'x/y'", r"no model is named at its top; name one of its profiles: .*#a, .*#b"),
        ("", "no model is named at its top$"),
    ],
)
def test_what_is_wrong_is_said_with_file_table_and_key(text: str, said: str, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=said) as raised:
        read_profile(str(path))
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "text",
    [
        "api_key = 'GEHEIM'",
        "lm = { model = 'a/b', api_key = 'GEHEIM' }",
        "[x]\ntoken = 'GEHEIM'",
        "[x.roles]\napi_key = 'GEHEIM'",
        "[roles.judge]\nmodel = 'a/b'\npassword = 'GEHEIM'",
        "lm = 'a/b?api_key=GEHEIM'",
        "lm = { model = 'a/b', key_env = 'sk-GEHEIM' }",
        "lm = { model = 'a/b', api_base = 'http://me:GEHEIM@host' }",
        "lm = 'sk-proj-GEHEIM0123456789'",
    ],
)
def test_a_secret_is_refused_and_not_repeated(text: str, tmp_path: Path) -> None:
    path = tmp_path / "p.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as raised:
        read_profile(str(path) + ("#x" if "[x" in text else ""))
    assert "GEHEIM" not in str(raised.value)
    assert raised.value.__cause__ is None


def test_a_slip_in_another_profile_of_the_file_is_found_too(lab: Path) -> None:
    lab.write_text(lab.read_text(encoding="utf-8") + "\n[spare]\nlm = 5\n", encoding="utf-8")
    with pytest.raises(InputError, match="spare"):
        read_profile("lab.toml#mixed")


def test_a_file_or_name_that_is_not_there_is_named(lab: Path) -> None:
    with pytest.raises(InputError, match=r"lib\.toml: No such file"):
        read_profile("lib.toml")
    with pytest.raises(InputError, match=r"lab\.toml: it has no \[mixd\]; there is mixed"):
        read_profile("lab.toml#mixd")


NAMES = st.sampled_from(["lm", "vision_lm", "roles", "x", "judge", "model", "api_key", "temperature", "verifier.look"])
VALUES = st.recursive(
    st.one_of(st.just('"a/b"'), st.just('"embedded"'), st.just("3"), st.just("true"), st.just('"?"'), st.just("[1]")),
    lambda inner: st.dictionaries(NAMES, inner, max_size=3).map(
        lambda table: "{ " + ", ".join(f'"{name}" = {value}' for name, value in table.items()) + " }"
    ),
    max_leaves=6,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.dictionaries(NAMES, VALUES, max_size=4), st.sampled_from(["", "#x", "#y"]))
def test_any_toml_is_read_or_refused(tmp_path: Path, table: dict[str, str], name: str) -> None:
    text = "\n".join(f'"{key}" = {value}' for key, value in table.items())
    tomllib.loads(text)
    path = tmp_path / "p.toml"
    path.write_text(text, encoding="utf-8")
    try:
        read = read_profile(f"{path}{name}")
    except InputError:
        return
    assert all(entry.spec.provider for entry in read)
    assert len({entry.setting for entry in read}) == len(read)
