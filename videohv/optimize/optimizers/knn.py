"""`knn`: demonstrations from training questions that are most like those to be answered (after DSPy's KNNFewShot)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar

from pydantic import Field

from videohv.modules.program import VideoProgram
from videohv.optimize.learner.border import border
from videohv.optimize.learner.similarity import Similarity
from videohv.optimize.learner.student import Student
from videohv.optimize.optimizers.bootstrap import DemoOptions, bootstrapper, right_ones, teacher_of
from videohv.optimize.registry import Options, Plan, Preset, optimizer
from videohv.optimize.task import Task
from videohv.types import Question


class KNNOptions(DemoOptions):
    """Options of `KNN`.

    Args:
        neighbours: Training questions that each dev question votes for.
    """

    neighbours: int = Field(default=3, ge=1, le=100)

    presets: ClassVar[Mapping[Preset, Mapping[str, Any]]] = {
        "light": {"demos": 2, "neighbours": 3},
        "medium": {"demos": 4, "neighbours": 5},
        "heavy": {"demos": 8, "neighbours": 9},
    }


@optimizer("knn")
class KNN:
    """Shows the agents how those training questions were answered that are nearest to the dev questions.

    DSPy's KNNFewShot looks for neighbours, and bootstraps from them, each time the program is called: what comes of it
    is no program that can be saved as prompts and demonstrations. Here neighbours are chosen once. Of the training
    questions that were answered rightly each dev question votes for its nearest ones, by the words of question and
    options; those with the most votes are shown. Of the dev questions only the texts are used, and none is shown.
    """

    options_type: ClassVar[type[Options]] = KNNOptions
    uses_demos: ClassVar[bool] = True

    def __init__(self, options: KNNOptions) -> None:
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
            right = right_ones(there, teacher)
            alike = Similarity([_text(example.question) for example in right])
            votes: Counter[int] = Counter()
            for example in task.dev:
                for place, neighbour in enumerate(alike.nearest(_text(example.question), self.options.neighbours)):
                    # The nearest counts most; without this a crowd of distant ones decides.
                    votes[neighbour] += self.options.neighbours - place
            ranked = sorted(range(len(right)), key=lambda place: (-votes[place], place))
            student, nearest = there.student(teacher.roles), [right[place] for place in ranked]
            made: Student = bootstrapper(there, self.options).compile(student, teacher=teacher, trainset=nearest)
            return made.give_back()


def _text(question: Question) -> str:
    return " ".join((question.text, *question.options))
