"""Steps that a question can do without."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from videohv.modules.ask import StepFailed
from videohv.modules.recorder import Recorder

T = TypeVar("T")


def attempt(recorder: Recorder, step: Callable[[], T]) -> T | None:
    """Run a step; if it fails for good, record that the question goes on without it and return None.

    Raises:
        StepFailed: If no later call could succeed either.
    """
    try:
        return step()
    except StepFailed as failure:
        if failure.hopeless:
            raise
        recorder.degrade(failure.step, failure.why)
        return None
