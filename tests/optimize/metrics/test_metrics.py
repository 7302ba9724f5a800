"""The built-in metrics on traces whose scores are known."""

from __future__ import annotations

import math
import uuid

import dspy
import pytest

from tests.support.asking import CAPTIONS
from tests.support.engine import FakeEngine
from tests.support.traces import OPTIONS, RIGHT, a_check, a_look, a_question, a_round, a_trace, evidence, verdicts
from videohv.errors import InputError
from videohv.modules.methods import make_method
from videohv.optimize.metrics.metric import make_metric, metric_names
from videohv.optimize.metrics.standard import Frugal, tokens
from videohv.types import Answer, Outcome, Question, RoleUsage, Round, Status, Trace


def value(name: str, trace: Trace, question: Question | None = None) -> float:
    return make_metric(name)(question or a_question(), trace).value


def test_the_metrics_are_found_by_name() -> None:
    assert {"accuracy", "consistent", "grounding", "frugal"} <= set(metric_names())
    assert all(make_metric(name).name == name for name in metric_names())


@pytest.mark.parametrize(("chosen", "score"), [(RIGHT, 1), (0, 0), (None, 0)])
def test_accuracy(chosen: int | None, score: float) -> None:
    assert value("accuracy", a_trace(chosen)) == score


def test_a_failure_is_never_right() -> None:
    assert value("accuracy", a_trace(outcome=Outcome.PARSE_FAILED)) == 0


def test_an_option_with_the_same_text_is_right_too() -> None:
    question = a_question(options=("A Blue  cube", "a blue cube", "a green cone"))
    assert value("accuracy", a_trace(0, question=question), question) == 1
    assert value("consistent", a_trace(0, question=question), question) == 1
    assert question.is_right(0)


def test_the_score_comes_with_feedback_for_agents() -> None:
    score = make_metric("accuracy")(a_question(), a_trace(0))
    assert score.feedback.startswith("Wrong")
    assert score.agents["answer.predict"][0] == 0


def looked(said: str, status: Status = Status.VERIFIED, **answer: object) -> Trace:
    made = {"option_index": RIGHT, **answer}
    return a_trace(RIGHT, a_round(a_look(a_check(said, status))), answer=Answer.model_validate(made))


@pytest.mark.parametrize(
    ("said", "status", "score"),
    [
        ("-+-", Status.VERIFIED, 1),
        ("-+-", Status.PARTIAL, 1),
        ("---", Status.PARTIAL, 0),  # the answered option is refuted
        ("???", Status.PARTIAL, 1),  # nothing speaks against it
        ("???", Status.VERIFIED, 0),  # verified, but not for it
        ("+??", Status.PARTIAL, 0),  # another option is supported
        ("++-", Status.PARTIAL, 1),  # so is this one
        ("+ -", Status.PARTIAL, 0),  # it was not even checked
        ("  -", Status.NOT_VERIFIED, 1),
    ],
)
def test_an_answer_is_consistent_if_the_last_check_stands_for_it(said: str, status: Status, score: float) -> None:
    assert value("consistent", looked(said, status)) == score


def test_an_inconsistent_right_answer_is_told_why() -> None:
    assert (
        "The last check refutes the answered option."
        in make_metric("consistent")(a_question(), looked("---", Status.PARTIAL)).feedback
    )


def test_a_wrong_answer_is_not_consistent_with_anything() -> None:
    assert value("consistent", a_trace(0, a_round(a_look(a_check("+--"))))) == 0


def test_without_evidence_an_answer_is_not_consistent() -> None:
    assert value("consistent", a_trace(RIGHT, a_round(a_look(a_check(), ())))) == 0


@pytest.mark.parametrize(("status", "score"), [(Status.VERIFIED, 1), (Status.PARTIAL, 0)])
def test_a_conflict_counts_unless_a_verified_check_settles_it(status: Status, score: float) -> None:
    assert value("consistent", looked("-+-", status, conflicts=("the summary says red",))) == score


@pytest.mark.parametrize(("said", "score"), [("-+-", 1), ("+--", 0), ("", 1)])
def test_without_a_check_the_answers_own_verdicts_count(said: str, score: float) -> None:
    answer = Answer(option_index=RIGHT, verdicts=verdicts(said))
    assert value("consistent", a_trace(RIGHT, a_round(a_look()), answer=answer)) == score


def test_a_method_without_evidence_cannot_be_scored_for_consistency() -> None:
    with pytest.raises(InputError, match=r"captions.*accuracy"):
        value("consistent", a_trace(method="captions", rounds=()))


def test_grounding_is_the_share_of_the_window_relied_on_most() -> None:
    question = a_question(spans=[{"start": 14, "end": 30}, {"start": 100, "end": 101}])
    score = make_metric("grounding")(question, a_trace(0))
    assert score.value == pytest.approx(0.2)
    assert "The answer relied most on 0:10–0:15" in score.feedback


def test_grounding_without_a_window_is_nothing() -> None:
    question = a_question(spans=[{"start": 14, "end": 30}])
    assert value("grounding", a_trace(rounds=()), question) == 0
    assert value("grounding", a_trace(outcome=Outcome.LM_FAILED), question) == 0


def test_grounding_needs_annotated_spans() -> None:
    with pytest.raises(InputError, match=r"q1.*no annotated spans"):
        value("grounding", a_trace())


def usage(**changes: int) -> tuple[RoleUsage, ...]:
    return (RoleUsage(role="judge", **changes),)


def test_frugal_takes_tokens_off_a_right_answer() -> None:
    spent = usage(prompt_tokens=9_000, completion_tokens=1_000)
    assert value("frugal", a_trace(usage=spent)) == pytest.approx(0.9)
    assert value("frugal", a_trace(0, usage=spent)) == 0
    assert Frugal(per_1000_tokens=0.02)(a_question(), a_trace(usage=spent)).value == pytest.approx(0.8)


def test_frugal_never_makes_a_right_answer_worthless() -> None:
    assert value("frugal", a_trace(usage=usage(prompt_tokens=10**7))) == 0.5


@pytest.mark.parametrize("wrong", [{"per_1000_tokens": -1.0}, {"per_1000_tokens": math.nan}, {"most": 1.0}])
def test_frugal_refuses_a_price_that_makes_no_sense(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match="frugal"):
        Frugal(**wrong)


def test_replies_out_of_the_cache_cost_what_they_cost_when_they_were_made() -> None:
    lm = dspy.LM(f"fake/{uuid.uuid4().hex}", engine=FakeEngine(), cache=True, num_retries=0)
    traces = []
    with dspy.context(lm=lm):
        for _ in range(2):
            made = make_method("videohv", rounds=1)(question="What?", options=list(OPTIONS), captions=CAPTIONS)
            traces.append(made.trace)
    assert traces[0].calls > 0
    assert traces[1].calls == 0
    assert tokens(traces[0]) == tokens(traces[1]) > 0
    question = Question(text="What?", options=OPTIONS, answer_index=0)
    assert value("frugal", traces[0], question) == value("frugal", traces[1], question) > 0


def test_looking_at_frames_without_words_is_evidence() -> None:
    look = a_look(seen=(evidence(observations=()),))
    assert value("consistent", a_trace(RIGHT, Round(drafts=(), looks=(look,)), method="direct")) == 1
