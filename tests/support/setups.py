"""Setups for worker processes: picklable, and answered without any model."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from videohv.errors import InputError
from videohv.evaluate.jobs import Answerer, Job
from videohv.types import Answer, Outcome, Trace


@dataclass(frozen=True)
class EchoSetup:
    """Answers the first option, from the child that was asked.

    Args:
        broken: Opening it fails.
        dies_at: The question whose child ends as if it were killed.
        seconds: Taken for each question.
    """

    broken: bool = False
    dies_at: str = ""
    seconds: float = 0.0

    @contextmanager
    def open(self, processes: int = 1) -> Iterator[Answerer]:
        """See `Setup.open`."""
        if self.broken:
            raise InputError("no such model")
        yield self._answer

    def _answer(self, job: Job) -> Trace:
        question = job.shown
        if question.id == self.dies_at:
            os._exit(9)
        if question.id.startswith("crash"):
            raise RuntimeError("a bug")
        time.sleep(self.seconds)
        warnings = (f"process {os.getpid()}",)
        return Trace(question=question, outcome=Outcome.ANSWERED, answer=Answer(option_index=0), warnings=warnings)
