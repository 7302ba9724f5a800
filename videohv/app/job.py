"""One question on its way: where it stands, what has happened so far, and who watches.

Nothing here knows of HTTP.
"""

from __future__ import annotations

import secrets
import threading
import time
from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from videohv.errors import Cancelled, VideoHVError
from videohv.modules.recorder import Event, EventKind, Stop, listening
from videohv.types import Outcome, Trace, Value

_MOST_EVENTS = 5_000


class State(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    ANSWERED = "answered"
    ABSTAINED = "abstained"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def is_end(self) -> bool:
        """Whether nothing comes after it."""
        return self not in (State.QUEUED, State.RUNNING)


_STATES = {Outcome.ANSWERED: State.ANSWERED, Outcome.ABSTAINED: State.ABSTAINED}


class Asked(Value):
    """What a job is about, as its viewers see it.

    Args:
        question: The text.
        options: As given; empty for an open question.
        video: Id of the video among `Places`.
        name: File name of the video.
        method: Who answers.
    """

    question: str
    options: tuple[str, ...] = ()
    video: str = ""
    name: str = ""
    method: str = ""


class Step(NamedTuple):
    """An event of a job and its number, from 1; numbers of progress that was overtaken are left out."""

    number: int
    event: Event


class Job:
    """One question on its way. Safe to read from any thread.

    Attributes:
        id: Unguessable name.
        client: Who asked; empty for nobody in particular.
        asked: What it is about.
        created: Seconds since the epoch.
    """

    def __init__(
        self,
        asked: Asked,
        client: str,
        work: Callable[[], Trace],
        on_end: Callable[[Job], None] = lambda job: None,
    ) -> None:
        self.id = secrets.token_urlsafe(12)
        self.asked, self.client = asked, client
        self.created = time.time()
        self.stop = Stop()
        self._work, self._on_end = work, on_end
        self._lock = threading.Lock()
        self._state, self._error = State.QUEUED, ""
        self._ending: State | None = None
        self._trace: Trace | None = None
        self._steps: list[Step] = []
        self._numbers = 0
        self._began = self._seconds = 0.0
        self._watchers: list[Callable[[], None]] = []

    @property
    def state(self) -> State:
        """Where it stands."""
        return self._state

    @property
    def ending(self) -> State:
        """How it ends, already while that is being kept; before that, where it stands."""
        return self._ending or self._state

    @property
    def trace(self) -> Trace | None:
        """What happened, once it has ended by itself."""
        return self._trace

    @property
    def error(self) -> str:
        """Why there is no answer, or empty."""
        return self._error

    @property
    def seconds(self) -> float:
        """How long it has run, or ran."""
        return time.monotonic() - self._began if self.ending is State.RUNNING else self._seconds

    @property
    def events(self) -> int:
        """Number of the last step, 0 before the first."""
        return self._numbers

    def steps(self, after: int = 0) -> list[Step]:
        """What happened after the step of a number, in order."""
        with self._lock:
            return [step for step in self._steps if step.number > after]

    def watch(self, call: Callable[[], None]) -> Callable[[], None]:
        """Have `call` called, from any thread, at each change. Returns what ends it."""
        with self._lock:
            self._watchers.append(call)

        def end() -> None:
            with self._lock:
                if call in self._watchers:
                    self._watchers.remove(call)

        return end

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until it has ended; False if that took longer than `timeout` seconds."""
        changed = threading.Event()
        end = self.watch(changed.set)
        until = time.monotonic() + timeout if timeout is not None else None
        try:
            while not self._state.is_end:
                changed.wait(None if until is None else max(0.0, until - time.monotonic()))
                if until is not None and time.monotonic() >= until:
                    return self._state.is_end
                changed.clear()
            return True
        finally:
            end()

    def begin(self) -> None:
        """It has a place now; nothing happens if it was stopped before."""
        with self._lock:
            if self.ending is State.QUEUED:
                self._state, self._began = State.RUNNING, time.monotonic()
        self.tell()

    def run(self) -> bool:
        """Do the work in this thread and note how it ended; False if that was decided meanwhile."""
        try:
            with listening(self.stop), listening(self._add):
                trace = self._work()
        except Cancelled:
            return self.end(State.CANCELLED, "stopped")
        except VideoHVError as error:
            return self.end(State.FAILED, str(error))
        except BaseException as error:
            # A fault of the program: its text may hold anything, so only its kind is shown.
            return self.end(State.FAILED, f"the program failed with {type(error).__name__}; this is a fault in it")
        return self.end(_STATES.get(trace.outcome, State.FAILED), trace.error, trace)

    def end(self, state: State, error: str = "", trace: Trace | None = None) -> bool:
        """Note how it ended; the first one to say so decides. False if it had ended before.

        Whoever sees that it has ended can rely on `on_end` having been called.
        """
        with self._lock:
            if self._ending is not None:
                return False
            if self._state is State.RUNNING:
                self._seconds = time.monotonic() - self._began
            self._ending, self._error, self._trace = state, error, trace
        self.stop.set()
        self._on_end(self)
        with self._lock:
            self._state = state
        self.tell()
        return True

    def _add(self, event: Event) -> None:
        with self._lock:
            if self._ending is not None:
                return
            if event.kind is EventKind.PROGRESS and self._steps and self._steps[-1].event.kind is EventKind.PROGRESS:
                # Only how far it is now matters; the numbers go on, so that whoever watches gets the new one.
                self._steps.pop()
            if len(self._steps) < _MOST_EVENTS:
                self._numbers += 1
                self._steps.append(Step(self._numbers, event))
        self.tell()

    def tell(self) -> None:
        """Call those who watch: something that they show of it may have changed."""
        with self._lock:
            watchers = tuple(self._watchers)
        for call in watchers:
            call()
