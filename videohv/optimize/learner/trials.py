"""What an optimizer tries and how it does, seen from outside: every candidate goes through `dspy.Evaluate`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

import dspy
from dspy.utils.callback import BaseCallback

from videohv.modules.program import VideoProgram
from videohv.optimize.guard import Guard
from videohv.optimize.learner.shims import aloud
from videohv.optimize.learner.student import Student
from videohv.optimize.task import Trial


class Trials(BaseCallback):
    """Keeps the best candidate and tells of each. Given to DSPy as a callback.

    Args:
        judges: Examples by which candidates are compared. A candidate that was scored on fewer is told of and never
            kept as the best.
        tell: Called with each, never twice at once.
        guard: Told how every LM call ended.
        of: How many there will be, if known.

    Attributes:
        best: The best candidate that was scored on all judges, as it was then, with no model bound.
        best_trial: How it did.
    """

    def __init__(
        self,
        judges: Sequence[dspy.Example],
        tell: Callable[[Trial], None],
        guard: Guard,
        of: int | None = None,
    ) -> None:
        self.best: VideoProgram | None = None
        self.best_trial: Trial | None = None
        self.of = of
        self._judges = {example.question for example in judges}
        self._tell, self._guard = tell, guard
        self._count = 0
        self._open: dict[str, tuple[Student, tuple[dspy.Example, ...]]] = {}
        self._lock = threading.RLock()

    def on_evaluate_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        """DSPy begins to score a candidate."""
        program, examples = inputs.get("program"), inputs.get("devset") or instance.devset
        if isinstance(program, Student):
            with self._lock:
                self._open[call_id] = (program, tuple(examples))

    def on_evaluate_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """DSPy has scored it, or failed to."""
        with self._lock:
            begun = self._open.pop(call_id, None)
            if begun is None or outputs is None:
                return
            student, examples = begun
            self.scored(student, float(outputs.score) / 100, examples)

    def on_lm_end(self, call_id: str, outputs: Any, exception: BaseException | None = None) -> None:
        """An LM call has ended."""
        self._guard.fault(exception)

    def scored(self, student: Student, score: float, examples: Sequence[dspy.Example]) -> None:
        """Take note of a candidate; for optimizers that score without `dspy.Evaluate`."""
        with self._lock:
            self._count += 1
            whole = {example.question for example in examples} >= self._judges
            known = self.best_trial.score if self.best_trial is not None else None
            better = whole and (known is None or score > known)
            trial = Trial(
                number=self._count,
                of=self.of,
                score=min(1.0, max(0.0, score)),
                best=score if better or known is None else known,
                examples=len(examples),
            )
            if better:
                self.best, self.best_trial = student.give_back(), trial
            with aloud():
                self._tell(trial)
