"""One gate for each server: who may send now, in the order of arrival.

Nothing is held back until a server refuses a call (429, or 503 and 529 when it is overloaded); see `videohv.lm.pacer`.
A call takes a place only while it is sent, never while it waits or backs off, so calls within calls cannot block each
other.
"""

from __future__ import annotations

import math
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import dspy
from dspy import lm15

from videohv.errors import InputError
from videohv.lm.about import without_login
from videohv.lm.pacer import Pacer

LONG = 10.0
"""Seconds of waiting after which the user is told."""

_POLL = 0.25

_lock = threading.Lock()
_gates: dict[str, Gate] = {}
_cap = math.inf


def limit(calls: int | None) -> None:
    """Set how many calls may be under way to any one server, for this process.

    Args:
        calls: At least 1; None is as many as there are.

    Raises:
        InputError: If it is less than 1.
    """
    global _cap
    if calls is not None and calls < 1:
        raise InputError(f"{calls} calls at a time: at least 1 is needed")
    _cap = math.inf if calls is None else float(calls)


def gate_for(lm: dspy.BaseLM) -> Gate:
    """The gate of the server that an LM is on; LMs on one server share it."""
    server = server_of(lm)
    with _lock:
        if server not in _gates:
            _gates[server] = Gate(server)
        return _gates[server]


def forget() -> None:
    """Forget what was learned of every server. Calls that are under way are not disturbed."""
    with _lock:
        _gates.clear()


def server_of(lm: dspy.BaseLM) -> str:
    """Provider and address of an LM, without a key: what its rate limits belong to."""
    provider = str(lm.model).partition("/")[0]
    engine = getattr(lm, "engine", "auto")
    if not isinstance(engine, str):
        return f"{provider} in this process ({type(engine).__name__} {id(engine):x})"
    address = lm.kwargs.get("api_base") or lm.kwargs.get("base_url") or _declared(provider)
    return f"{provider} at {without_login(str(address))}" if address else provider


def _declared(provider: str) -> str:
    for binding in lm15.registered_providers():
        definition = binding.definition
        if definition.id == provider:
            return str(definition.access.base_url)
    return ""


class Slot:
    """A place among the calls under way; says how its call came back. Without word it counts as lost."""

    def __init__(self, pacer: Pacer, sent_at: float) -> None:
        self._pacer, self._sent_at = pacer, sent_at
        self._back: Callable[[float], None] = pacer.lost

    def answered(self) -> None:
        """The server answered."""
        self._back = self._pacer.answered

    def refused(self, retry_after: float | None) -> None:
        """The server refused it as one too many; `retry_after` in seconds if it said so."""
        self._back = lambda now: self._pacer.refused(self._sent_at, now, retry_after)

    def leave(self, now: float) -> None:
        """Give the place back."""
        self._back(now)


class Gate:
    """Lets calls to one server through.

    Args:
        server: Its name, for messages.
        clock: A steady clock in seconds.
    """

    def __init__(self, server: str = "", clock: Callable[[], float] = time.monotonic) -> None:
        self.server = server
        self.pacer = Pacer()
        self._clock = clock
        self._lock = threading.Lock()
        self._queue: deque[threading.Event] = deque()

    @contextmanager
    def slot(
        self, check: Callable[[], None] = lambda: None, tell: Callable[[float], None] = lambda seconds: None
    ) -> Iterator[Slot]:
        """Wait for a place and hold it while the block runs.

        Args:
            check: Called now and then while waiting; an exception of it ends the wait.
            tell: Called once with the seconds waited so far, when they are more than `LONG`.
        """
        slot = Slot(self.pacer, self._enter(check, tell))
        try:
            yield slot
        finally:
            with self._lock:
                slot.leave(self._clock())
                self._wake()

    def _enter(self, check: Callable[[], None], tell: Callable[[float], None]) -> float:
        began, told = self._clock(), False
        with self._lock:
            if not self._queue and not self.pacer.wait(began, _cap):
                self.pacer.sent(began)
                return began
            ticket = threading.Event()
            self._queue.append(ticket)
        try:
            while True:
                with self._lock:
                    now = self._clock()
                    wait = self.pacer.wait(now, _cap) if self._queue[0] is ticket else math.inf
                    if not wait:
                        self.pacer.sent(now)
                        return now
                ticket.wait(min(wait, _POLL))
                ticket.clear()
                check()
                if not told and now - began > LONG:
                    told = True
                    tell(now - began)
        finally:
            with self._lock:
                self._queue.remove(ticket)
                self._wake()

    def _wake(self) -> None:
        if self._queue:
            self._queue[0].set()
