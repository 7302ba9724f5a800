"""One question of a run: what a worker is given, and what it gives back."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, Protocol

from videohv.errors import Cancelled
from videohv.evaluate.orders import reordered
from videohv.evaluate.row import Row
from videohv.types import Caption, Question, Trace


class Job(NamedTuple):
    """A question under one option order, and what its benchmark knows beside it.

    Args:
        question: In the benchmark's own order.
        order: Number of the option order.
        permutation: As in `Row`.
        names: Under which its video may be found, besides `Question.video`.
        speech: What is said in the video, for splits that are asked with subtitles.
    """

    question: Question
    order: int = 0
    permutation: tuple[int, ...] = ()
    names: tuple[str, ...] = ()
    speech: tuple[Caption, ...] = ()

    @property
    def shown(self) -> Question:
        """The question as it is asked."""
        return reordered(self.question, self.permutation)


Answerer = Callable[[Job], Trace]
"""Asks one question to the end. Every expected failure is a trace with its outcome."""


class Done(NamedTuple):
    """A job that has ended.

    Args:
        job: Which.
        row: Its figures; None if the program crashed, which no outcome stands for.
        trace_json: Its trace; empty if it crashed.
        crash: The exception in one line.
    """

    job: Job
    row: Row | None
    trace_json: str = ""
    crash: str = ""


class Workers(Protocol):
    """Something that works off jobs, several at once."""

    def run(self, jobs: Iterable[Job]) -> Iterator[Done]:
        """Yield each job as it ends, in any order. Jobs are taken as there is room for them.

        Closing the iterator stops: no further LM call is begun, and what runs is not waited for.
        """
        ...


def work_off(job: Job, answer: Answerer) -> Done:
    """Ask one question. An unexpected exception is caught here, so that it costs one question and not the run.

    Raises:
        Cancelled: If the run was stopped.
    """
    try:
        trace = answer(job)
    except Cancelled:
        raise
    except Exception as error:
        lines = str(error).strip().splitlines()
        return Done(job, None, crash=f"{type(error).__name__}: {lines[0] if lines else ''}"[:300])
    return Done(job, Row.of(trace, job.order, job.permutation), trace.model_dump_json())
