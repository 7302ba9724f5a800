"""Tasks for optimizers: questions about people with numbers, and a model that is right about some of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dspy

from tests.support.engine import FakeEngine, Script, Seen, answer_reply, fake_lm, letters
from videohv.modules.methods import make_method
from videohv.modules.program import VideoProgram
from videohv.optimize.learner.examples import SharedCaptions
from videohv.optimize.metrics.metric import Metric, Score
from videohv.optimize.task import Task, Trial
from videohv.types import Caption, Question, Trace

OPTIONS = ("cooks", "reads", "sews")
CAPTIONS = tuple(Caption(time=float(second), text=f"someone moves tool {second % 7}") for second in range(24))


class Right:
    """1 for the right option."""

    name = "right"

    def __call__(self, question: Question, trace: Trace) -> Score:
        """See `Metric`."""
        return Score(float(bool(trace.answer and question.is_right(trace.answer.option_index))))


def a_question(number: int) -> Question:
    """Whose right option is number % 3."""
    return Question(
        text=f"What does person {number} do?",
        options=OPTIONS,
        id=f"q{number}",
        video=f"v{number}",
        answer_index=number % len(OPTIONS),
    )


def an_example(number: int) -> dspy.Example:
    """A question with captions."""
    captions = SharedCaptions.of(CAPTIONS, f"v{number}")
    return dspy.Example(question=a_question(number), captions=captions).with_inputs("question", "captions")


def number_in(seen: Seen) -> int:
    """Of the question that a request is about."""
    found = re.search(r"person (\d+)", seen.inputs.get("question", ""))
    return int(found.group(1)) if found else -1


def knows(*numbers: int, otherwise: int = 1) -> Script:
    """An answering agent that is right about these questions, and off by so much about others."""

    def reply(seen: Seen) -> dict[str, Any]:
        number = number_in(seen)
        off = 0 if number in numbers else otherwise
        chosen = "ABC"[(number + off) % len(OPTIONS)]
        if seen.role == "answer":
            return answer_reply(chosen, letters(seen))
        return {"reasoning": f"it was seen of {number}", "answer": chosen, "confidence": 0.75}

    return reply


def a_task(folder: Path, program: VideoProgram | str = "videohv", **changes: Any) -> Task:
    """Six training questions and four to choose by, for all agents."""
    made = make_method(program, workers=1) if isinstance(program, str) else program
    given: dict[str, Any] = {
        "program": made,
        "roles": tuple(name for name, _ in made.named_predictors()),
        "train": tuple(an_example(number) for number in range(6)),
        "dev": tuple(an_example(number) for number in range(10, 14)),
        "metric": Right(),
        "seed": 0,
        "threads": 1,
        "prompt_lm": None,
        "folder": folder,
        **changes,
    }
    metric: Metric = given["metric"]
    assert metric.name
    return Task(**given)


@contextmanager
def asked(scripts: Mapping[str, Script] | None = None, **engine: Any) -> Iterator[FakeEngine]:
    """Have every agent answered by a fake engine inside the block."""
    lm, made = fake_lm(dict(scripts or {}), **engine)
    with dspy.context(lm=lm):
        yield made


def all_right(*roles: str) -> dict[str, Script]:
    """Scripts that answer every question of `a_task` rightly."""
    return {role: knows(*range(20)) for role in roles or ("answer", "captions.answer")}


class Heard:
    """Keeps the trials that it is told of."""

    def __init__(self) -> None:
        self.trials: list[Trial] = []

    def __call__(self, trial: Trial) -> None:
        """Keep it."""
        self.trials.append(trial)
