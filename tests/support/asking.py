"""Asking a program in tests: the commonest question, and a listener that plays a budget which runs out."""

from __future__ import annotations

import threading
from typing import Any

import dspy

from tests.support.engine import FakeEngine, Script, fake_lm
from videohv.modules.ask import StepFailed
from videohv.modules.methods import make_method
from videohv.modules.recorder import Stop
from videohv.types import Outcome, Trace

OPTIONS = ["a red ball", "a blue cube", "a green cone"]
CAPTIONS = [f"someone holds thing {i // 4}" for i in range(40)]


def run_method(
    name: str,
    scripts: dict[str, Script] | None = None,
    *,
    captions: list[str] | None = None,
    video: Any = None,
    engine: dict[str, Any] | None = None,
    **settings: Any,
) -> tuple[Trace, FakeEngine]:
    """The trace of one question, and the engine that was asked. Without a video there are forty captions."""
    lm, made = fake_lm(scripts, **(engine or {}))
    given = captions if captions is not None or video is not None else CAPTIONS
    with dspy.context(lm=lm):
        program = make_method(name, **settings)
        prediction = program(question="What is picked up?", options=OPTIONS, captions=given, video=video)
    trace = prediction.trace
    assert isinstance(trace, Trace)
    return trace, made


class RunsOut(Stop):
    """A budget of so many LM calls, asked before each one like every `Stop`."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self._left, self._lock = calls, threading.Lock()

    def check(self) -> None:
        """End the question when nothing is left."""
        with self._lock:
            self._left -= 1
            if self._left < 0:
                raise StepFailed("budget", Outcome.OVER_BUDGET, "the budget is spent", hopeless=True)

    def __call__(self, event: object) -> None:
        """Events cost nothing."""
