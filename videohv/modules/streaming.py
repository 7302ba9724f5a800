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

Program = Callable[..., dspy.Prediction]


class _Running:
    """A question in a thread. Its events, and last its prediction or exception, come out of `take`."""

    def __init__(self, program: Program, inputs: dict[str, Any]) -> None:
        self._items: queue.SimpleQueue[Event | dspy.Prediction | BaseException] = queue.SimpleQueue()
        self.stop = Stop()

        def run() -> None:
            try:
                with listening(self.stop), listening(self._items.put):
                    self._items.put(program(**inputs))
            except BaseException as error:
                self._items.put(error)

        context = contextvars.copy_context()
        self.thread = threading.Thread(target=context.run, args=(run,), name="videohv-question", daemon=True)
        self.thread.start()

    def take(self) -> Event | dspy.Prediction:
        """Wait for the next item; an exception of the program is raised here."""
        item = self._items.get()
        if isinstance(item, BaseException):
            raise item
        return item


def stream(program: Program, inputs: dict[str, Any]) -> Generator[Event | dspy.Prediction, None, None]:
    """Run `program(**inputs)` in a thread and yield its events as they happen, last its prediction.

    Closing the iterator stops the question and waits for the calls that run. An exception of the program is raised
    here.
    """
    running = _Running(program, inputs)
    try:
        while True:
            item = running.take()
            yield item
            if isinstance(item, dspy.Prediction):
                return
    finally:
        running.stop.set()
        running.thread.join()


async def astream(program: Program, inputs: dict[str, Any]) -> AsyncIterator[Event | dspy.Prediction]:
    """The same as `stream` without blocking the event loop.

    Cancelling stops the question too, but does not wait for the calls that run.
    """
    running = _Running(program, inputs)
    try:
        while True:
            item = await asyncio.to_thread(running.take)
            yield item
            if isinstance(item, dspy.Prediction):
                return
    finally:
        running.stop.set()


async def in_thread(forward: Program, inputs: dict[str, Any]) -> dspy.Prediction:
    """Await `forward(**inputs)`; cancelling stops it: no further call is begun."""
    stop = Stop()
    with listening(stop):
        try:
            return await asyncio.to_thread(forward, **inputs)
        except asyncio.CancelledError:
            stop.set()
            raise
