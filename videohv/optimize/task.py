"""What an optimizer is given, and what it says while it works."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dspy

from videohv.modules.program import VideoProgram
from videohv.optimize.metrics.metric import Metric
from videohv.types import Value


class Trial(Value):
    """One candidate that an optimizer has scored.

    Args:
        number: Counted from 1 within the optimizer.
        of: How many there will be, if that is known.
        score: Mean of the metric over the examples it was scored on, from 0 to 1.
        best: The best score so far.
        examples: On how many examples it was scored.
    """

    number: int
    of: int | None = None
    score: float
    best: float
    examples: int


@dataclass(frozen=True)
class Task:
    """A program to be improved, and what for.

    Args:
        program: Where to begin. Never changed: an optimizer works on copies.
        roles: Agents (`named_predictors()`) that may be changed; the others keep prompts and demonstrations.
        train: Examples to learn from, with the inputs that the program is called with (see `learner.examples`).
        dev: Examples to choose by. No recording of them is in `train`.
        metric: What is to become better.
        seed: For everything random.
        threads: Examples at once.
        prompt_lm: Writes instructions; None is the one that the program's text roles use.
        folder: For the optimizer's own files; kept from one sitting to the next.
        on_trial: Called after each candidate that was scored.
    """

    program: VideoProgram
    roles: tuple[str, ...]
    train: tuple[dspy.Example, ...]
    dev: tuple[dspy.Example, ...]
    metric: Metric
    seed: int
    threads: int
    prompt_lm: dspy.BaseLM | None
    folder: Path
    on_trial: Callable[[Trial], None] = lambda trial: None
