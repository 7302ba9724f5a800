"""`labeled`: demonstrations from the right options of training questions (DSPy's LabeledFewShot), without any call."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from typing import Any, ClassVar

import dspy

from videohv.errors import InputError, OptimizerFailed
from videohv.modules.program import VideoProgram
from videohv.optimize.learner.border import border
from videohv.optimize.learner.demos import longest_demo, plain_demo, text_roles
from videohv.optimize.learner.student import Student, copied
from videohv.optimize.optimizers.bootstrap import ShownOptions
from videohv.optimize.registry import Options, Plan, optimizer
from videohv.optimize.task import Task
from videohv.types import Question, letter

_LABELLED = {"answer", "reasoning", "confidence"}
# Output fields that the right option says something about.


@optimizer("labeled")
class Labeled:
    """Shows training questions with their right options to the agent of a method that answers in one step.

    DSPy's LabeledFewShot gives rows of the training set to every agent, whatever it is asked. A label says nothing
    about a hypothesis or a clue; so this is for methods whose one agent is asked once and gives back the option:
    `captions`, where the captions fit one prompt. Its inputs are those that the method itself makes; `answer` is the
    letter of the right option, `reasoning` its text, `confidence` 1. Others are refused.
    """

    options_type: ClassVar[type[Options]] = ShownOptions
    uses_demos: ClassVar[bool] = True

    def __init__(self, options: ShownOptions) -> None:
        self.options = options

    def plan(self, task: Task) -> Plan:
        """No model is asked."""
        return Plan(0)

    def improve(self, task: Task) -> VideoProgram:
        """See `Optimizer`.

        Raises:
            OptimizerFailed: The method does not answer in one step, or all demonstrations would be too long.
            InputError: The roles of the task hold none that reads text.
        """
        longest = self.options.longest or longest_demo(self.options.demos)
        with border(task) as there:
            roles = text_roles(task.program, task.roles)
            student = Student(task.program, roles, there.guard).reset_copy()
            train = list(task.train)
            random.Random(task.seed).shuffle(train)
            found: dict[str, list[dict[str, Any]]] = {}
            for example in train:
                name, demo = _labelled(task.program, example)
                if name not in roles:
                    raise OptimizerFailed(
                        f"only {name} of method {task.program.method!r} can be shown labels, and it is not among the "
                        f"roles ({', '.join(roles)})"
                    )
                if demo is not None and sum(len(str(value)) for value in demo.values()) <= longest:
                    found.setdefault(name, []).append(demo)
                if len(found.get(name, ())) == self.options.demos:
                    break
            if not found:
                raise OptimizerFailed(
                    f"each of {len(train)} demonstrations would be longer than {longest:,} characters; set demos to "
                    "less, or longest to more"
                )
            for name, predictor in student.named_predictors():
                predictor.demos = found.get(name, [])
            return student.give_back()


class _Another(Exception):
    """An agent was asked for what no label says."""

    def __init__(self, name: str, wanted: Iterable[str]) -> None:
        super().__init__(f"it also asks {name} for {', '.join(wanted)}")


def _labelled(program: VideoProgram, example: dspy.Example) -> tuple[str, dict[str, Any] | None]:
    """The agent that answers, and the demonstration that a row makes for it, if any can be made.

    The method itself is run, with its agents answered from the label.

    Raises:
        OptimizerFailed: More than one call was wanted, or other outputs.
        InputError: The row has no label.
    """
    question = example.question
    assert isinstance(question, Question)
    if question.answer_index is None:
        raise InputError(f"question {question.id!r}: its right option is not known, so it is no label")
    label = {
        "reasoning": question.options[question.answer_index],
        "answer": letter(question.answer_index),
        "confidence": 1.0,
    }
    asked: list[tuple[str, dict[str, Any]]] = []

    def answered(name: str, signature: Any) -> Callable[..., dspy.Prediction]:
        def forward(**given: Any) -> dspy.Prediction:
            wanted = list(signature.output_fields)
            if asked or not set(wanted) <= label.keys():
                raise _Another(name, wanted)
            outputs = {field: label[field] for field in wanted}
            asked.append((name, {**{f: given[f] for f in signature.input_fields if f in given}, **outputs}))
            return dspy.Prediction(**outputs)

        return forward

    played = copied(program)
    for name, predictor in played.named_predictors():
        predictor.forward = answered(name, predictor.signature)
    try:
        trace = played(**example.inputs()).trace
    except _Another as error:
        raise OptimizerFailed(
            f"method {program.method!r} does not answer in one step: {error}, which no label says; use bootstrap, "
            "which learns from the program's own right answers"
        ) from error
    if not asked:
        raise OptimizerFailed(f"question {question.id!r} was not asked ({trace.error})")
    name, values = asked[0]
    return name, plain_demo(values, question.id)
