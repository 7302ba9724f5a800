"""How far a compile has come, told to whoever shows it."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from videohv.evaluate.runner import Progress as Scored
from videohv.lm.budget import Budget
from videohv.optimize.run.forecast import Forecast
from videohv.optimize.task import Trial
from videohv.types import Value

EVERY = 1.0
"""Seconds between two looks at what was spent."""


class Phase(StrEnum):
    """What a compile does, in this order."""

    PREFLIGHT = "preflight"
    OPTIMISE = "optimise"
    SCORE_SEED = "score the seed"
    SCORE_COMPILED = "score the compiled program"


class Progress(Value):
    """How far a compile has come.

    Args:
        phase: What it does.
        doing: What exactly, in a few words; may be empty.
        trials: Candidates scored so far.
        trial: The latest one.
        scored: Of a scoring.
        calls: LM calls of all sittings.
        tokens: Likewise.
        cost: Likewise, US dollars as far as prices are known.
        seconds: Of this sitting.
        left: Seconds that are left at most, by what it took so far; None before anything is known.
    """

    phase: Phase
    doing: str = ""
    trials: int = 0
    trial: Trial | None = None
    scored: Scored | None = None
    calls: int = 0
    tokens: int = 0
    cost: float = 0.0
    seconds: float = 0.0
    left: float | None = None


class Watch:
    """Keeps the progress of a compile and tells of it, at each step and once a second.

    Args:
        tell: Called with each progress, from several threads but never twice at once.
        budget: Of the compile.
    """

    def __init__(self, tell: Callable[[Progress], None], budget: Budget) -> None:
        self._tell, self._budget = tell, budget
        self._lock = threading.RLock()
        self._began = time.monotonic()
        self._phase, self._phase_began = Phase.PREFLIGHT, self._began
        self._doing = ""
        self._trials: list[Trial] = []
        self._scored: Scored | None = None
        self._expected: Forecast | None = None
        self._calls_before = budget.spent.calls
        self._ended = threading.Event()

    @property
    def trials(self) -> tuple[Trial, ...]:
        """All candidates that were scored in this sitting."""
        with self._lock:
            return tuple(self._trials)

    @property
    def seconds(self) -> float:
        """Of this sitting."""
        return time.monotonic() - self._began

    def expect(self, expected: Forecast) -> None:
        """Say what the whole will take."""
        self._expected = expected

    @contextmanager
    def phase(self, phase: Phase) -> Iterator[None]:
        """Be in a phase while the block runs."""
        with self._lock:
            self._phase, self._phase_began, self._doing, self._scored = phase, time.monotonic(), "", None
            self._calls_before = self._budget.spent.calls
        self._ended.clear()
        ticking = threading.Thread(target=self._tick, name="videohv-progress", daemon=True)
        self._emit()
        ticking.start()
        try:
            yield
        finally:
            self._ended.set()
            ticking.join()
            self._emit()

    def doing(self, what: str) -> None:
        """Say what is done at the moment."""
        self._doing = what
        self._emit()

    def tried(self, trial: Trial) -> None:
        """A candidate was scored."""
        with self._lock:
            self._trials.append(trial)
        self._emit()

    def scored(self, progress: Scored) -> None:
        """A question of the test part was asked."""
        self._scored = progress
        self._emit()

    def _tick(self) -> None:
        while not self._ended.wait(EVERY):
            self._emit()

    def _emit(self) -> None:
        with self._lock:
            self._tell(self._now())

    def _now(self) -> Progress:
        spent = self._budget.spent
        return Progress(
            phase=self._phase,
            doing=self._doing,
            trials=len(self._trials),
            trial=self._trials[-1] if self._trials else None,
            scored=self._scored,
            calls=int(spent.calls),
            tokens=int(spent.tokens),
            cost=spent.cost,
            seconds=self.seconds,
            left=self._left(),
        )

    def _left(self) -> float | None:
        """By the share of trials or questions that are done; by calls where no optimizer says how many there are."""
        took = time.monotonic() - self._phase_began
        if self._phase in (Phase.SCORE_SEED, Phase.SCORE_COMPILED):
            return self._scored.left if self._scored is not None else None
        if self._phase is not Phase.OPTIMISE or self._expected is None:
            return None
        trial = self._trials[-1] if self._trials else None
        if trial is not None and trial.of:
            share = min(1.0, trial.number / trial.of)
        else:
            share = min(1.0, (self._budget.spent.calls - self._calls_before) / max(1, self._expected.calls))
        return took * (1 - share) / share if share > 0 else None
