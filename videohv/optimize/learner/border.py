"""The border between a task and an optimizer of DSPy's: what goes over to it, and what comes back of it.

with border(task) as there:
    made = BootstrapFewShot(metric=there.metric, …).compile(there.student(), trainset=list(task.train))
    return made.give_back()
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

import dspy

from videohv.errors import InputError, OptimizerFailed, VideoHVError
from videohv.lm.adapter import json_adapter
from videohv.modules.program import VideoProgram
from videohv.optimize.guard import CompileStopped, Guard, Reason, Tripped, current_guard
from videohv.optimize.learner.dspy_metric import DspyMetric
from videohv.optimize.learner.prompt_lm import watched_lm
from videohv.optimize.learner.shims import quiet, shimmed
from videohv.optimize.learner.student import Student
from videohv.optimize.learner.trials import Trials
from videohv.optimize.task import Task

TRACE = 10_000
"""Calls of one question that an optimizer gets to see."""

NO_END = 1_000_000_000
"""Errors after which DSPy gives up: never. The guard decides, and knows more."""


class Border:
    """What an optimizer of DSPy's is handed.

    Args:
        task: What is to be done.
        guard: Watches over it.
        threshold: Value of the metric from which on a trace is good enough to learn from.
        judges: Examples by which candidates are compared.
        of: How many candidates there will be, if known.

    Attributes:
        task: What is to be done.
        guard: Watches over it.
        metric: For `metric=`.
        trials: Candidates so far.
    """

    def __init__(
        self, task: Task, guard: Guard, threshold: float, judges: Sequence[dspy.Example], of: int | None
    ) -> None:
        self.task, self.guard = task, guard
        self.metric = DspyMetric(task.metric, guard, threshold)
        self.trials = Trials(judges, task.on_trial, guard, of)
        self._under_way: VideoProgram | None = None

    def student(self, roles: Iterable[str] | None = None) -> Student:
        """A fresh student, as DSPy takes no other; it shows the roles of the task, or only these of them."""
        return Student(self.task.program, self.task.roles if roles is None else roles, self.guard)

    @property
    def prompt_lm(self) -> dspy.BaseLM:
        """The model that writes prompts.

        Raises:
            InputError: If none is configured.
        """
        lm = self.task.prompt_lm or self.student().get_lm()
        if lm is None:
            raise InputError(
                "no model is there to write prompts: name one with --prompt-lm, or a general one with --lm"
            )
        return watched_lm(lm, self.guard)

    def under_way(self, program: VideoProgram) -> None:
        """Keep what was learnt so far, for the case that the compile is stopped before a candidate was scored."""
        self._under_way = program

    def stopped(self) -> CompileStopped:
        """What the guard has to say, with what was learnt."""
        reason, why = self.guard.why or (Reason.INTERRUPTED, "it was interrupted")
        if self.trials.best is not None:
            return CompileStopped(reason, why, self.trials.best, self.trials.best_trial)
        return CompileStopped(reason, why, self._under_way)


@contextmanager
def border(
    task: Task,
    *,
    threshold: float = 0.5,
    judges: Sequence[dspy.Example] | None = None,
    of: int | None = None,
) -> Iterator[Border]:
    """Have DSPy optimise inside the block, and come back with a typed error if it does not end well.

    Args:
        task: What is to be done. The budgets of the caller's context (`videohv.lm.budget.spending`) count in DSPy's
            threads too, and the guard is that of `guarding`, or a new one.
        threshold: Value of the metric from which on a trace is good enough to learn from.
        judges: Examples by which candidates are compared; None is `task.dev`.
        of: How many candidates there will be, if known.

    Raises:
        CompileStopped: The guard has tripped or the user has interrupted it; carries the best program so far.
        OptimizerFailed: The optimizer itself failed.
        VideoHVError: Any other that the block raises.
    """
    guard = current_guard() or Guard()
    there = Border(task, guard, threshold, task.dev if judges is None else judges, of)
    with (
        guard.watching(),
        shimmed(),
        quiet(),
        dspy.context(
            # As the program has it; what optimizers ask for is then held to its form too.
            adapter=dspy.settings.adapter or json_adapter(),
            warn_on_type_mismatch=False,
            callbacks=[*(dspy.settings.callbacks or []), there.trials],
            disable_history=True,
            # DSPy's own trace holds every call ever made, pictures included; optimizers open one for each question.
            trace=None,
            max_trace_size=TRACE,
            max_errors=NO_END,
            num_threads=task.threads,
            provide_traceback=False,
        ),
    ):
        try:
            yield there
            # Whoever swallowed it on the way: what was made after the guard had tripped is not to be trusted.
            guard.check()
        except Tripped:
            raise there.stopped() from None
        except KeyboardInterrupt:
            guard.trip(Reason.INTERRUPTED, "it was interrupted")
            raise there.stopped() from None
        except CompileStopped:
            raise
        except Exception as error:
            if guard.why is not None:
                raise there.stopped() from error
            if isinstance(error, VideoHVError):
                raise
            lines = str(error).strip().splitlines() or [""]
            raise OptimizerFailed(f"the optimizer failed: {type(error).__name__}: {lines[0][:300]}") from error
