"""`random-search`: the best of several random sets of demonstrations (DSPy's BootstrapFewShotWithRandomSearch)."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, ClassVar

from dspy.teleprompt import BootstrapFewShotWithRandomSearch
from pydantic import Field

from videohv.modules.program import VideoProgram
from videohv.optimize.learner.border import border
from videohv.optimize.learner.student import Student
from videohv.optimize.optimizers.bootstrap import DemoOptions, right_ones, teacher_of
from videohv.optimize.registry import Options, Plan, Preset, optimizer
from videohv.optimize.task import Task

_NO_DEMOS, _IN_ORDER = -3, -1
# DSPy's numbers of its candidates. The one between is that with rows of the training set.


class RandomSearchOptions(DemoOptions):
    """Options of `RandomSearch`.

    Args:
        candidates: Random sets of demonstrations, beside the program without any and the first set in order.
    """

    candidates: int = Field(default=4, ge=1, le=1_000)

    presets: ClassVar[Mapping[Preset, Mapping[str, Any]]] = {
        "light": {"demos": 2, "candidates": 4},
        "medium": {"demos": 4, "candidates": 8},
        "heavy": {"demos": 8, "candidates": 16},
    }


@optimizer("random-search")
class RandomSearch:
    """Draws sets of demonstrations from questions that were answered rightly, scores each on the dev part, takes the
    best; the program without demonstrations is one of them.

    Each training question is asked once for all candidates, where DSPy asks anew for each.
    """

    options_type: ClassVar[type[Options]] = RandomSearchOptions
    uses_demos: ClassVar[bool] = True

    def __init__(self, options: RandomSearchOptions) -> None:
        self.options = options

    def plan(self, task: Task) -> Plan:
        """Each training question once, and the dev part for each candidate."""
        return Plan(len(task.train) + self._count * len(task.dev))

    def improve(self, task: Task) -> VideoProgram:
        """See `Optimizer`.

        Raises:
            OptimizerFailed: No demonstration could be made.
        """
        options = self.options
        with border(task, threshold=options.threshold, of=self._count) as there:
            teacher = teacher_of(there, options)
            # DSPy bootstraps anew for each candidate: from here on it is told what is known.
            train = right_ones(there, teacher)
            random.Random(task.seed).shuffle(train)
            search = BootstrapFewShotWithRandomSearch(
                metric=there.metric,
                max_bootstrapped_demos=options.demos,
                max_labeled_demos=0,
                num_candidate_programs=options.candidates,
                num_threads=task.threads,
                stop_at_score=100.0,
            )
            made: Student = search.compile(
                there.student(teacher.roles),
                teacher=teacher,
                trainset=train,
                valset=list(task.dev),
                restrict=[_NO_DEMOS, _IN_ORDER, *range(options.candidates)],
            )
            return made.give_back()

    @property
    def _count(self) -> int:
        return self.options.candidates + 2
