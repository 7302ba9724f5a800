"""One policy for every LM call of the loop: what is sent, what counts as an answer, and what happens when none comes.

A reply that cannot be read (no JSON, a field missing, a letter that is no option) is asked for once more as a fresh
sample: another cache entry at temperature 1, since the same request would only replay the same reply. After that the
step has failed for good and raises `StepFailed`; the loop decides what to do without it. Transport errors and rate
limits were retried by DSPy's client before they arrive here.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import dspy
from dspy.utils.exceptions import (
    AdapterParseError,
    ContextWindowExceededError,
    LMAuthError,
    LMBillingError,
    LMConfigurationError,
    LMError,
    LMUnsupportedModelError,
)

from videohv.errors import InputError, VideoHVError
from videohv.lm.redact import without_keys
from videohv.modules.recorder import current
from videohv.types import Outcome, whole

T = TypeVar("T")

ATTEMPTS = 2

_HOPELESS = (LMAuthError, LMBillingError, LMConfigurationError, LMUnsupportedModelError)
# What reading a reply raises when it is nested without end, or holds a number or type that nobody has thought of.
_UNREADABLE = (RecursionError, ValueError, ArithmeticError, TypeError, LookupError, AttributeError)
# DSPy turns these markers inside any text into message parts or field boundaries; text from datasets must stay text.
_MARKERS = re.compile(r"<<\s*(CUSTOM-TYPE-(?:START|END)-IDENTIFIER)\s*>>|\[\[(\s*##)")
_SPACES = {"<<": "< <", "[[": "[ ["}


class Unusable(ValueError):
    """A reply that parsed but cannot be used; the message says why. Leads to a fresh sample."""


class StepFailed(VideoHVError):
    """A step failed for good.

    Attributes:
        step: The name of the step.
        outcome: How a question ends if it cannot do without this step.
        hopeless: True if every later call would fail in the same way (no key, unknown model).
    """

    def __init__(self, step: str, outcome: Outcome, why: str, hopeless: bool = False) -> None:
        super().__init__(f"{step}: {why}")
        self.step, self.outcome, self.why, self.hopeless = step, outcome, why, hopeless


def plain(text: str) -> str:
    """Text in which DSPy's own markers have been broken up, so that nothing in it can pose as an image or a field."""
    return _MARKERS.sub(lambda match: _SPACES[match.group()[:2]] + match.group()[2:], whole(text))


def ask(
    step: str,
    predictor: dspy.Predict,
    read: Callable[[dspy.Prediction], T],
    *,
    lm: dspy.BaseLM | None = None,
    **inputs: Any,
) -> T:
    """Call a predictor and read its prediction into a value of `videohv.types`.

    Args:
        step: Name for the ledger, the trace and errors.
        predictor: The agent.
        read: Turns the prediction into a value; raises `Unusable` when it can't.
        lm: Used instead of the configured one, unless the predictor has its own.
        **inputs: The signature's input fields. Text is cleaned of DSPy's markers.

    Raises:
        StepFailed: After the last attempt, or at once when no retry could help.
    """
    recorder = current()
    used = predictor.lm or lm or dspy.settings.lm
    if used is None:
        raise InputError("no language model is configured: call videohv.configure(lm=…) or dspy.configure(lm=…)")
    inputs = {name: plain(value) if isinstance(value, str) else value for name, value in inputs.items()}
    images = sum(len(value) for value in inputs.values() if isinstance(value, list))
    why = ""
    for attempt in range(ATTEMPTS):
        if recorder is not None:
            recorder.ensure_running()
        seed = recorder.settings.seed if recorder else 0
        fresh = {"rollout_id": seed * ATTEMPTS + attempt, "temperature": 1.0} if attempt else {}
        # A reply that is thrown away must not become a demonstration: each attempt has a trace of its own.
        trace: list[Any] | None = [] if dspy.settings.trace is not None else None
        try:
            with dspy.context(trace=trace):
                if recorder is None:
                    prediction = predictor(lm=used, config=fresh, **inputs)
                else:
                    with recorder.ledger.role(step, used, images=images):
                        prediction = predictor(lm=used, config=fresh, **inputs)
            value = read(prediction)
        except Unusable as error:
            why = f"the reply could not be used ({error})"
        except (AdapterParseError, *_UNREADABLE) as error:
            why = f"the reply could not be read ({_first_line(error, used)})"
        except ContextWindowExceededError as error:
            failure = f"the prompt is too long for the model: {_first_line(error, used)}"
            raise StepFailed(step, Outcome.LM_FAILED, failure) from error
        except LMError as error:
            failure = f"{type(error).__name__}: {_first_line(error, used)}"
            raise StepFailed(step, Outcome.LM_FAILED, failure, isinstance(error, _HOPELESS)) from error
        else:
            if trace and dspy.settings.trace is not None:
                dspy.settings.trace.extend(trace)
            return value
    raise StepFailed(step, Outcome.PARSE_FAILED, f"{why}, {ATTEMPTS} times")


def _first_line(error: Exception, lm: dspy.BaseLM) -> str:
    lines = [line.strip() for line in str(getattr(error, "message", "") or error).splitlines() if line.strip()]
    return without_keys(lines[0], lm)[:200] if lines else type(error).__name__
