from __future__ import annotations

import time
from typing import Any

import pytest
from dspy.utils import exceptions as raised
from hypothesis import given
from hypothesis import strategies as st

from videohv.lm.faults import EmptyReply, FaultKind, Patience, fault_of, patience, patient, pause, was_sent


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (raised.LMRateLimitError("slow", status=429), FaultKind.LIMITED),
        (raised.LMServerError("busy", status=503), FaultKind.BUSY),
        (raised.LMServerError("busy", status=529), FaultKind.BUSY),
        (raised.LMServerError("broken", status=500), FaultKind.PASSING),
        (raised.LMServerError("bad gateway", status=502), FaultKind.PASSING),
        (raised.LMTimeoutError("late", status=504), FaultKind.PASSING),
        (raised.LMTransportError("reset"), FaultKind.PASSING),
        (raised.LMProviderError("not JSON", status=200), FaultKind.PASSING),
        (raised.LMProviderError("nothing known"), FaultKind.PASSING),
        (EmptyReply("the reply is empty"), FaultKind.PASSING),
        (raised.LMProviderError("gone", status=410), FaultKind.OTHER),
        (raised.LMInvalidRequestError("temperature?", status=400), FaultKind.OTHER),
        (raised.LMUnexpectedError("bug"), FaultKind.OTHER),
        (raised.LMUnsupportedFeatureError("no images"), FaultKind.OTHER),
        (raised.ContextWindowExceededError(), FaultKind.TOO_LONG),
        (raised.LMAuthError("no", status=401), FaultKind.HOPELESS),
        (raised.LMBillingError("no money", status=402), FaultKind.HOPELESS),
        (raised.LMNotConfiguredError("no key"), FaultKind.HOPELESS),
        (raised.LMUnsupportedModelError("which?", status=404), FaultKind.HOPELESS),
        (raised.LMInvalidRequestError("filtered", provider_code="content_filter", status=400), FaultKind.REFUSED),
        (raised.LMInvalidRequestError("x", provider_code="SAFETY"), FaultKind.REFUSED),
        (raised.LMInvalidRequestError("Prompt blocked: OTHER", provider_code="promptFeedback"), FaultKind.REFUSED),
        (raised.LMInvalidRequestError("ContentPolicyViolationError: rejected by our safety system"), FaultKind.REFUSED),
        (raised.LMAuthError("requires moderation and your input was flagged", status=403), FaultKind.REFUSED),
    ],
    ids=lambda value: getattr(value, "value", type(value).__name__),
)
def test_kinds(error: Any, kind: FaultKind) -> None:
    assert fault_of(error) is kind


def test_what_is_noticed_before_sending_is_no_call() -> None:
    assert not was_sent(raised.LMNotConfiguredError("no key"))
    assert not was_sent(raised.LMUnsupportedFeatureError("no images"))
    assert was_sent(raised.LMTransportError("reset"))


@given(st.integers(1, 10_000))
def test_a_delay_is_bounded_and_grows_in_its_bound(attempt: int) -> None:
    assert 0 <= Patience(first=0.5, most=8).delay(attempt) <= min(8, 0.5 * 2 ** min(attempt - 1, 10))


def test_delays_spread_out() -> None:
    delays = [Patience().delay(5) for _ in range(200)]
    assert min(delays) < 4 < 12 < max(delays)


def test_patience_is_that_of_the_block() -> None:
    assert patience() == Patience(longest=120.0)
    with patient(Patience(longest=1.0)):
        assert patience().longest == 1.0
    assert patience().longest == 120.0


def test_a_pause_can_be_ended() -> None:
    began = time.monotonic()

    def check() -> None:
        raise KeyError("stopped")

    with pytest.raises(KeyError):
        pause(60.0, check)
    assert time.monotonic() - began < 30
    pause(0.0, check)
