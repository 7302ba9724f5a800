from __future__ import annotations

import json
from typing import Any

import dspy
import pytest
from dspy.lm15 import AuthError, ContextLengthError, ServerError

from tests.support.engine import Seen, default_reply, fake_lm
from videohv import Stop, VideoHV, listening
from videohv.errors import Cancelled, InputError
from videohv.lm import make_lm
from videohv.lm.budget import Budget, spending
from videohv.lm.redact import without_keys
from videohv.lm.roles import using
from videohv.modules.ask import StepFailed, TooLong, Unusable, ask, plain
from videohv.types import Outcome

ASKED: dict[str, Any] = {"question": "q", "options": ["a", "b"], "captions": ["x", "y"]}


class Thing(dspy.Signature):
    """Say something about a thing."""

    question: str = dspy.InputField()
    summary: str = dspy.OutputField()


def test_without_any_model_it_says_how_to_name_one() -> None:
    with pytest.raises(InputError, match=r"videohv\.configure"):
        ask("step", dspy.Predict(Thing), lambda p: p.summary, question="q")


def test_a_reply_that_cannot_be_used_is_asked_for_twice_more_and_then_named() -> None:
    lm, engine = fake_lm({"summary": [{"summary": "no"}, {"summary": "yes"}]})

    def read(prediction: dspy.Prediction) -> str:
        if prediction.summary != "yes":
            raise Unusable("it said no")
        return str(prediction.summary)

    with dspy.context(lm=lm, adapter=dspy.JSONAdapter(), trace=[]):
        assert ask("step", dspy.Predict(Thing), read, question="q") == "yes"
        assert len(dspy.settings.trace) == 1, "what was thrown away is not in the trace"
        _, inputs, prediction = dspy.settings.trace[0]
        assert (inputs, prediction.summary) == ({"question": "q"}, "yes"), "nor is the repair"
    lm, engine = fake_lm({"summary": {"summary": "no"}})
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()), pytest.raises(StepFailed, match="it said no") as failed:
        ask("step", dspy.Predict(Thing), read, question="q")
    assert (failed.value.step, failed.value.outcome, failed.value.hopeless) == ("step", Outcome.PARSE_FAILED, False)
    assert len(engine.requests) == 3


def test_no_retry_replays_a_cached_reply_and_a_second_run_replays_them_all() -> None:
    lm, engine = fake_lm({"summary": "garbage"})
    cached = lm.copy(cache=True)
    for _ in range(2):
        with dspy.context(lm=cached, adapter=dspy.JSONAdapter()), pytest.raises(StepFailed):
            ask("step", dspy.Predict(Thing), lambda p: p.summary, question="never asked before")
        assert len(engine.requests) == 3


@pytest.mark.parametrize(("error", "hopeless"), [(AuthError("no"), True), (ServerError("down"), False)])
def test_a_fault_is_no_reply_to_repair(error: Exception, hopeless: bool) -> None:
    lm, engine = fake_lm({"summary": error})
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()), pytest.raises(StepFailed) as failed:
        ask("step", dspy.Predict(Thing), lambda p: p.summary, question="q")
    assert (failed.value.outcome, failed.value.hopeless) == (Outcome.LM_FAILED, hopeless)
    assert len(engine.requests) == 1


def test_a_prompt_that_is_too_long_is_told_apart() -> None:
    lm, engine = fake_lm({"summary": ContextLengthError("4096 tokens at most")})
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter()), pytest.raises(TooLong, match="4096 tokens at most") as failed:
        ask("step", dspy.Predict(Thing), lambda p: p.summary, question="q")
    assert (failed.value.outcome, failed.value.hopeless) == (Outcome.LM_FAILED, False)
    assert len(engine.requests) == 1


def test_the_model_of_the_role_is_asked() -> None:
    (general, unasked), (judge, asked) = fake_lm(), fake_lm({"summary": {"summary": "mine"}})
    with using(general, roles={"judge": judge}), dspy.context(adapter=dspy.JSONAdapter()):
        assert ask("judge", dspy.Predict(Thing), lambda p: p.summary, question="q") == "mine"
    assert (len(asked.requests), len(unasked.requests)) == (1, 0)


def test_a_spent_budget_ends_the_question_with_what_it_has() -> None:
    lm, engine = fake_lm()
    with dspy.context(lm=lm), spending(Budget("question", max_calls=4)) as budget:
        prediction = VideoHV(workers=1)(**ASKED)
    assert prediction.outcome is Outcome.OVER_BUDGET
    assert "a question may use 4 calls, has used 4 calls" in prediction.error
    assert prediction.answer is None
    assert prediction.trace.summary, "what was made before is kept"
    assert (len(engine.requests), prediction.trace.calls, budget.spent.calls) == (4, 4, 4)


def test_a_cancelled_question_sends_nothing_more() -> None:
    stop = Stop()

    def reply(seen: Seen) -> dict[str, Any]:
        stop.set()
        return default_reply(seen)

    lm, engine = fake_lm({"thinker": reply})
    with dspy.context(lm=lm), listening(stop), pytest.raises(Cancelled):
        VideoHV(workers=1)(**ASKED)
    assert engine.roles[-1] == "thinker"


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
