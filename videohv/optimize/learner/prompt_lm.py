"""The model that writes prompts for an optimizer, under the same retries, pace, budgets and guard as all others."""

from __future__ import annotations

import copy
from typing import Any

import dspy
from dspy.utils.exceptions import LMError

from videohv.errors import InputError
from videohv.lm.about import lm_name
from videohv.lm.budget import OverBudget
from videohv.lm.call import Caller
from videohv.lm.mixed import mixed_in
from videohv.optimize.guard import Guard, Reason

ROLE = "optimizer"
"""What its calls are booked to in `Guard.ledger`."""


def watched_lm(lm: dspy.BaseLM, guard: Guard) -> dspy.BaseLM:
    """A copy of an LM to hand to an optimizer.

    It sends what the LM would send. A fault is waited for and tried again as often as the LM's `num_retries` says. If
    the model is gone after that, or a budget has no room, the guard trips: an optimizer would go on with a prompt less.
    A prompt that does not fit or is refused is the optimizer's own affair, and raises as always.

    Args:
        lm: Which.
        guard: Of the compile.
    """
    made = mixed_in(lm, _Guarded)
    made._videohv_guard = (guard, type(lm))
    return made


class _Guarded:
    """Mixed into the class of a copy of an LM. DSPy makes further copies of it, with other sampling."""

    _videohv_guard: tuple[Guard, Any]

    def __call__(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        guard, kind = self._videohv_guard
        source: Any = copy.copy(self)
        source.__class__ = kind
        caller = Caller(source, ROLE, guard.ledger, check=guard.check)
        with guard.inside():
            try:
                # Without messages DSPy must be told of none at all.
                given = {} if messages is None else {"messages": messages}
                return caller.lm()(prompt, **given, **kwargs)
            except OverBudget as error:
                guard.trip(Reason.BUDGET, str(error))
                guard.check()
                raise
            except InputError as error:
                guard.trip(Reason.HOPELESS, str(error))
                guard.check()
                raise
            except LMError as error:
                guard.lost(error, lm_name(source))
                raise
