"""One policy for every LM call of a program: what is sent, what counts as an answer, and what happens when none comes.

Between a step and a reply that can be used there are two loops. The inner one (`videohv.lm.call`) gets a reply at all:
faults of the wire and rate limits are waited for and tried again there, in the server's own time and within the
budgets. The outer one, here, gets a reply that can be used: of one that cannot be read, is cut off or refused another
is asked for, never in the same words (`videohv.modules.tries`). After that the step has failed for good and raises
`StepFailed`; the program decides what to do without it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, TypeVar

import dspy
from dspy.utils.exceptions import AdapterParseError, LMError

from videohv.errors import InputError, VideoHVError
from videohv.lm.budget import OverBudget
from videohv.lm.call import Caller
from videohv.lm.faults import FaultKind, fault_of
from videohv.lm.pace import LONG
from videohv.lm.redact import without_keys
from videohv.lm.reply import Finish
from videohv.lm.roles import lm_for
from videohv.lm.usage import Ledger
from videohv.modules.failures import StepFailed, TooLong, Unusable
from videohv.modules.recorder import current
from videohv.modules.tries import ATTEMPTS, Ending, Tries
from videohv.types import Outcome, whole

__all__ = ["ATTEMPTS", "StepFailed", "TooLong", "Unusable", "ask", "plain"]

T = TypeVar("T")

# What reading a reply raises when it is nested without end, or holds a number or type that nobody has thought of.
_UNREADABLE = (RecursionError, ValueError, ArithmeticError, TypeError, LookupError, AttributeError)
# DSPy turns these markers inside any text into message parts or field boundaries; text from datasets must stay text.
_MARKERS = re.compile(r"<<\s*(CUSTOM-TYPE-(?:START|END)-IDENTIFIER)\s*>>|\[\[(\s*##)")
_SPACES = {"<<": "< <", "[[": "[ ["}


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
        step: Name for the ledger, the trace and errors, and of the role whose model is used.
        predictor: The agent.
        read: Turns the prediction into a value; raises `Unusable` when it can't.
        lm: Used instead of the configured one, unless the predictor or the role has its own.
        **inputs: The signature's input fields. Text is cleaned of DSPy's markers.

    Raises:
        StepFailed: After the last attempt, or at once when no retry could help; `TooLong` if the prompt does not fit.
        InputError: If there is no model, or a budget in money and no known price.
    """
    recorder = current()
    used = lm_for(step, predictor.lm, lm)
    if used is None:
        raise InputError("no language model is configured: call videohv.configure(lm=…) or dspy.configure(lm=…)")
    inputs = {name: plain(value) if isinstance(value, str) else value for name, value in inputs.items()}
    images = sum(len(value) for value in inputs.values() if isinstance(value, list))
    if recorder is None:
        caller, seed = Caller(used, step, Ledger(), images=images), 0
    else:
        warn, seed = recorder.warn, recorder.settings.seed
        caller = Caller(
            used,
            step,
            recorder.ledger,
            images=images,
            check=recorder.ensure_running,
            tell=lambda why: warn(f"{step} waits for more than {LONG:g} s: {why}"),
        )
    tries = Tries(used, predictor.config, seed)
    while True:
        # A reply that is thrown away must not become a demonstration: each attempt has a trace of its own.
        trace: list[Any] | None = [] if dspy.settings.trace is not None else None
        try:
            with dspy.context(trace=trace):
                prediction = predictor(lm=caller.lm(tries.turns), config=tries.config, **inputs)
            bad = _how_it_ended(caller)
            if bad is None:
                value = read(prediction)
                if trace and dspy.settings.trace is not None:
                    dspy.settings.trace.extend(trace)
                return value
        except Unusable as error:
            bad = _how_it_ended(caller) or (Ending.UNREAD, f"the reply could not be used ({error})")
        except OverBudget as error:
            raise StepFailed(step, Outcome.OVER_BUDGET, str(error), hopeless=True) from error
        except VideoHVError:
            raise
        except (AdapterParseError, *_UNREADABLE) as error:
            if caller.reply is None and not isinstance(error, AdapterParseError):
                failure = f"{type(error).__name__}: {_first_line(error, used)}"
                raise StepFailed(step, Outcome.LM_FAILED, failure) from error
            bad = _how_it_ended(caller) or (Ending.UNREAD, f"the reply could not be read ({_problem(error, used)})")
        except LMError as error:
            bad = _after_fault(step, error, tries, used)
        came = caller.reply
        if not tries.failed(*bad, came._replace(text=plain(came.text)) if came is not None else None):
            raise tries.failure(step)


def _how_it_ended(caller: Caller) -> tuple[Ending, str] | None:
    """What is wrong with the latest reply whatever can be read in it; None if nothing is."""
    reply = caller.reply
    if reply is None or reply.finish is Finish.WHOLE:
        return None
    if reply.finish is Finish.REFUSED:
        said = f": {' '.join(reply.why.split())[:200]}" if reply.why else ""
        return Ending.REFUSED, f"the model or its content filter refused to answer{without_keys(said, caller.source)}"
    return Ending.CUT, f"the reply was cut off after {reply.completion_tokens} tokens"


def _after_fault(step: str, error: LMError, tries: Tries, lm: dspy.BaseLM) -> tuple[Ending, str]:
    """The ending that a fault stands for; raises where no other attempt could help."""
    kind, said = fault_of(error), f"{type(error).__name__}: {_first_line(error, lm)}"
    if kind is FaultKind.REFUSED:
        return Ending.REFUSED, f"the model or its content filter refused to answer: {said}"
    if kind in (FaultKind.TOO_LONG, FaultKind.OTHER) and tries.has_more_room:
        why = f"the reply was cut off, and the model takes no more room for it ({said})"
        raise StepFailed(step, Outcome.PARSE_FAILED, why) from error
    if kind is FaultKind.TOO_LONG:
        raise TooLong(step, _first_line(error, lm)) from error
    raise StepFailed(step, Outcome.LM_FAILED, said, kind is FaultKind.HOPELESS) from error


def _problem(error: Exception, lm: dspy.BaseLM) -> str:
    """What was wrong with a reply, in a line that a model can act on."""
    if not isinstance(error, AdapterParseError):
        return _first_line(error, lm)
    said = str(error.message).partition("Adapter ")[0]
    missing = [name for name in error.signature.output_fields if name not in (error.parsed_result or {})]
    if not said.strip() and missing:
        said = f"without the fields {', '.join(missing)}"
    return plain(without_keys(" ".join(said.split()), lm))[:300] or _first_line(error, lm)


def _first_line(error: Exception, lm: dspy.BaseLM) -> str:
    lines = [line.strip() for line in str(getattr(error, "message", "") or error).splitlines() if line.strip()]
    return without_keys(lines[0], lm)[:200] if lines else type(error).__name__
