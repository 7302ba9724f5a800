"""A running question as a stream of events, and as an awaitable: the same synchronous loop, in a thread of its own."""

from __future__ import annotations

import asyncio
import contextvars
import queue
import threading
from collections.abc import AsyncIterator, Callable, Generator
from typing import Any

import dspy

from videohv.modules.recorder import Event, Stop, listening


def stream(
    program: Callable[..., dspy.Prediction], inputs: dict[str, Any]
) -> Generator[Event | dspy.Prediction, None, None]:
    """Run `program(**inputs)` in a thread and yield its events as they happen, last its prediction.

    Closing the iterator stops the question at its next step and waits for it. An exception of the program is raised
    here.
    """
    items: queue.SimpleQueue[Event | dspy.Prediction | BaseException] = queue.SimpleQueue()
    stop = Stop()

    def run() -> None:
        try:
            with listening(stop), listening(items.put):
                items.put(program(**inputs))
        except BaseException as error:
            items.put(error)

    thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="videohv-question", daemon=True)
    thread.start()
    try:
        while True:
            item = items.get()
            if isinstance(item, BaseException):
                raise item
            yield item
            if isinstance(item, dspy.Prediction):
                return
    finally:
        stop.set()
        thread.join()


async def astream(
    program: Callable[..., dspy.Prediction], inputs: dict[str, Any]
) -> AsyncIterator[Event | dspy.Prediction]:
    """The same as `stream` without blocking the event loop."""
    events = stream(program, inputs)
    end = object()
    try:
        while (item := await asyncio.to_thread(next, events, end)) is not end:
            yield item
    finally:
        await asyncio.to_thread(events.close)


async def in_thread(forward: Callable[..., dspy.Prediction], inputs: dict[str, Any]) -> dspy.Prediction:
    """Await `forward(**inputs)`; cancelling stops it at its next step."""
    stop = Stop()
    with listening(stop):
        try:
            return await asyncio.to_thread(forward, **inputs)
        except asyncio.CancelledError:
            stop.set()
            raise
