"""What happens while a question runs: the events that listeners see, and the trace that is left at the end.

One `Recorder` lives for one question. Modules reach it through a context variable, so that a step deep inside (a
piece of a long summary, one window of a look) can say what it had to do without, from whatever thread it runs in.
"""

from __future__ import annotations

import contextvars
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Any

from videohv.errors import Cancelled
from videohv.lm.usage import Ledger
from videohv.modules.settings import MethodSettings
from videohv.types import (
    Answer,
    CaptionInfo,
    Check,
    Degradation,
    Draft,
    Evidence,
    Look,
    Outcome,
    Question,
    Round,
    Segment,
    Status,
    Trace,
    Value,
    VideoInfo,
    Window,
)
from videohv.video import Video


class EventKind(StrEnum):
    """The steps of the loop, as a listener sees them."""

    PROGRESS = "progress"
    CAPTIONS = "captions"
    SPEECH = "speech"
    SUMMARY = "summary"
    OPTIONS = "options"
    HYPOTHESES = "hypotheses"
    WINDOWS = "windows"
    EVIDENCE = "evidence"
    CHECK = "check"
    ANSWER = "answer"
    DEGRADED = "degraded"
    WARNING = "warning"


class Progress(Value):
    """How far a long step has come."""

    step: str
    done: int
    total: int


Payload = (
    Progress
    | CaptionInfo
    | Draft
    | Evidence
    | Check
    | Answer
    | Question
    | Degradation
    | tuple[Segment, ...]
    | tuple[Window, ...]
    | str
)


class Event(Value):
    """One finished step.

    Args:
        kind: Which step.
        value: What it made, in the same value that the trace holds.
        round: The outer pass, from 1; 0 before the first.
        look: The evidence collection within the round, from 1; 0 outside one.
        seconds: Since the question began.
    """

    kind: EventKind
    value: Payload
    round: int = 0
    look: int = 0
    seconds: float = 0.0


Listener = Callable[[Event], None]


class Recorder:
    """Collects what a question does and passes each step on to the listeners."""

    def __init__(
        self,
        question: Question,
        settings: MethodSettings,
        listeners: tuple[Listener, ...] = (),
        method: str = "videohv",
    ) -> None:
        self.method = method
        self.question = question
        self.settings = settings
        self.ledger = Ledger()
        self.video: VideoInfo | None = None
        self.captions: CaptionInfo | None = None
        self.speech: CaptionInfo | None = None
        self.summary: tuple[Segment, ...] = ()
        self.rounds: list[Round] = []
        self._listeners = listeners
        self._began = time.perf_counter()
        self._degraded: list[Degradation] = []
        self._warnings: list[str] = []
        self._watched: Video | None = None
        self._lock = threading.Lock()
        self._looks = 0

    def emit(self, kind: EventKind, value: Payload) -> None:
        """Tell every listener of a finished step. A listener stops the question by raising `Cancelled`."""
        if self._listeners:
            event = Event(kind=kind, value=value, round=len(self.rounds), look=self._looks, seconds=self.seconds)
            for listener in self._listeners:
                listener(event)

    def ensure_running(self) -> None:
        """Raise `Cancelled` if a `Stop` among the listeners was set."""
        for listener in self._listeners:
            if isinstance(listener, Stop):
                listener.check()

    def degrade(self, step: str, why: str) -> None:
        """Record that a step failed for good and that the question goes on without it."""
        with self._lock:
            self._degraded.append(degradation := Degradation(step=step, why=why))
        self.emit(EventKind.DEGRADED, degradation)

    def warn(self, message: str) -> None:
        """Record something worth knowing that did not hinder the question; each message once."""
        with self._lock:
            if message in self._warnings:
                return
            self._warnings.append(message)
        self.emit(EventKind.WARNING, message)

    def watch(self, video: Video) -> None:
        """Record which video it is, with its warnings now and those that reading it will have added by the end."""
        self.video, self._watched = video.info, video
        self._warn_of_video()

    def _warn_of_video(self) -> None:
        for warning in self._watched.warnings if self._watched is not None else ():
            self.warn(warning)

    def begin_round(self) -> None:
        """Open the next outer pass."""
        self.rounds.append(Round(drafts=()))
        self._looks = 0

    def add_draft(self, draft: Draft) -> None:
        """Add hypotheses (and their clue) to the open round."""
        last = self.rounds[-1]
        self.rounds[-1] = last.model_copy(update={"drafts": (*last.drafts, draft)})
        self.emit(EventKind.HYPOTHESES, draft)

    def begin_look(self, windows: tuple[Window, ...]) -> None:
        """Open the next evidence collection of the open round."""
        self._looks += 1
        last = self.rounds[-1]
        self.rounds[-1] = last.model_copy(update={"looks": (*last.looks, Look(windows=windows, evidence=()))})
        self.emit(EventKind.WINDOWS, windows)

    def add_evidence(self, evidence: tuple[Evidence, ...]) -> None:
        """Add what the open look has seen."""
        self._change_look(evidence=evidence)
        for item in evidence:
            self.emit(EventKind.EVIDENCE, item)

    def add_check(self, check: Check) -> None:
        """Add what the check made of the open look."""
        self._change_look(check=check)
        self.emit(EventKind.CHECK, check)

    def _change_look(self, **changes: Any) -> None:
        last = self.rounds[-1]
        looks = (*last.looks[:-1], last.looks[-1].model_copy(update=changes))
        self.rounds[-1] = last.model_copy(update={"looks": looks})

    @property
    def position(self) -> tuple[int, int]:
        """The open round and look, counted from 1."""
        return len(self.rounds), self._looks

    @property
    def evidence(self) -> tuple[Evidence, ...]:
        """All evidence so far."""
        return tuple(e for r in self.rounds for look in r.looks for e in look.evidence)

    @property
    def seconds(self) -> float:
        """Seconds since the question began."""
        return time.perf_counter() - self._began

    @property
    def status(self) -> Status | None:
        """The status of the latest check, if there was one."""
        checks = [look.check for r in self.rounds for look in r.looks if look.check]
        return checks[-1].status if checks else None

    def trace(self, outcome: Outcome, answer: Answer | None = None, error: str = "") -> Trace:
        """Everything so far as a frozen value."""
        self._warn_of_video()
        return Trace(
            method=self.method,
            question=self.question,
            outcome=outcome,
            answer=answer,
            status=self.status,
            video=self.video,
            captions=self.captions,
            speech=self.speech,
            summary=self.summary,
            rounds=tuple(self.rounds),
            degraded=tuple(self._degraded),
            warnings=tuple(self._warnings),
            error=error,
            settings=self.settings.model_dump(mode="json"),
            usage=self.ledger.by_role(),
            seconds=self.seconds,
        )


_current: contextvars.ContextVar[Recorder | None] = contextvars.ContextVar("videohv_recorder", default=None)
_listening: contextvars.ContextVar[tuple[Listener, ...]] = contextvars.ContextVar("videohv_listeners", default=())


def current() -> Recorder | None:
    """The recorder of the question that runs in this context."""
    return _current.get()


@contextmanager
def recording(recorder: Recorder) -> Iterator[Recorder]:
    """Make `recorder` the current one."""
    token = _current.set(recorder)
    try:
        with recorder.ledger.recording():
            yield recorder
    finally:
        _current.reset(token)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have `listener` called with every `Event` of the questions that run inside the block, as each step ends."""
    token = _listening.set((*_listening.get(), listener))
    try:
        yield
    finally:
        _listening.reset(token)


def listeners() -> tuple[Listener, ...]:
    """The listeners of this context."""
    return _listening.get()


class Stop:
    """A listener that ends a running question once `set` was called: no further LM call is begun."""

    def __init__(self) -> None:
        self._stopped = threading.Event()

    def set(self) -> None:
        """Ask the question to stop."""
        self._stopped.set()

    def check(self) -> None:
        """Raise `Cancelled` if the question was asked to stop."""
        if self._stopped.is_set():
            raise Cancelled("stopped by the caller")

    def __call__(self, event: Event) -> None:
        """As `check`."""
        self.check()
