"""Optimizers one after the other: each begins with the program that the one before came to."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from videohv.modules.program import VideoProgram
from videohv.optimize.guard import CompileStopped
from videohv.optimize.registry import Optimizer, Options, Plan
from videohv.optimize.task import Task, Trial


class Chain:
    """Several optimizers as one; `bootstrap,gepa` on the command line.

    What an earlier one has learnt stays unless a later one replaces it: an optimizer of instructions keeps the
    demonstrations, one of demonstrations keeps the instructions. DSPy takes no student that was compiled before; each
    gets a fresh one.

    Args:
        optimizers: In the order in which they work; at least one.
    """

    options_type: ClassVar[type[Options]] = Options
    name: ClassVar[str] = "chain"

    def __init__(self, optimizers: Sequence[Optimizer]) -> None:
        self.optimizers = tuple(optimizers)
        assert self.optimizers

    @property
    def uses_demos(self) -> bool:
        """Whether any of them does."""
        return any(optimizer.uses_demos for optimizer in self.optimizers)

    def plan(self, task: Task) -> Plan:
        """The sum."""
        plans = [optimizer.plan(task) for optimizer in self.optimizers]
        return Plan(sum(plan.program_runs for plan in plans), sum(plan.prompt_calls for plan in plans))

    def improve(self, task: Task) -> VideoProgram:
        """See `Optimizer`. Trials are numbered through; the best score is that of the optimizer that is at work.

        Raises:
            CompileStopped: One was stopped. What the ones before came to is its best program, if it has none.
            OptimizerFailed: One ended without a result.
        """
        program, before = task.program, 0
        for place, optimizer in enumerate(self.optimizers, start=1):
            last = [before]
            folder = task.folder / f"{place}-{getattr(optimizer, 'name', type(optimizer).__name__)}"
            one = replace(task, program=program, folder=folder, on_trial=_numbered(task.on_trial, before, last))
            try:
                program = optimizer.improve(one)
            except CompileStopped as stopped:
                if stopped.best is None and place > 1:
                    raise CompileStopped(stopped.reason, stopped.why, program) from stopped
                raise
            before = last[0]
        return program


def _numbered(tell: Callable[[Trial], None], before: int, last: list[int]) -> Callable[[Trial], None]:
    def told(trial: Trial) -> None:
        last[0] = before + trial.number
        changes: dict[str, Any] = {"number": last[0], "of": None if trial.of is None else before + trial.of}
        tell(trial.model_copy(update=changes))

    return told
