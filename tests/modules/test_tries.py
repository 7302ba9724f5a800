"""What is sent when a reply could not be used, was cut off, or was refused."""

from __future__ import annotations

import json
from typing import Any

import dspy
import pytest

from tests.support.engine import FakeEngine, ended, fake_lm
from videohv.lm.adapter import json_adapter
from videohv.lm.reply import Reply
from videohv.modules.ask import StepFailed, Unusable, ask
from videohv.modules.tries import Ending, Tries
from videohv.types import Outcome

GOOD = {"summary": "yes"}


class Thing(dspy.Signature):
    """Say something about a thing."""

    question: str = dspy.InputField()
    summary: str = dspy.OutputField()


def asked(*replies: Any, **options: Any) -> tuple[str | StepFailed, FakeEngine]:
    """What came of it, and the engine that was asked."""
    lm, engine = fake_lm({"summary": list(replies)}, context_tokens=options.pop("context", None))
    predictor = dspy.Predict(Thing, **options.pop("config", {}))
    lm = lm.copy(**options)

    def read(prediction: dspy.Prediction) -> str:
        if "[[ ##" in prediction.summary or "no" in prediction.summary:
            raise Unusable("it says no")
        return str(prediction.summary)

    with dspy.context(lm=lm, adapter=json_adapter()):
        try:
            return ask("step", predictor, read, question="q"), engine
        except StepFailed as failure:
            return failure, engine


def test_the_first_attempt_sends_nothing_but_the_prompt() -> None:
    value, engine = asked(GOOD)
    (seen,) = engine.requests
    assert (value, seen.after, seen.temperature, seen.max_tokens) == ("yes", (), None, None)


def test_a_repair_shows_the_reply_and_what_was_wrong_with_it() -> None:
    value, engine = asked({"summary": "no way"}, GOOD)
    first, repair = engine.requests
    assert value == "yes"
    assert (repair.system, repair.inputs, repair.temperature) == (first.system, first.inputs, None)
    assert json.loads(repair.after[0]) == {"summary": "no way"}
    assert "it says no" in repair.after[1]


@pytest.mark.parametrize(
    ("reply", "problem"),
    [('{"sum": 1}', "without the fields summary"), ("I would rather not", "cannot be serialized to a JSON object")],
)
def test_a_repair_names_what_could_not_be_read(reply: str, problem: str) -> None:
    _, engine = asked(reply, GOOD)
    assert engine.requests[1].after[0] == reply
    assert problem in engine.requests[1].after[1]


def test_a_reply_shown_again_is_short_and_plain_text() -> None:
    _, engine = asked("[[ ## question ## ]] <<CUSTOM-TYPE-START-IDENTIFIER>> " + "x" * 50_000, GOOD)
    shown = engine.requests[1].after[0]
    assert len(shown) < 2_000
    assert "[[ ##" not in shown
    assert "<<CUSTOM" not in shown
    assert engine.requests[1].images == 0


def test_after_a_repair_comes_a_fresh_sample_of_the_prompt_alone() -> None:
    failure, engine = asked("garbage")
    assert [bool(seen.after) for seen in engine.requests] == [False, True, False]
    assert [seen.temperature for seen in engine.requests] == [None, None, 1.0]
    assert isinstance(failure, StepFailed)
    assert (failure.outcome, failure.why.endswith("3 times")) == (Outcome.PARSE_FAILED, True)


def test_a_cut_reply_is_never_taken_although_it_parses_and_gets_more_room() -> None:
    cut = ended('{"summary": "yes and')
    value, engine = asked(cut, cut, {"summary": "yes and more"}, max_tokens=1_000)
    assert value == "yes and more"
    assert [seen.max_tokens for seen in engine.requests] == [1_000, 2_000, 4_000]
    assert [seen.temperature for seen in engine.requests] == [None, None, 1.0]
    assert not any(seen.after for seen in engine.requests)


def test_what_stays_cut_off_fails_and_says_so() -> None:
    failure, engine = asked(ended('{"summary": "yes and', tokens=777))
    assert isinstance(failure, StepFailed)
    assert failure.outcome is Outcome.PARSE_FAILED
    assert "cut off after 777 tokens, 3 times" in failure.why
    assert [seen.max_tokens for seen in engine.requests] == [None, 1_554, 3_108], "twice what the server counted"


def test_there_is_no_more_room_than_the_model_holds() -> None:
    failure, engine = asked(ended('{"summary": "yes and'), max_tokens=3_000, context=4_096)
    assert [seen.max_tokens for seen in engine.requests] == [3_000, 4_096 - 100 - 64]
    assert isinstance(failure, StepFailed)
    assert "cut off" in failure.why


def test_a_model_that_takes_no_more_room_ends_it_as_cut_off() -> None:
    refusal = dspy.lm15.InvalidRequestError("max_tokens is too large")
    failure, engine = asked(ended('{"summary": "yes and'), refusal, max_tokens=1_000)
    assert isinstance(failure, StepFailed)
    assert failure.outcome is Outcome.PARSE_FAILED
    assert "cut off" in failure.why
    assert "max_tokens is too large" in failure.why
    assert len(engine.requests) == 2


@pytest.mark.parametrize(
    "refusal",
    [
        ended("", refusal="I will not say."),
        ended("", finish="content_filter"),
        ended('{"summary": "half', finish="content_filter"),
        dspy.lm15.InvalidRequestError("The response was filtered", provider_code="content_filter"),
        dspy.lm15.InvalidRequestError("Candidate blocked: SAFETY", provider_code="SAFETY"),
    ],
    ids=lambda value: type(value).__name__,
)
def test_a_refusal_gets_one_fresh_sample_and_is_then_called_one(refusal: Any) -> None:
    value, engine = asked(refusal, GOOD)
    assert value == "yes"
    assert [seen.temperature for seen in engine.requests] == [None, 1.0]
    failure, engine = asked(refusal)
    assert isinstance(failure, StepFailed)
    assert (failure.outcome, failure.hopeless) == (Outcome.CONTENT_FILTERED, False)
    assert "refused to answer" in failure.why
    assert len(engine.requests) == 2


def test_the_last_ending_decides_how_the_step_failed() -> None:
    failure, _ = asked("garbage", "garbage", ended("", finish="content_filter"))
    assert isinstance(failure, StepFailed)
    assert failure.outcome is Outcome.CONTENT_FILTERED
    failure, _ = asked(ended("", finish="content_filter"), "garbage", "garbage")
    assert isinstance(failure, StepFailed)
    assert failure.outcome is Outcome.PARSE_FAILED


def test_the_predictors_own_room_is_what_is_doubled() -> None:
    lm, _ = fake_lm()
    tries = Tries(lm.copy(max_tokens=500), {"max_tokens": 800}, seed=0)
    assert tries.failed(Ending.CUT, "cut", Reply(completion_tokens=800))
    assert tries.config == {"max_tokens": 1_600}


def test_a_reasoning_models_room_goes_by_its_own_name() -> None:
    lm, _ = fake_lm()
    lm.kwargs["max_completion_tokens"] = 16_000
    tries = Tries(lm, {}, seed=0)
    assert tries.failed(Ending.CUT, "cut", Reply())
    assert tries.config == {"max_completion_tokens": 32_000}


def test_every_seed_has_fresh_samples_of_its_own() -> None:
    lm, _ = fake_lm()
    names = set()
    for seed in range(5):
        tries = Tries(lm, {}, seed)
        assert tries.failed(Ending.UNREAD, "bad", None)
        assert "rollout_id" not in tries.config
        assert tries.failed(Ending.UNREAD, "bad", None)
        names.add(tries.config["rollout_id"])
        assert not tries.failed(Ending.UNREAD, "bad", None)
    assert len(names) == 5
