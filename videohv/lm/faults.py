"""What goes wrong with a call on the way, in the kinds that are treated differently; and how long to wait for it."""

from __future__ import annotations

import contextvars
import random
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum

from dspy.utils.exceptions import (
    ContextWindowExceededError,
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMError,
    LMInvalidRequestError,
    LMLockTimeoutError,
    LMProviderError,
    LMRateLimitError,
    LMServerError,
    LMTimeoutError,
    LMTransportError,
    LMUnsupportedFeatureError,
    LMUnsupportedModelError,
)
from pydantic import Field

from videohv.types import Seconds, Value

LIMITED_PATIENCE = 5
"""Rate limits are tried again this many times as often as other faults: they pass by themselves."""

_OVERLOADED = {503, 529}
_REFUSAL = re.compile(
    r"content[ _-]?(?:filter|policy|management)|safety (?:system|filter)|responsible[ _]?ai"
    r"|(?:prompt|candidate) blocked|promptFeedback|data_inspection_failed|requires moderation|flagged"
    r"|prohibited[ _]content|^(?:IMAGE_)?SAFETY$|^RECITATION$|^BLOCKLIST$|^SPII$",
    re.IGNORECASE,
)


class FaultKind(StrEnum):
    """Kinds of faults.

    * `limited`: the server takes no more for now (429); `busy`: it is overloaded (503, 529).
    * `passing`: the next attempt may well succeed: 5xx, a lost connection, a timeout, a body that is no reply.
    * `refused`: a content filter; `too_long`: the prompt does not fit.
    * `hopeless`: every later call would fail in the same way: no key, no money, no such model.
    * `other`: this request will not do.
    """

    LIMITED = "limited"
    BUSY = "busy"
    PASSING = "passing"
    REFUSED = "refused"
    TOO_LONG = "too_long"
    HOPELESS = "hopeless"
    OTHER = "other"


class EmptyReply(LMProviderError):
    """A reply with nothing in it."""


def fault_of(error: LMError) -> FaultKind:
    """The kind of a fault."""
    if isinstance(error, ContextWindowExceededError):
        return FaultKind.TOO_LONG
    if isinstance(error, LMInvalidRequestError | LMAuthError) and _is_refusal(error):
        return FaultKind.REFUSED
    if isinstance(error, LMAuthError | LMBillingError | LMConfigurationError | LMUnsupportedModelError):
        return FaultKind.HOPELESS
    if isinstance(error, LMRateLimitError):
        return FaultKind.LIMITED
    if isinstance(error, LMServerError):
        return FaultKind.BUSY if error.status in _OVERLOADED else FaultKind.PASSING
    if isinstance(error, LMTimeoutError | LMTransportError | LMLockTimeoutError | EmptyReply):
        return FaultKind.PASSING
    # Nothing more special than this is what DSPy makes of a body that is not a reply.
    if type(error) is LMProviderError and (error.status is None or 200 <= error.status < 300):
        return FaultKind.PASSING
    return FaultKind.OTHER


def was_sent(error: LMError) -> bool:
    """Whether the call left this process; a missing key or an impossible setting is noticed before."""
    return not isinstance(error, LMConfigurationError | LMUnsupportedFeatureError)


def _is_refusal(error: LMError) -> bool:
    said = (error.provider_code, error.message)
    return any(_REFUSAL.search(str(text)) for text in said if text)


class Patience(Value):
    """How long to wait for a server.

    Args:
        longest: Seconds that a server may ask to be left alone (`Retry-After`); the call fails if it asks for more.
        first: Seconds before the second attempt at most; doubled with each further one.
        most: Seconds before any attempt at most, unless the server asks for more.
    """

    longest: Seconds = 120.0
    first: Seconds = 1.0
    most: Seconds = Field(default=60.0)

    def delay(self, attempt: int) -> float:
        """Seconds to wait after so many failed attempts, at random up to the bound, so that callers spread out."""
        return random.uniform(0.0, min(self.most, self.first * 2.0 ** min(attempt - 1, 30)))


_patience: contextvars.ContextVar[Patience] = contextvars.ContextVar("videohv_patience", default=Patience())  # noqa: B039


def patience() -> Patience:
    """The patience of this context."""
    return _patience.get()


@contextmanager
def patient(value: Patience) -> Iterator[None]:
    """Have the calls inside the block wait as this says."""
    token = _patience.set(value)
    try:
        yield
    finally:
        _patience.reset(token)


def pause(seconds: float, check: Callable[[], None]) -> None:
    """Wait, calling `check` now and then; an exception of it ends the wait."""
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        time.sleep(min(left, 0.25))
        check()
