from __future__ import annotations

import asyncio
import copy
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import dspy
import pydantic
import pytest
from dspy import lm15

from videohv.errors import ModelError
from videohv.lm import embedded, make_lm
from videohv.lm.embedded import EmbeddedEngine, chat_body, embedded_lm
from videohv.lm.llama import Refused, Reply, Threads
from videohv.lm.usage import Ledger

ENGINE = EmbeddedEngine(Path("no-such.gguf"), 2048, Threads(1, 1))


class Model:
    """Stands in for a loaded model."""

    def __init__(self, reply: Reply | Exception) -> None:
        self.reply = reply
        self.asked: list[tuple[dict[str, Any], dict[str, Any] | None]] = []

    def ask(self, body: dict[str, Any], response_format: dict[str, Any] | None) -> Reply:
        self.asked.append((body, response_format))
        if isinstance(self.reply, Exception):
            raise self.reply
        return self.reply


Loaded = Callable[[Reply | Exception], Model]


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> Loaded:
    def put(reply: Reply | Exception) -> Model:
        model = Model(reply)
        monkeypatch.setattr(embedded, "load", lambda path, context, threads: model)
        return model

    return put


def request(*parts: Any, **config: Any) -> lm15.Request:
    return lm15.Request(
        model="embedded/m", messages=(lm15.Message.user(parts),), system="be brief", config=lm15.Config(**config)
    )


class Judge(dspy.Signature):
    """Judge."""

    question: str = dspy.InputField()
    verdict: Literal["YES", "NO"] = dspy.OutputField()


def test_a_request_is_greedy_and_bounded_unless_it_says_otherwise() -> None:
    body = chat_body(request("a", "b"))
    system, user = {"role": "system", "content": "be brief"}, {"role": "user", "content": "ab"}
    assert body == {"messages": [system, user], "temperature": 0.0, "max_tokens": 1024}
    body = chat_body(request("a", temperature=0.7, max_tokens=9, seed=0, top_p=0.5, top_k=4, stop=("x",)))
    wanted = {"temperature": 0.7, "max_tokens": 9, "seed": 0, "top_p": 0.5, "top_k": 4, "stop": ["x"]}
    assert {key: body[key] for key in wanted} == wanted


def test_images_are_refused_in_words_and_nothing_is_loaded() -> None:
    lm = embedded_lm("m", ENGINE, cache=False)
    look = dspy.Predict("frame: dspy.Image -> caption: str")
    with (
        dspy.context(adapter=dspy.JSONAdapter(), disable_history=True),
        pytest.raises(dspy.LMUnsupportedFeatureError, match=r"cannot see images: choose .*--vision-lm"),
    ):
        look(frame=dspy.Image("data:image/png;base64,iVBORw0KGgo="), lm=lm)


def test_other_media_and_tools_are_refused() -> None:
    with pytest.raises(lm15.UnsupportedFeatureError, match="reads text only, not audio"):
        chat_body(request(lm15.AudioPart(media_type="audio/wav", data="AAAA")))
    tool = lm15.FunctionTool(name="look", description="", parameters={"type": "object", "properties": {}})
    with pytest.raises(lm15.UnsupportedFeatureError, match="tools"):
        chat_body(lm15.Request(model="m", messages=(lm15.Message.user("a"),), tools=(tool,)))


def test_the_adapter_sends_the_schema_of_the_signature(loaded: Loaded) -> None:
    model = loaded(Reply('{"verdict": "NO"}', "stop", 11, 7, 3))
    lm, ledger = embedded_lm("m", ENGINE, cache=False), Ledger()
    with dspy.context(adapter=dspy.JSONAdapter(), disable_history=True), ledger.role("judge", lm):
        assert dspy.Predict(Judge)(question="is it?", lm=lm).verdict == "NO"
    ((_, format_),) = model.asked
    assert format_ is not None
    assert format_["schema"]["properties"]["verdict"]["enum"] == ["YES", "NO"]
    (row,) = ledger.by_role()
    assert (row.prompt_tokens, row.cached_prompt_tokens, row.completion_tokens) == (11, 7, 3)


def test_a_cut_reply_is_marked(loaded: Loaded) -> None:
    loaded(Reply("and so o", "length", 1, 0, 1))
    assert ENGINE.complete(request("a")).finish_reason == "length"


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Refused("too long", too_long=True, invalid=True), dspy.ContextWindowExceededError),
        (Refused("bad schema", invalid=True), dspy.LMInvalidRequestError),
        (Refused("broken"), dspy.LMServerError),
    ],
)
def test_refusals_become_dspys_errors(failure: Refused, error: type[Exception], loaded: Loaded) -> None:
    loaded(failure)
    with pytest.raises(error, match=str(failure)):
        embedded_lm("m", ENGINE, cache=False, num_retries=0)("hello")


def test_a_model_that_cannot_be_loaded_is_not_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[Path] = []

    def load(path: Path, context: int, threads: Threads) -> Any:
        tried.append(path)
        raise ModelError("no-such.gguf could not be loaded")

    monkeypatch.setattr(embedded, "load", load)
    with pytest.raises(dspy.LMConfigurationError, match=r"no-such\.gguf could not be loaded"):
        embedded_lm("m", ENGINE, cache=False)("hello")
    assert len(tried) == 1


def test_the_event_loop_has_its_twin(loaded: Loaded) -> None:
    loaded(Reply("hello", "stop", 1, 0, 1))
    assert asyncio.run(embedded_lm("m", ENGINE, cache=False).acall("hi")) == ["hello"]


def test_an_lm_on_it_can_be_copied_and_saved() -> None:
    lm = embedded_lm("m", ENGINE, temperature=0.0)
    assert copy.deepcopy(lm).engine == ENGINE
    again = dspy.LM.load_state(lm.dump_state(), allow_custom_lm_class=True)
    assert again.engine == ENGINE
    assert again.model == "embedded/m"


class Span(pydantic.BaseModel):
    start: float = pydantic.Field(ge=0)
    end: float = pydantic.Field(ge=0, le=60)


class Stated(pydantic.BaseModel):
    option: Literal["A", "B", "C"]
    statement: str
    plausibility: float = pydantic.Field(ge=0, le=1)
    spans: list[Span]


class Think(dspy.Signature):
    """Say for each option what must be visible in the video for it to hold."""

    captions: str = dspy.InputField()
    question: str = dspy.InputField()
    hypotheses: list[Stated] = dspy.OutputField()
    status: Literal["CLEAR", "UNCLEAR"] = dspy.OutputField()


CAPTIONS = "\n".join(f"[{n} s] the cook puts the {thing} down" for n, thing in enumerate(["pan", "knife", "lid"] * 4))


@pytest.mark.local_model
@pytest.mark.slow
class TestWithTheModel:
    @pytest.fixture
    def lm(self, user_cache: None) -> Iterator[dspy.LM]:
        with dspy.context(adapter=dspy.JSONAdapter(), disable_history=True):
            yield make_lm("embedded/qwen2.5-coder-0.5b?max_tokens=700").copy(cache=False)

    def test_the_schema_holds_and_a_second_question_rereads_little(self, lm: dspy.LM) -> None:
        ledger = Ledger()
        for question in ("What is put down first?", "What is put down last?"):
            with ledger.role(question, lm):
                result = dspy.Predict(Think)(captions=CAPTIONS, question=question, lm=lm)
            assert all(isinstance(h, Stated) for h in result.hypotheses)
            assert len(result.hypotheses) <= 8
        first, second = ledger.by_role()
        assert second.prompt_tokens - second.cached_prompt_tokens < first.prompt_tokens / 3

    def test_a_role_in_between_does_not_push_the_prefix_out(self, lm: dspy.LM) -> None:
        ledger = Ledger()
        long = f"{CAPTIONS}\n" * 2
        for name, prompt in (("a", f"{long}1?"), ("b", f"Summarise. {long}"), ("again", f"{long}2?")):
            with ledger.role(name, lm):
                lm(prompt, max_tokens=2)
        again = next(row for row in ledger.by_role() if row.role == "again")
        assert again.prompt_tokens - again.cached_prompt_tokens < 30

    def test_a_prompt_beyond_the_context_is_dspys_own_error(self, lm: dspy.LM) -> None:
        with pytest.raises(dspy.ContextWindowExceededError, match="exceeds the available context"):
            lm("word " * 20_000)

    def test_the_reply_ends_where_it_was_told(self, lm: dspy.LM) -> None:
        response = lm.engine.complete(request("Count to a hundred.", max_tokens=5))
        assert response.finish_reason == "length"
        assert response.usage.output_tokens == 5
