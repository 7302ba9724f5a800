"""A metric as DSPy's optimizers call it."""

from __future__ import annotations

from typing import Any, Self

import dspy

from videohv.optimize.guard import Guard, Reason
from videohv.optimize.metrics.metric import Metric, Score
from videohv.types import Outcome, Question, Trace


class DspyMetric:
    """`metric(example, prediction, trace=None)`: a score, or whether a trace is good enough to learn from.

    A metric that raises would be a score of 0 to DSPy; here it stops the compile.

    Args:
        metric: What is to become better.
        guard: Of the compile.
        threshold: From which value on a trace is good enough.
    """

    def __init__(self, metric: Metric, guard: Guard, threshold: float = 0.5) -> None:
        self.metric, self.guard, self.threshold = metric, guard, threshold

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __call__(self, example: dspy.Example, prediction: dspy.Prediction, trace: Any = None) -> float | bool:
        """The score from 0 to 1; with a trace, whether it is one to learn from (see `is_model`)."""
        return self.score(example, prediction).value if trace is None else self.is_model(example, prediction)

    def score(self, example: dspy.Example, prediction: dspy.Prediction) -> Score:
        """The whole score, with its feedback. A question that crashed has 0.

        Raises:
            Tripped: If the metric cannot score the example.
        """
        question, trace = example.question, prediction.get("trace")
        assert isinstance(question, Question)
        if not isinstance(trace, Trace):
            return Score(0.0, "the question could not be asked")
        try:
            return self.metric(question, trace)
        except Exception as error:
            what = f"metric {self.metric.name!r} cannot score question {question.id!r}: {error}"
            self.guard.trip(Reason.METRIC, what)
            self.guard.check()
            raise

    def is_model(self, example: dspy.Example, prediction: dspy.Prediction) -> bool:
        """Whether demonstrations may be made of it: answered, by every step, and well enough."""
        trace = prediction.get("trace")
        if not isinstance(trace, Trace) or trace.outcome is not Outcome.ANSWERED or trace.degraded:
            return False
        return self.score(example, prediction).value >= self.threshold
