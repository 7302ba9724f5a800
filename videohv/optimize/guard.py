"""The circuit breaker of a compile: it stops when going on would only spend money, and says why.

DSPy turns every ordinary exception into a score of 0 and goes on. So what is raised here inside of DSPy is no
`Exception` (`Tripped`); `videohv.optimize.learner.border` turns it into `CompileStopped` where DSPy ends.
"""

from __future__ import annotations

import contextvars
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from typing import Self

from dspy.utils.exceptions import LMError
from pydantic import Field

from videohv.errors import Cancelled, OptimizerFailed, VideoHVError
from videohv.lm.budget import Budget, OverBudget, budgets, spending
from videohv.lm.faults import FaultKind, fault_of, patience, patient
from videohv.lm.usage import Ledger
from videohv.modules.program import VideoProgram
from videohv.modules.recorder import Stop, listeners, listening
from videohv.optimize.task import Trial
from videohv.types import Outcome, Share, Trace, Value

_GOOD = (Outcome.ANSWERED, Outcome.ABSTAINED)
_OUTAGE = (FaultKind.LIMITED, FaultKind.BUSY, FaultKind.PASSING, FaultKind.HOPELESS)
# What `StepFailed` says of faults that are those of the prompt and not of the server.
_OF_THE_PROMPT = ("the prompt is too long", "refused to answer")


class Reason(StrEnum):
    """Why a compile stopped.

    * `outage`: a model gave no reply for several questions in a row, or none to the optimizer itself;
    * `hopeless`: every later call would fail in the same way: no key, no such model, wrong settings;
    * `failures`: too large a share of the questions failed;
    * `budget`: nothing is left of the calls, tokens or money that it may use;
    * `metric`: the metric cannot score the examples;
    * `interrupted`: the user stopped it.
    """

    OUTAGE = "outage"
    HOPELESS = "hopeless"
    FAILURES = "failures"
    BUDGET = "budget"
    METRIC = "metric"
    INTERRUPTED = "interrupted"


class CompileStopped(OptimizerFailed):
    """An optimizer was stopped before its end.

    Attributes:
        reason: Why.
        best: The best program that was scored on all examples to choose by, with no model bound to it; where none was
            scored, the one that was under way; None if there is none.
        trial: How `best` was scored; None if it was not.
    """

    def __init__(self, reason: Reason, why: str, best: VideoProgram | None = None, trial: Trial | None = None) -> None:
        super().__init__(f"the compile was stopped: {why}")
        self.reason, self.why, self.best, self.trial = reason, why, best, trial


class Tripped(BaseException):
    """The guard has tripped. Not an `Exception`, since DSPy swallows those."""


class GuardLimits(Value):
    """When a compile is stopped.

    Args:
        outage: Questions in a row in which a role got no reply at all. Those answered out of the cache do not count.
        failed: Share of failed questions, of all that were asked so far.
        after: Questions to be asked before that share counts.
    """

    outage: int = Field(default=5, ge=1)
    failed: Share = 0.5
    after: int = Field(default=10, ge=1)


class Guard:
    """Watches every question of a compile, from whatever thread, and every call of the optimizers' own.

    Args:
        limits: When to stop.

    Attributes:
        ledger: What the optimizers' own calls (instructions, reflections) spent.
        questions: How many were asked.
        failures: How many of them failed.
    """

    def __init__(self, limits: GuardLimits | None = None) -> None:
        self.limits = limits or GuardLimits()
        self.ledger = Ledger()
        self.questions = self.failures = 0
        self._silent: Counter[str] = Counter()
        self._why: tuple[Reason, str] | None = None
        self._lock = threading.Lock()
        self._budgets: tuple[Budget, ...] = ()
        self._patience = patience()
        self._stop = _Stop(self)

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        # DSPy copies programs at every turn; all copies are under one guard.
        return self

    @property
    def why(self) -> tuple[Reason, str] | None:
        """Reason and words, once it has tripped."""
        return self._why

    def check(self) -> None:
        """Go on only if nothing is wrong.

        Raises:
            Tripped: Once it has tripped, always.
        """
        if self._why is not None:
            raise Tripped(self._why[1])

    def trip(self, reason: Reason, why: str) -> None:
        """Stop the compile, at the next `check` of each thread. The first reason stays."""
        with self._lock:
            self._why = self._why or (reason, why)

    def saw(self, trace: Trace) -> None:
        """Take note of a question that has ended.

        Raises:
            Tripped: If it is one too many.
        """
        replied = {row.role for row in trace.usage if row.calls > row.failed_calls}
        silent = _silent(trace)
        with self._lock:
            for role in replied:
                del self._silent[role]
            for role in silent.keys() - replied:
                self._silent[role] += 1
            dead = next((role for role, count in self._silent.items() if count >= self.limits.outage), None)
        if trace.outcome is Outcome.OVER_BUDGET:
            self.trip(Reason.BUDGET, trace.error)
        elif dead is not None and dead in silent:
            self.trip(
                Reason.OUTAGE, f"{dead} got no reply for {self.limits.outage} questions in a row; last {silent[dead]}"
            )
        self._count(trace.outcome not in _GOOD, trace.error)

    def crashed(self, error: Exception) -> None:
        """Take note of a question that ended in an exception.

        Raises:
            Tripped: If it is one too many, or says that no other question could do better.
        """
        if isinstance(error, Cancelled):
            self.trip(Reason.INTERRUPTED, str(error))
        elif isinstance(error, OverBudget):
            self.trip(Reason.BUDGET, str(error))
        elif isinstance(error, VideoHVError):
            self.trip(Reason.HOPELESS, str(error))
        self._count(True, f"{type(error).__name__}: {_line(error)}")

    def fault(self, error: BaseException | None) -> None:
        """Take note of how any LM call ended; trips where all later ones would end like this."""
        if isinstance(error, LMError) and fault_of(error) is FaultKind.HOPELESS:
            self.trip(Reason.HOPELESS, f"{type(error).__name__}: {_line(error)}")

    def lost(self, error: LMError, model: str) -> None:
        """Take note that the optimizer's own call failed for good; a prompt that does not fit or is refused is its own.

        Raises:
            Tripped: If the model is not there.
        """
        if fault_of(error) in _OUTAGE:
            why = f"{model}, which writes the prompts, gave no reply: {type(error).__name__}: {_line(error)}"
            self.trip(Reason.HOPELESS if fault_of(error) is FaultKind.HOPELESS else Reason.OUTAGE, why)
            self.check()

    @contextmanager
    def watching(self) -> Iterator[Self]:
        """Keep the budgets and the patience of the caller, for all threads that DSPy starts while the block runs."""
        self._budgets, self._patience = budgets(), patience()
        token = _guard.set(self)
        try:
            yield self
        finally:
            _guard.reset(token)

    @contextmanager
    def inside(self) -> Iterator[None]:
        """In a thread of DSPy's: calls are paid from the compile's budgets, and stop soon after the guard has tripped.

        DSPy hands its settings on to its threads, and nothing else.
        """
        self.check()
        with ExitStack() as stack:
            for budget in self._budgets:
                if budget not in budgets():
                    stack.enter_context(spending(budget))
            stack.enter_context(patient(self._patience))
            if self._stop not in listeners():
                stack.enter_context(listening(self._stop))
            yield

    def _count(self, failed: bool, why: str) -> None:
        with self._lock:
            self.questions += 1
            self.failures += failed
            asked, lost = self.questions, self.failures
        if failed and asked >= self.limits.after and lost > self.limits.failed * asked:
            self.trip(Reason.FAILURES, f"{lost} of {asked} questions failed, the last with: {why}")
        self.check()


class _Stop(Stop):
    """Ends running questions at their next step."""

    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    def check(self) -> None:
        """See `Guard.check`."""
        self._guard.check()


_guard: contextvars.ContextVar[Guard | None] = contextvars.ContextVar("videohv_guard", default=None)


@contextmanager
def guarding(guard: Guard) -> Iterator[Guard]:
    """Have the optimizers inside the block watched by this guard instead of one of their own each."""
    token = _guard.set(guard)
    try:
        yield guard
    finally:
        _guard.reset(token)


def current_guard() -> Guard | None:
    """The guard of this context."""
    return _guard.get()


def _silent(trace: Trace) -> dict[str, str]:
    """Roles none of whose calls was answered, and why; what the prompt is to blame for is left out."""
    reasons = {item.step: f"{item.step}: {item.why}" for item in trace.degraded}
    if trace.outcome is Outcome.LM_FAILED:
        reasons[trace.error.partition(":")[0]] = trace.error
    return {
        row.role: reasons[row.role]
        for row in trace.usage
        if row.role in reasons
        and row.failed_calls >= max(1, row.calls)
        and not any(said in reasons[row.role] for said in _OF_THE_PROMPT)
    }


def _line(error: BaseException) -> str:
    lines = str(getattr(error, "message", "") or error).strip().splitlines()
    return lines[0][:200] if lines else ""
