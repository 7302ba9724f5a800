"""What programs and models say to each other, for whoever wants to listen: prompts as they leave, replies as they come.

DSPy's own callbacks are told of texts only, by each way to an LM differently, and not of a reply's tokens nor of where
it came from. `Caller` knows all of it, and every call of a program goes through one.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import dspy

from videohv.lm.reply import Reply

SETTING = "videohv_overhearing"
"""Kept among DSPy's settings, which DSPy hands on to the threads that it starts itself."""

_numbers = itertools.count(1)


class Asked(NamedTuple):
    """A prompt that is about to be sent, or to be looked up in the response cache.

    Args:
        number: Counts the calls of this process, from 1; the endings of a call have the same.
        role: Which step asks.
        lm: Which model is asked. What is shown to anybody goes through `without_keys(text, lm)`.
        messages: As for an OpenAI-compatible chat; pictures are data URIs in them.
    """

    number: int
    role: str
    lm: dspy.BaseLM
    messages: tuple[Any, ...]


class Ended(NamedTuple):
    """How an attempt at a call ended.

    Args:
        asked: The call.
        reply: What came; None if nothing did.
        cached: Whether it came out of the response cache.
        seconds: Since the prompt was told of, waiting included.
        failure: Why nothing came; empty if something did.
        again: Whether another attempt follows.
    """

    asked: Asked
    reply: Reply | None
    cached: bool
    seconds: float
    failure: str = ""
    again: bool = False


Listener = Callable[[Asked | Ended], None]


@contextmanager
def overhearing(listener: Listener) -> Iterator[None]:
    """Have `listener` told of every LM call of the programs that run inside the block, from whatever thread it is made.

    It is called in the thread of the call, several at once. What it raises ends the call.
    """
    with dspy.context(**{SETTING: (*_listeners(), listener)}):
        yield


class Call:
    """One call as its listeners are told of it; costs nothing where there are none.

    Args:
        role: Which step asks.
        lm: Which model is asked.
        messages: Gives what is sent.
    """

    def __init__(self, role: str, lm: dspy.BaseLM, messages: Callable[[], Sequence[Any]]) -> None:
        self._listeners = _listeners()
        self._began = time.perf_counter()
        self._asked: Asked | None = None
        if self._listeners:
            self._asked = Asked(next(_numbers), role, lm, tuple(messages()))
            self._tell(self._asked)

    def ended(self, reply: Reply | None, *, cached: bool) -> None:
        """Tell of a reply."""
        if self._asked is not None:
            self._tell(Ended(self._asked, reply, cached, time.perf_counter() - self._began))

    def failed(self, error: BaseException, reply: Reply | None = None, *, again: bool = False) -> None:
        """Tell of an attempt that failed."""
        if self._asked is not None:
            said = str(getattr(error, "message", "") or error).strip()
            failure = f"{type(error).__name__}: {said}" if said else type(error).__name__
            self._tell(Ended(self._asked, reply, False, time.perf_counter() - self._began, failure, again))

    def _tell(self, heard: Asked | Ended) -> None:
        for listener in self._listeners:
            listener(heard)


def _listeners() -> tuple[Listener, ...]:
    return tuple(dspy.settings.get(SETTING) or ())
