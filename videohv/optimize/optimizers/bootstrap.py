"""`bootstrap`: demonstrations from questions that the program answered rightly (DSPy's BootstrapFewShot)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

import dspy
from dspy.teleprompt import BootstrapFewShot
from pydantic import Field

from videohv.errors import OptimizerFailed
from videohv.modules.program import VideoProgram
from videohv.optimize.learner.border import Border, border
from videohv.optimize.learner.demos import longest_demo, text_roles
from videohv.optimize.learner.student import Student
from videohv.optimize.learner.teacher import Teacher
from videohv.optimize.registry import Options, Plan, Preset, optimizer
from videohv.optimize.task import Task
from videohv.types import Share


class ShownOptions(Options):
    """What all optimizers that show demonstrations have.

    Args:
        demos: Demonstrations an agent at most.
        longest: Characters of a demonstration at most; None lets all of them together fill half of the context of the
            smallest model.
    """

    demos: int = Field(default=2, ge=1, le=64)
    longest: int | None = Field(default=None, ge=1)

    presets: ClassVar[Mapping[Preset, Mapping[str, Any]]] = {
        "light": {"demos": 2},
        "medium": {"demos": 4},
        "heavy": {"demos": 8},
    }


class DemoOptions(ShownOptions):
    """What all optimizers that learn from the program's own traces have.

    Args:
        threshold: Value of the metric from which on a trace is good enough.
    """

    threshold: Share = 0.5


@optimizer("bootstrap")
class Bootstrap:
    """Goes through the training questions until so many were answered rightly, and shows how to agents that read text.

    DSPy's own would add rows of the training set, frames, and traces in which steps had failed; see
    `videohv.optimize.learner.teacher`. Demonstrations that the program had are replaced.
    """

    options_type: ClassVar[type[Options]] = DemoOptions
    uses_demos: ClassVar[bool] = True

    def __init__(self, options: DemoOptions) -> None:
        self.options = options

    def plan(self, task: Task) -> Plan:
        """Each training question once."""
        return Plan(len(task.train))

    def improve(self, task: Task) -> VideoProgram:
        """See `Optimizer`.

        Raises:
            OptimizerFailed: No question was answered rightly, or no demonstration could be made of those that were.
        """
        with border(task, threshold=self.options.threshold) as there:
            teacher = teacher_of(there, self.options)
            student = there.student(teacher.roles)
            bootstrap = bootstrapper(there, self.options)
            try:
                made: Student = bootstrap.compile(student, teacher=teacher, trainset=list(task.train))
            except BaseException:
                keep_demos(there, student, getattr(bootstrap, "name2traces", {}))
                raise
            if not any(predictor.demos for predictor in made.predictors()):
                raise nothing_learnt(teacher, task)
            return made.give_back()


def teacher_of(there: Border, options: DemoOptions) -> Teacher:
    """The task's program as a teacher of the roles that read text.

    Raises:
        InputError: None of the task's roles does.
    """
    task = there.task
    return Teacher(
        task.program,
        text_roles(task.program, task.roles),
        there.guard,
        seed=task.seed,
        longest=options.longest or longest_demo(options.demos),
    )


def bootstrapper(there: Border, options: DemoOptions) -> BootstrapFewShot:
    """DSPy's own, that makes demonstrations of whole right traces and of nothing else."""
    return BootstrapFewShot(metric=there.metric, max_bootstrapped_demos=options.demos, max_labeled_demos=0)


def keep_demos(there: Border, student: Student, found: Mapping[str, Iterable[Any]]) -> None:
    """Keep what was found before the compile was stopped."""
    if not any(found.values()):
        return
    learnt = student.reset_copy()
    for name, predictor in learnt.named_predictors():
        predictor.demos = list(found.get(name, ()))
    there.under_way(learnt.give_back())


def right_ones(there: Border, teacher: Teacher) -> list[dspy.Example]:
    """The training questions that make demonstrations, in their order; all are asked, several at once.

    Raises:
        OptimizerFailed: There is none.
    """
    task = there.task
    lessons = teacher.lessons(task.train, task.threads)
    right = [
        example
        for example, lesson in zip(task.train, lessons, strict=True)
        if lesson.demos and there.metric.is_model(example, lesson.prediction)
    ]
    if not right:
        raise nothing_learnt(teacher, task)
    return right


def nothing_learnt(teacher: Teacher, task: Task) -> OptimizerFailed:
    """Why no agent has a demonstration: what happened to the training questions."""
    lessons = teacher.lessons(task.train, 1)
    whole = sum(bool(lesson.demos) for lesson in lessons)
    long = sorted({name for lesson in lessons for name in lesson.too_long})
    if long and not whole:
        return OptimizerFailed(
            f"every demonstration for {', '.join(long)} would be longer than {teacher.longest:,} characters; name "
            "other roles, fewer demos, or set longest to more"
        )
    return OptimizerFailed(
        f"no demonstration could be made: of {len(task.train)} training questions {whole} were answered without any "
        f"failed step, and none of these well enough by the metric {task.metric.name!r}; give more training questions, "
        "or a lower threshold"
    )
