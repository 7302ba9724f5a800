"""A metric as DSPy calls it, and the trials that it sees."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.learning import Heard, Right, a_question, a_task, an_example, asked, knows
from videohv.optimize.guard import Guard
from videohv.optimize.learner.border import border
from videohv.optimize.learner.dspy_metric import DspyMetric
from videohv.optimize.learner.trials import Trials
from videohv.optimize.metrics.metric import Score
from videohv.types import Answer, Degradation, Outcome, Trace


def a_prediction(number: int, chosen: int | None = None, **changes: Any) -> dspy.Prediction:
    answer = Answer(option_index=number % 3 if chosen is None else chosen)
    given = {"question": a_question(number), "outcome": Outcome.ANSWERED, "answer": answer, **changes}
    return dspy.Prediction(trace=Trace(**given))


class Half:
    name = "half"

    def __call__(self, question: Any, trace: Trace) -> Score:
        return Score(0.5, "by half")


def test_it_is_a_score_for_an_evaluation_and_a_verdict_for_a_trace() -> None:
    metric = DspyMetric(Right(), Guard())
    assert metric(an_example(1), a_prediction(1)) == 1.0
    assert metric(an_example(1), a_prediction(1), []) is True
    assert metric(an_example(1), a_prediction(1, 2)) == 0.0
    assert metric(an_example(1), a_prediction(1, 2), []) is False


def test_the_threshold_is_for_traces_alone() -> None:
    for threshold, good in ((0.5, True), (0.6, False)):
        metric = DspyMetric(Half(), Guard(), threshold)
        assert metric(an_example(1), a_prediction(1)) == 0.5
        assert metric(an_example(1), a_prediction(1), []) is good


def test_only_whole_answered_traces_are_good_enough() -> None:
    metric = DspyMetric(Half(), Guard(), threshold=0.0)
    broken = (Degradation(step="judge", why="no clue"),)
    assert metric(an_example(1), a_prediction(1, degraded=broken), []) is False
    assert metric(an_example(1), a_prediction(1, outcome=Outcome.ABSTAINED), []) is False
    assert metric(an_example(1), a_prediction(1, outcome=Outcome.PARSE_FAILED, answer=None), []) is False
    assert metric(an_example(1), dspy.Prediction(), []) is False


def test_a_crash_has_nothing() -> None:
    assert DspyMetric(Half(), Guard())(an_example(1), dspy.Prediction()) == 0.0


def test_feedback_is_to_be_had() -> None:
    assert DspyMetric(Half(), Guard()).score(an_example(1), a_prediction(1)).feedback == "by half"


@pytest.mark.parametrize("threads", [1, 3])
def test_candidates_are_told_and_the_best_is_kept_as_it_was(tmp_path: Path, threads: int) -> None:
    heard = Heard()
    task = a_task(tmp_path, "captions", on_trial=heard, threads=threads)
    scripts: dict[str, Any] = {}
    with asked({"captions.answer": lambda seen: scripts["now"](seen)}), border(task, of=4) as there:
        student = there.student()
        evaluate = dspy.Evaluate(devset=list(task.dev), metric=there.metric)
        for known in ((10,), (10, 11, 12), (11,)):
            scripts["now"] = knows(*known)
            student.predictors()[0].demos = [{"x": len(known)}]
            evaluate(student)
        # Fewer than all: told, and not the best, however good it is.
        scripts["now"] = knows(13)
        evaluate(student, devset=[task.dev[3]])
        trials = there.trials
    assert [(t.number, t.of, t.score, t.best, t.examples) for t in heard.trials] == [
        (1, 4, 0.25, 0.25, 4),
        (2, 4, 0.75, 0.75, 4),
        (3, 4, 0.25, 0.75, 4),
        (4, 4, 1.0, 0.75, 1),
    ]
    assert trials.best is not None
    assert trials.best.predictors()[0].demos == [{"x": 3}]
    assert trials.best_trial == heard.trials[1]


def test_other_programs_are_nobodys_candidates() -> None:
    heard = Heard()
    trials = Trials([an_example(0)], heard, Guard())
    evaluate = dspy.Evaluate(devset=[an_example(0)], metric=lambda example, prediction: 1.0)
    with dspy.context(callbacks=[trials]):
        evaluate(lambda **_: dspy.Prediction())
    assert heard.trials == []
