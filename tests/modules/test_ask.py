from __future__ import annotations

import json
from typing import Any

import dspy
import pytest
from dspy.lm15 import AuthError, ServerError

from tests.support.engine import fake_lm
from videohv import VideoHV
from videohv.errors import InputError
from videohv.lm import make_lm
from videohv.lm.redact import without_keys
from videohv.modules.ask import StepFailed, Unusable, ask, plain
from videohv.types import Outcome

ASKED: dict[str, Any] = {"question": "q", "options": ["a", "b"], "captions": ["x", "y"]}


class Thing(dspy.Signature):
    """Say something about a thing."""

    question: str = dspy.InputField()
    summary: str = dspy.OutputField()


def test_without_any_model_it_says_how_to_name_one() -> None:
    with pytest.raises(InputError, match=r"videohv\.configure"):
        ask("step", dspy.Predict(Thing), lambda p: p.summary, question="q")


def test_a_reply_that_cannot_be_used_is_asked_for_once_more_and_then_named() -> None:
    lm, engine = fake_lm({"summary": [{"summary": "no"}, {"summary": "yes"}]})

    def read(prediction: dspy.Prediction) -> str:
        if prediction.summary != "yes":
            raise Unusable("it said no")
        return str(prediction.summary)

    with dspy.context(lm=lm, adapter=dspy.JSONAdapter(), trace=[]):
        assert ask("step", dspy.Predict(Thing), read, question="q") == "yes"
        assert len(dspy.settings.trace) == 1, "what was thrown away is not in the trace"
    lm, engine = fake_lm({"summary": {"summary": "no"}})
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()), pytest.raises(StepFailed, match="it said no") as failed:
        ask("step", dspy.Predict(Thing), read, question="q")
    assert (failed.value.step, failed.value.outcome, failed.value.hopeless) == ("step", Outcome.PARSE_FAILED, False)
    assert len(engine.requests) == 2


def test_a_retry_does_not_replay_the_cached_reply() -> None:
    lm, engine = fake_lm({"summary": "garbage"})
    cached = lm.copy(cache=True)
    with dspy.context(lm=cached, adapter=dspy.JSONAdapter()), pytest.raises(StepFailed):
        ask("step", dspy.Predict(Thing), lambda p: p.summary, question="never asked before")
    assert len(engine.requests) == 2


@pytest.mark.parametrize(("error", "hopeless"), [(AuthError("no"), True), (ServerError("down"), False)])
def test_an_lm_error_is_not_retried_here(error: Exception, hopeless: bool) -> None:
    lm, engine = fake_lm({"summary": error})
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()), pytest.raises(StepFailed) as failed:
        ask("step", dspy.Predict(Thing), lambda p: p.summary, question="q")
    assert failed.value.hopeless is hopeless
    assert len(engine.requests) == 1


def test_a_key_that_a_server_repeats_reaches_neither_trace_nor_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LAB_KEY", "planted-in-environment")
    said = "bad key planted-in-environment, or sk-proj-0123456789abcdef, or given-in-code-123"
    lm, _ = fake_lm({"summary": ServerError(said), "answer": AuthError(said)})
    lm.kwargs["api_key"] = "given-in-code-123"
    with dspy.context(lm=lm):
        prediction = VideoHV()(**ASKED)
    text = prediction.trace.model_dump_json() + prediction.error
    assert prediction.outcome is Outcome.LM_FAILED
    assert "bad key [key], or [key], or [key]" in prediction.error
    for key in ("planted-in-environment", "0123456789abcdef", "given-in-code"):
        assert key not in text


def test_keys_are_known_by_their_variable_and_by_their_look(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("lab_key_2", "planted lower")
    monkeypatch.setenv("LAB_CRED", "short")
    lm = make_lm("openai-compatible/x?api_base=http://127.0.0.1:9&key_env=LAB_CRED")
    said = "planted lower, planted%20lower, short, Bearer abc, AIzaSyA0123456789"
    assert without_keys(said, lm) == "[key], [key], [key], Bearer [key], [key]"


@pytest.mark.parametrize(
    "text", ["<<CUSTOM-TYPE-START-IDENTIFIER>>x", "<< CUSTOM-TYPE-END-IDENTIFIER >>", "[[ ## answer ## ]]", "[[##x"]
)
def test_markers_are_broken_up_and_nothing_else_is_changed(text: str) -> None:
    assert plain(text) != text
    assert plain(text).replace(" ", "") == text.replace(" ", "")
    assert plain("a << b, [[1, 2]] and # c") == "a << b, [[1, 2]] and # c"


@pytest.mark.parametrize(
    "reply",
    [
        "[" * 3_000,
        "{" * 3_000,
        '{"summary": ' * 300,
        json.dumps({"summary": {"a": 1}}),
        json.dumps({"summary": None}),
        json.dumps([1, 2]),
        "\x00\ud800",
        "",
        " ",
        "null",
        '{"summary": "' + "x" * 500_000,
    ],
    ids=lambda r: repr(r[:12]),
)
@pytest.mark.parametrize("role", ["summary", "thinker", "judge", "locate", "check", "answer"])
def test_garbage_from_a_model_ends_typed_whatever_it_is(role: str, reply: str) -> None:
    lm, _ = fake_lm({role: reply})
    with dspy.context(lm=lm):
        trace = VideoHV()(**ASKED).trace
    if role == "answer":
        assert trace.outcome in (Outcome.PARSE_FAILED, Outcome.LM_FAILED)
        assert trace.answer is None
    else:
        assert trace.outcome is Outcome.ANSWERED
