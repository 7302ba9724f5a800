from __future__ import annotations

import dspy
import pytest

from tests.support.server import FakeServer
from videohv.errors import InputError, MissingExtra, ModelError
from videohv.lm import backends, context_tokens, describe, lm_name, make_lm, sees_images
from videohv.lm.backend_dspy import native_provider
from videohv.lm.backends import backend, backend_names, default_lm
from videohv.lm.spec import Spec


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-geheim")
    return "sk-geheim"


def test_built_ins_use_the_seam_that_users_have(monkeypatch: pytest.MonkeyPatch) -> None:
    assert {"embedded", "openai-compatible", "vllm", "sglang", "ollama", "llamacpp"} <= set(backend_names())
    monkeypatch.setattr(backends, "_backends", dict(backends._backends))
    asked: list[tuple[Spec, int | None]] = []

    @backend("my-lab", "their-lab")
    def lab(spec: Spec, seed: int | None) -> dspy.LM:
        asked.append((spec, seed))
        return dspy.LM("lab/model", engine=object.__new__(Engine))

    assert make_lm("their-lab/x?temperature=1", seed=7).model == "lab/model"
    assert asked[0][0].model == "x"
    assert asked[0][1] == 7


class Engine:
    supports_images = True
    context_tokens = 77

    def complete(self, request: object) -> object:
        raise AssertionError("not asked in these tests")


def test_a_provider_that_dspy_knows(key: str) -> None:
    lm = make_lm("openai/gpt-4o-mini?temperature=0.5&max_tokens=50&retries=1", seed=3)
    assert lm.model == lm_name(lm) == "openai/gpt-4o-mini"
    assert lm.kwargs == {"temperature": 0.5, "max_tokens": 50, "seed": 3}
    assert lm.num_retries == 1
    assert sees_images(lm) is True
    assert context_tokens(lm) == 128_000
    assert key not in describe(lm)


def test_the_seed_of_the_spec_beats_the_one_beside_it(key: str) -> None:
    assert make_lm("openai/gpt-4o-mini?seed=1", seed=3).kwargs["seed"] == 1
    assert "seed" not in make_lm("openai/gpt-4o-mini").kwargs


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("openai/gpt-4o-mini", "set the environment variable OPENAI_API_KEY, or .*  keyring set videohv openai$"),
        ("gemini/gemini-2.5-flash", "GEMINI_API_KEY or GOOGLE_API_KEY"),
        ("opnai/gpt-4o-mini", r"no backend is called 'opnai': known are anthropic, .*embedded, .*openai-compatible"),
        ("openai/gpt-4o?api_base=http://host", r"openai-compatible/gpt-4o\?api_base="),
        ("azure/deployment", "set the environment variable AZURE_OPENAI_ENDPOINT$"),
        ("vllm", "vllm needs a model: vllm/MODEL$"),
        ("openai-compatible/m", "needs a model and an address"),
        ("openai-compatible?api_base=http://host", "needs a model and an address"),
        (
            "openai-compatible/m?api_base=http://host&key_env=NOT_SET",
            "openai-compatible/m needs a key: set the environment variable NOT_SET, or",
        ),
        ("openai-compatible/m?api_base=http://host&threads=2", "'threads' is not for this backend; it takes api_base"),
        ("embedded/gpt-9", r"no embedded model is called 'gpt-9'"),
        ("embedded?api_base=http://host", "'api_base' is not for this backend"),
    ],
)
def test_what_cannot_be_made_says_why_in_one_line(spec: str, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOT_SET", raising=False)
    with pytest.raises(InputError, match=said) as raised:
        make_lm(spec)
    assert "\n" not in str(raised.value)


def test_what_the_model_refuses_is_an_input_error(key: str) -> None:
    with pytest.raises(InputError, match=r"openai/gpt-5: .*temperature=1\.0"):
        make_lm("openai/gpt-5?temperature=0.5")


@pytest.mark.parametrize(
    ("spec", "address"),
    [
        ("vllm/Qwen/Qwen3-8B", "http://localhost:8000/v1"),
        ("sglang/Qwen/Qwen3-8B", "http://localhost:30000/v1"),
        ("ollama/qwen3:8b", "http://localhost:11434/v1"),
        ("llamacpp/any", "http://localhost:8080/v1"),
        ("ollama/qwen3?api_base=http://lab:1", "http://lab:1/v1"),
    ],
)
def test_local_servers_have_their_usual_address_need_no_key_and_get_a_schema(spec: str, address: str) -> None:
    lm = make_lm(spec)
    assert lm_name(lm) == spec.partition("?")[0]
    assert describe(lm) == f"{lm_name(lm)}, server at {address}"
    assert lm.supports_response_schema
    assert "response_format" in lm.supported_params


@pytest.mark.parametrize(
    ("spec", "variable"),
    [
        ("openai/gpt-4o-mini", "OPENAI_API_KEY"),
        ("anthropic/claude-sonnet-4-5", "ANTHROPIC_API_KEY"),
        ("gemini/gemini-2.5-flash", "GOOGLE_API_KEY"),
        ("groq/llama-3.3-70b-versatile", "GROQ_API_KEY"),
        ("openrouter/qwen/qwen3-vl", "OPENROUTER_API_KEY"),
        ("deepseek/deepseek-chat", "DEEPSEEK_API_KEY"),
        ("xai/grok-4", "XAI_API_KEY"),
        ("moonshot/kimi-k2", "MOONSHOT_API_KEY"),
    ],
)
def test_what_dspy_speaks_to_itself_needs_its_key_and_nothing_else(
    spec: str, variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match=variable):
        make_lm(spec)
    monkeypatch.setenv(variable, "planted-0123456789")
    lm = make_lm(spec, seed=1)
    assert lm.model == lm_name(lm) == spec
    assert "planted" not in str(vars(lm))
    assert native_provider(spec.partition("/")[0]) is not None


def test_azure_is_reached_through_dspy_by_its_own_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    with FakeServer(lambda request: f"from {request.model}") as server:
        monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.root)
        with pytest.raises(InputError, match="AZURE_OPENAI_API_KEY"):
            make_lm("azure/my-deployment")
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", "planted-0123456789")
        assert make_lm("azure/my-deployment")("hello") == ["from my-deployment"]


def test_a_provider_that_only_litellm_knows_is_passed_on() -> None:
    lm = make_lm("together_ai/some/model", seed=3)
    assert lm.model == "together_ai/some/model"
    assert "seed" not in lm.kwargs


def test_two_servers_with_one_model_name_share_no_answers() -> None:
    with FakeServer(lambda _: "from the first") as a, FakeServer(lambda _: "from the second") as b:
        first, second = make_lm(a.spec()), make_lm(b.spec())
        assert first("the same question") == ["from the first"]
        assert second("the same question") == ["from the second"]
        assert make_lm(a.spec())("the same question") == ["from the first"]
        assert (len(a.requests), len(b.requests)) == (1, 1)


def test_a_server_is_named_without_its_address_and_described_with_it() -> None:
    lm = make_lm("openai-compatible/qwen3-vl?api_base=http://lab:8000&images=yes&context=4096")
    assert lm_name(lm) == "openai-compatible/qwen3-vl"
    assert describe(lm) == "openai-compatible/qwen3-vl, server at http://lab:8000/v1"
    assert sees_images(lm) is True
    assert context_tokens(lm) == 4096
    assert sees_images(lm.copy(temperature=1.0)) is True
    assert "lab" not in lm.model


def test_what_nobody_knows_is_none() -> None:
    lm = make_lm("openai-compatible/m?api_base=http://lab:8000")
    assert sees_images(lm) is None
    assert context_tokens(lm) is None


def test_an_engine_speaks_for_itself() -> None:
    lm = dspy.LM("anything/at-all", engine=Engine())
    assert sees_images(lm) is True
    assert context_tokens(lm) == 77
    assert describe(lm) == "anything/at-all, on Engine in this process"


def test_an_address_is_shown_without_its_login() -> None:
    lm = dspy.LM("openai/m", api_base="http://me:geheim@host:1/v1?key=geheim", api_key="geheim")
    assert describe(lm) == "openai/m, at http://host:1/v1"


def test_an_own_file_is_known_by_its_content(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    path = tmp_path / "mine.gguf"
    with pytest.raises(ModelError, match=r"mine\.gguf: no such file"):
        make_lm(f"embedded/{path}")
    path.write_bytes(b"one")
    first = make_lm(f"embedded/{path}?threads=3&context=2048", seed=5)
    path.write_bytes(b"two")
    second = make_lm(f"embedded/{path}")
    assert first.model != second.model
    assert lm_name(first) == lm_name(second) == "embedded/mine"
    assert first.kwargs == {"temperature": 0.0, "max_tokens": 1024, "seed": 5}
    assert describe(first) == "embedded/mine, in this process (3 threads, 2048 tokens of context)"
    assert (context_tokens(first), sees_images(first)) == (2048, False)


def test_without_its_runtime_the_embedded_model_is_not_even_fetched(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"videohv\[local\]"):
        make_lm("embedded")


def test_the_default_is_made_once_and_tells_of_its_fetch(tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:  # type: ignore[no-untyped-def]
    pulled: list[str] = []

    def pull(name: str, on_progress):  # type: ignore[no-untyped-def]
        pulled.append(name)
        on_progress(1, 2, "downloading")
        return tmp_path / "model.gguf"

    steps: list[tuple[int, int, str]] = []
    monkeypatch.setattr(backends, "_default", [])
    monkeypatch.setattr("videohv.lm.backend_embedded.pull", pull)
    lm = default_lm(lambda *step: steps.append(step))
    assert default_lm() is lm
    assert pulled == ["qwen2.5-coder-1.5b"]
    assert steps == [(1, 2, "downloading")]
    assert lm_name(lm) == "embedded/qwen2.5-coder-1.5b"
