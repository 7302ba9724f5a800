"""Counters that budgets are kept in: for the threads of one process, or for several processes."""

from __future__ import annotations

import multiprocessing
import threading
from collections.abc import Callable
from typing import Any, NamedTuple, Protocol


class Amount(NamedTuple):
    """Calls, tokens and US dollars."""

    calls: float = 0.0
    tokens: float = 0.0
    cost: float = 0.0

    def __add__(self, other: object) -> Amount:
        """Each with its like."""
        if not isinstance(other, Amount):
            return NotImplemented
        return Amount(self.calls + other.calls, self.tokens + other.tokens, self.cost + other.cost)

    def __sub__(self, other: Amount) -> Amount:
        """Each from its like."""
        return Amount(self.calls - other.calls, self.tokens - other.tokens, self.cost - other.cost)


class Totals(NamedTuple):
    """What was spent, and what calls under way hold back."""

    spent: Amount = Amount()
    held: Amount = Amount()


Change = Callable[[Totals], Totals]


class Counter(Protocol):
    """Keeps totals that many change."""

    def totals(self) -> Totals:
        """As they are now."""
        ...

    def update(self, change: Change) -> Totals:
        """Replace the totals by what `change` makes of them, with nobody in between, and give them back.

        `change` may be called once only, must be quick, and must not use the counter.
        """
        ...


class LocalCounter:
    """For the threads of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._totals = Totals()

    def totals(self) -> Totals:
        """See `Counter`."""
        with self._lock:
            return self._totals

    def update(self, change: Change) -> Totals:
        """See `Counter`."""
        with self._lock:
            self._totals = change(self._totals)
            return self._totals


class SharedCounter:
    """For several processes: hand it to each when it is started, as an argument of `Process` or of an initializer.

    Args:
        context: The multiprocessing context that starts them; None is the default one.
    """

    def __init__(self, context: Any = None) -> None:
        self._numbers = (context or multiprocessing).Array("d", 6)

    def totals(self) -> Totals:
        """See `Counter`."""
        with self._numbers.get_lock():
            return self._read()

    def update(self, change: Change) -> Totals:
        """See `Counter`."""
        with self._numbers.get_lock():
            totals = change(self._read())
            self._numbers[:] = [*totals.spent, *totals.held]
            return totals

    def _read(self) -> Totals:
        numbers = self._numbers[:]
        return Totals(Amount(*numbers[:3]), Amount(*numbers[3:]))
