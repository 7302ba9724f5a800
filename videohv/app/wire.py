"""What goes over the wire: jobs and events as JSON, and a stream of them as server-sent events."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from typing import Any

from videohv.app.job import Asked, Job, State, Step
from videohv.app.jobs import Jobs
from videohv.app.kept import Ended
from videohv.types import Trace

BEAT_SECONDS = 10.0
"""A stream in which nothing happens sends a comment this often, so that a lost connection is noticed."""


def job_view(job: Job, jobs: Jobs) -> dict[str, Any]:
    """A job as its viewers see it."""
    return _view(job.id, job.asked, job.created, job.seconds, job.state, job.error, job.trace) | {
        "place": jobs.place(job),
        "events": job.events,
    }


def ended_view(ended: Ended) -> dict[str, Any]:
    """The same of a question that was kept."""
    return _view(ended.id, ended.asked, ended.created, ended.seconds, ended.state, ended.error, ended.trace) | {
        "place": 0,
        "events": 0,
    }


def _view(
    name: str, asked: Asked, created: float, seconds: float, state: State, error: str, trace: Trace | None
) -> dict[str, Any]:
    return {
        "id": name,
        "state": state.value,
        "video": {"id": asked.video, "name": asked.name},
        "question": asked.question,
        "options": list(trace.question.options if trace is not None else asked.options),
        "method": asked.method,
        "created": created,
        "seconds": round(seconds, 1),
        "outcome": trace.outcome.value if trace is not None else None,
        "status": trace.status.value if trace is not None and trace.status is not None else None,
        "answer": _answer(trace),
        "error": error,
    }


def _answer(trace: Trace | None) -> dict[str, Any] | None:
    if trace is None or trace.answer is None:
        return None
    index = trace.answer.option_index
    return {
        "index": index,
        "text": trace.question.options[index] if index is not None else None,
        "confidence": trace.answer.confidence,
        "reasoning": trace.answer.reasoning,
        "conflicts": list(trace.answer.conflicts),
    }


def step_view(step: Step) -> dict[str, Any]:
    """An event as JSON."""
    return step.event.model_dump(mode="json")


async def job_stream(job: Job, jobs: Jobs, after: int) -> AsyncIterator[bytes]:
    """What happens to a job as server-sent events: `step`s, `state` at each change, last `end`.

    Args:
        job: Whose.
        jobs: It is one of these.
        after: Number of the last step that was received.
    """
    changed, wake = _bell()
    end = job.watch(wake)
    shown: tuple[State, int] | None = None
    try:
        while True:
            changed.clear()
            # The state first: steps that came before an end are then sent before it.
            now = (job.state, jobs.place(job))
            for step in job.steps(after):
                after = step.number
                yield _message("step", step_view(step), after)
            if now != shown:
                shown = now
                yield _message("end" if now[0].is_end else "state", job_view(job, jobs))
            if now[0].is_end:
                return
            try:
                await asyncio.wait_for(changed.wait(), BEAT_SECONDS)
            except TimeoutError:
                yield b": still here\n\n"
    finally:
        end()


async def presence_stream(jobs: Jobs) -> AsyncIterator[bytes]:
    """A stream in which nothing happens: it is open as long as a page is, and no longer than there are jobs."""
    changed, wake = _bell()
    end = jobs.watch(wake)
    try:
        while not jobs.is_closed:
            yield b": still here\n\n"
            with suppress(TimeoutError):
                await asyncio.wait_for(changed.wait(), BEAT_SECONDS)
    finally:
        end()


def _bell() -> tuple[asyncio.Event, Callable[[], None]]:
    """An event of this loop, and what sets it from any thread."""
    loop, changed = asyncio.get_running_loop(), asyncio.Event()

    def wake() -> None:
        # The loop may be closed by now: nobody looks any longer.
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(changed.set)

    return changed, wake


def _message(kind: str, value: Any, number: int | None = None) -> bytes:
    head = f"id: {number}\n" if number is not None else ""
    # JSON has no line breaks outside its texts, and none within them.
    return f"{head}event: {kind}\ndata: {json.dumps(value)}\n\n".encode()
