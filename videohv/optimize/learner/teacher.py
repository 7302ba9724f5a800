"""A student that has its traces turned into demonstrations: the `teacher=` of DSPy's few-shot optimizers.

DSPy bootstraps from whatever a trace holds: frames, steps that were gone without, values that no JSON can hold. A
`Teacher` answers as its program does, once for each question, and leaves in DSPy's trace only what the rules of
`videohv.optimize.learner.demos` allow.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Self

import dspy

from videohv.modules.parallel import side_by_side
from videohv.modules.program import VideoProgram
from videohv.optimize.guard import Guard
from videohv.optimize.learner.demos import plain_demo, takes_images
from videohv.optimize.learner.student import Student
from videohv.types import Outcome, Question


class Lesson(NamedTuple):
    """How a question was answered.

    Args:
        prediction: Of the program.
        demos: A demonstration for each agent that was asked and can have one. None where a step failed.
        too_long: Agents whose demonstration would be too long.
    """

    prediction: dspy.Prediction
    demos: dict[str, dict[str, Any]]
    too_long: tuple[str, ...] = ()


class _Lessons:
    """Lessons by question, shared by all copies of a teacher."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.known: dict[Question, Lesson] = {}

    def __deepcopy__(self, memo: object) -> Self:
        return self


class Teacher(Student):
    """Answers as its program does, each question once however often DSPy asks.

    Of an agent that was asked several times for a question one call is taken: the last one, or by half chance an
    earlier one, as DSPy does; here by the seed and the question alone.

    Args:
        program: Copied; it is the one that teaches, with the demonstrations that it has.
        roles: Agents that get demonstrations.
        guard: Told how each question ended.
        seed: For the choice among calls.
        longest: Characters of a demonstration at most.
    """

    def __init__(
        self, program: VideoProgram, roles: Iterable[str], guard: Guard | None = None, *, seed: int = 0, longest: int
    ) -> None:
        super().__init__(program, roles, guard)
        # DSPy gives raw rows of the training set to teachers that are not compiled.
        self._compiled = True
        self.seed, self.longest = seed, longest
        self._lessons = _Lessons()

    def forward(self, **inputs: Any) -> dspy.Prediction:
        """Answer one question, and put the demonstrations that can be made of it into DSPy's trace."""
        lesson = self.lesson(dspy.Example(**inputs).with_inputs(*inputs))
        if dspy.settings.trace is not None:
            agents = dict(self.named_predictors())
            dspy.settings.trace[:] = [(agents[name], demo, {}) for name, demo in lesson.demos.items()]
        return lesson.prediction

    def lesson(self, example: dspy.Example) -> Lesson:
        """How a question is answered, asked when it is wanted for the first time."""
        question = example.question
        assert isinstance(question, Question)
        with self._lessons.lock:
            known = self._lessons.known.get(question)
        if known is None:
            known = self._learn(example, question)
            with self._lessons.lock:
                known = self._lessons.known.setdefault(question, known)
        return known

    def lessons(self, examples: Sequence[dspy.Example], threads: int) -> list[Lesson]:
        """The same for many, several at once."""
        return side_by_side(self.lesson, examples, threads)

    def _learn(self, example: dspy.Example, question: Question) -> Lesson:
        trace: list[Any] = []
        with dspy.context(trace=trace):
            try:
                prediction = super().forward(**example.inputs())
            except Exception:
                # The guard has been told; a question that could not be asked teaches nothing.
                return Lesson(dspy.Prediction(), {})
        if prediction.outcome is not Outcome.ANSWERED or prediction.trace.degraded:
            return Lesson(prediction, {})
        names = {id(predictor): name for name, predictor in self.named_predictors()}
        calls: dict[str, list[dict[str, Any]]] = {}
        too_long: dict[str, None] = {}
        for predictor, asked, replied in trace:
            name = names.get(id(predictor))
            if name is None or takes_images(predictor.signature):
                continue
            demo = plain_demo({**asked, **dict(replied)}, question.id)
            if demo is None:
                continue
            if sum(len(str(value)) for value in demo.values()) > self.longest:
                too_long[name] = None
                continue
            calls.setdefault(name, []).append(demo)
        return Lesson(
            prediction,
            {name: self._chosen(name, question, made) for name, made in calls.items()},
            tuple(name for name in too_long if name not in calls),
        )

    def _chosen(self, name: str, question: Question, made: list[dict[str, Any]]) -> dict[str, Any]:
        dice = random.Random(f"{self.seed} {name} {question.id}")
        return dice.choice(made[:-1]) if len(made) > 1 and dice.random() < 0.5 else made[-1]
