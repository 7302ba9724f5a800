"""Budgets: calls, tokens and money that may be spent, checked before each call and shared by threads and processes.

    with spending(Budget("run", max_cost=5.0)), spending(Budget("question", max_calls=40)):
        program(...)

A call is let through only when every budget has room for it. What it will take is estimated and held back from the
others until it is known, so that many calls at once do not overshoot by more than the estimates were wrong.
"""

from __future__ import annotations

import contextvars
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any

import dspy

from videohv.errors import InputError, VideoHVError
from videohv.lm.about import lm_name
from videohv.lm.counter import Amount, Counter, LocalCounter, Totals
from videohv.lm.usage import highest_price

CHARS_A_TOKEN = 3.5
TOKENS_AN_IMAGE = 1_000
TOKENS_A_REPLY = 1_000
"""What is held back for a reply, or the model's limit if that is less: few replies are longer."""

LONGEST_WAIT = 600.0
"""Seconds to wait for other calls to give back what they hold; longer means that they are lost with their process."""

_POLL = 0.05
_SHOWN = {"calls": "{:,.0f} calls", "tokens": "{:,.0f} tokens", "cost": "${:,.4f}"}


class OverBudget(VideoHVError):
    """A call was not made, because it would go beyond a budget."""


class Budget:
    """What may be spent at most. Safe to share between threads, and between processes with a counter that is.

    Args:
        name: What it is for (`question`, `run`), for messages.
        max_calls: Calls that are sent, failed ones included. Replies out of the response cache are free.
        max_tokens: Of prompts and replies together.
        max_cost: US dollars by the listed prices.
        counter: Where it is kept; None counts for this process.

    Raises:
        InputError: If a limit is negative.
    """

    def __init__(
        self,
        name: str = "run",
        *,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_cost: float | None = None,
        counter: Counter | None = None,
    ) -> None:
        self.name = name
        self.counter: Counter = counter if counter is not None else LocalCounter()
        limits = {"calls": max_calls, "tokens": max_tokens, "cost": max_cost}
        self.limits = {kind: float(most) for kind, most in limits.items() if most is not None}
        for kind, most in self.limits.items():
            if not most >= 0:
                raise InputError(f"a budget of {most:g} for the {kind} of a {name}: it cannot be negative")

    @property
    def spent(self) -> Amount:
        """What was spent so far; calls under way not counted."""
        return self.counter.totals().spent

    def is_used_up(self) -> bool:
        """Whether nothing is left of something."""
        spent = self.spent
        return any(getattr(spent, kind) >= most for kind, most in self.limits.items())

    def require_prices(self, lms: Sequence[dspy.BaseLM]) -> None:
        """Make sure that a limit in money can be kept.

        Raises:
            InputError: If there is one, and the price of a model is not known.
        """
        if "cost" in self.limits:
            for lm in lms:
                if highest_price(str(lm.model), 1, 1) is None:
                    most = f"${self.limits['cost']:g}"
                    raise InputError(
                        f"a {self.name} may cost {most}, but the price of {lm_name(lm)} is not known: "
                        "use --max-tokens-total"
                    )

    @contextmanager
    def reserve(self, estimate: Amount, check: Callable[[], None] = lambda: None) -> Iterator[list[Amount]]:
        """Hold an estimate back while the block runs; what the block puts into the list is spent.

        Waits while there would be room if others gave back what they hold.

        Args:
            estimate: What the block is thought to spend.
            check: Called now and then while waiting; an exception of it ends the wait.

        Raises:
            OverBudget: If there is no room for it.
        """
        # Where nothing is limited, nothing need be held back.
        held = estimate if self.limits else Amount()
        until = time.monotonic() + LONGEST_WAIT
        while self.limits and not self._hold(held, patient=time.monotonic() < until):
            check()
            time.sleep(_POLL)
        spent: list[Amount] = []
        try:
            yield spent
        finally:
            actual = sum(spent, Amount())
            self.counter.update(lambda t: Totals(t.spent + actual, t.held - held))

    def _hold(self, estimate: Amount, *, patient: bool) -> bool:
        """Whether it is held now; False if it could be once others are done."""
        over: list[str] = []
        full = False

        def change(totals: Totals) -> Totals:
            nonlocal full
            over.clear()
            for kind, most in self.limits.items():
                spent, more = getattr(totals.spent, kind), getattr(estimate, kind)
                full = full or spent + getattr(totals.held, kind) + more > most
                if spent + more > most:
                    over.append(self._over(kind, spent, more))
            return totals if full else Totals(totals.spent, totals.held + estimate)

        totals = self.counter.update(change)
        if full and not over and not patient:
            over = [self._over(kind, getattr(totals.spent, kind), getattr(estimate, kind)) for kind in self.limits]
        if over:
            raise OverBudget("; ".join(over))
        return not full

    def _over(self, kind: str, spent: float, more: float) -> str:
        say = _SHOWN[kind].format
        return (
            f"a {self.name} may use {say(self.limits[kind])}, has used {say(spent)}, and the next call takes "
            f"about {say(more)}"
        )


_budgets: contextvars.ContextVar[tuple[Budget, ...]] = contextvars.ContextVar("videohv_budgets", default=())


@contextmanager
def spending(budget: Budget) -> Iterator[Budget]:
    """Have every call inside the block paid from this budget, and from those of the blocks around it."""
    token = _budgets.set((*_budgets.get(), budget))
    try:
        yield budget
    finally:
        _budgets.reset(token)


def budgets() -> tuple[Budget, ...]:
    """The budgets of this context, the outermost first."""
    return _budgets.get()


@contextmanager
def paying(lm: dspy.BaseLM, estimate: Callable[[], Amount], check: Callable[[], None]) -> Iterator[list[Amount]]:
    """Reserve an estimate with every budget of this context; what the block puts into the list is paid by each.

    Raises:
        OverBudget: If one has no room for it; the others are left as they were.
        InputError: If one is in money and the model's price is not known.
    """
    spent: list[Amount] = []
    active = budgets()
    if not active:
        yield spent
        return
    for budget in active:
        budget.require_prices([lm])
    with ExitStack() as stack:
        needed = estimate() if any(budget.limits for budget in active) else Amount()
        payers = [stack.enter_context(budget.reserve(needed, check)) for budget in active]
        try:
            yield spent
        finally:
            for payer in payers:
                payer.extend(spent)


def estimated(lm: dspy.BaseLM, messages: Sequence[Mapping[str, Any]], max_tokens: int | None) -> Amount:
    """What a call will take: the length of its prompt and a usual reply, at the highest listed price.

    Args:
        lm: Whose prices.
        messages: The prompt.
        max_tokens: Of the reply, if limited.
    """
    prompt = prompt_tokens(messages)
    reply = min(max_tokens or TOKENS_A_REPLY, TOKENS_A_REPLY)
    return Amount(1, prompt + reply, highest_price(str(lm.model), prompt, reply) or 0.0)


def prompt_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    """About how many tokens a prompt has."""
    chars = images = 0
    for message in messages:
        content = message.get("content") or ""
        for part in [{"text": content}] if isinstance(content, str) else content:
            chars += len(part.get("text") or "")
            images += "text" not in part
    return int(chars / CHARS_A_TOKEN) + images * TOKENS_AN_IMAGE
