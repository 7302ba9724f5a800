"""The ledger: what each role spent, exactly, from however many threads it called.

DSPy tells the usage tracker of the current context what every answered call used. Inside `role(…)` that tracker is one
that books to the role; it hands everything on to the tracker around it, so `dspy.track_usage` still sees all of it.
"""

from __future__ import annotations

import re
import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Self

import dspy
from dspy.utils.exceptions import AdapterParseError
from dspy.utils.usage_tracker import UsageTracker

from videohv.lm.about import lm_name, published
from videohv.types import RoleUsage

OTHER = "other"
"""The role of calls that were made outside any role block."""

_TIERED_FROM = 128_000
_PLAIN = re.compile(r"(in|out)put_cost_per_token")
_TIERED = re.compile(r"(in|out)put_cost_per_token(_above_[0-9a-z]+_tokens)?")


@dataclass
class Call:
    """One role block: what happened in it so far.

    While the block is open the caller may set `images`, `sent` to False when nothing left this process, and
    `spared_tokens` when the reply came out of the response cache.
    """

    role: str
    model: str
    images: int = 0
    calls: int = 0
    failed: bool = False
    cached: bool = False
    sent: bool = True
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    completion_tokens: int = 0
    spared_tokens: int = 0
    seconds: float = 0.0
    cost: float | None = None

    def add(self, model: str, usage: Mapping[str, Any]) -> None:
        """Count one answered call."""
        self.calls += 1
        self.prompt_tokens += _count(usage, "prompt_tokens")
        self.completion_tokens += _count(usage, "completion_tokens")
        self.cached_prompt_tokens += _count(usage.get("prompt_tokens_details") or {}, "cached_tokens")
        cost = estimate(model, usage)
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost


class Ledger:
    """What was spent, by role and model. Safe to share between threads, with many blocks open at once."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._spent: dict[tuple[str, str], RoleUsage] = {}

    @contextmanager
    def recording(self) -> Iterator[Self]:
        """Also book the calls made outside role blocks, as the role `other`."""
        with dspy.context(usage_tracker=_Loose(self, dspy.settings.usage_tracker)):
            yield self

    @contextmanager
    def role(self, name: str, lm: dspy.BaseLM | None = None, images: int = 0) -> Iterator[Call]:
        """Book everything that is called inside the block to a role.

        A block that ends well without an answered call was served by the response cache; so was one that ends with an
        unreadable reply and yet no answered call. A block that ends in another exception before an answer came counts
        as one failed call.

        Args:
            name: The role.
            lm: The model it uses; None means the configured one.
            images: How many images it sends. A block that was served from the cache sends none.
        """
        used = lm if lm is not None else dspy.settings.lm
        call = Call(name, lm_name(used) if used is not None else "", images)
        tracker = _Booking(self, call, dspy.settings.usage_tracker)
        began = time.perf_counter()
        try:
            with dspy.context(usage_tracker=tracker):
                yield call
        except BaseException as error:
            call.failed = True
            call.cached = call.calls == 0 and isinstance(error, AdapterParseError)
            call.calls = call.calls or int(call.sent and not call.cached)
            raise
        else:
            call.cached = call.calls == 0
        finally:
            call.seconds = time.perf_counter() - began
            self._book(call)

    def by_role(self) -> tuple[RoleUsage, ...]:
        """What was spent, a row for each role and model, in the order in which they first ended."""
        with self._lock:
            return tuple(self._spent.values())

    def total(self) -> RoleUsage:
        """The sum over all roles. Its cost is that of the models whose prices are known, None if none is."""
        total = RoleUsage(role="total")
        for row in self.by_role():
            total = _sum(total, row)
        return total

    def _book(self, call: Call) -> None:
        row = RoleUsage(
            role=call.role,
            model=call.model,
            calls=call.calls,
            cached_calls=int(call.cached),
            failed_calls=int(call.failed),
            prompt_tokens=call.prompt_tokens,
            cached_prompt_tokens=call.cached_prompt_tokens,
            completion_tokens=call.completion_tokens,
            spared_tokens=call.spared_tokens,
            images=call.images if call.calls else 0,
            seconds=call.seconds,
            cost=call.cost,
        )
        with self._lock:
            key = (call.role, call.model)
            self._spent[key] = _sum(self._spent[key], row) if key in self._spent else row


def _sum(a: RoleUsage, b: RoleUsage) -> RoleUsage:
    counted = {name: getattr(a, name) + getattr(b, name) for name in _COUNTED}
    costs = [row.cost for row in (a, b) if row.cost is not None]
    return RoleUsage(role=a.role, model=a.model, cost=sum(costs) if costs else None, **counted)


_COUNTED = tuple(name for name in RoleUsage.model_fields if name not in ("role", "model", "cost"))


class _Tracker(UsageTracker):
    """What the trackers of a ledger have in common: they hand everything on to the tracker that was there before."""

    ledger: Ledger
    around: Any

    def __init__(self, ledger: Ledger, around: Any) -> None:
        # A tracker of the same ledger around this one would book a second time.
        while isinstance(around, _Tracker) and around.ledger is ledger:
            around = around.around
        self.ledger = ledger
        self.around = around
        self.lock = threading.Lock()
        # `dspy.track_usage` ends by writing what it saw straight into this table of the tracker around it.
        self.usage_data = around.usage_data if around is not None else defaultdict(list)

    def __deepcopy__(self, memo: object) -> Self:
        # DSPy copies the tracker for each of its worker threads, and the copy's bookings would be lost.
        return self

    def hand_on(self, lm: str, usage_entry: dict[str, Any]) -> None:
        if self.around is not None:
            self.around.add_usage(lm, usage_entry)


class _Booking(_Tracker):
    """Books to one role block."""

    def __init__(self, ledger: Ledger, call: Call, around: Any) -> None:
        super().__init__(ledger, around)
        self._call = call

    def add_usage(self, lm: str, usage_entry: dict[str, Any]) -> None:
        """DSPy's door."""
        with self.lock:
            self._call.add(lm, usage_entry)
            self.hand_on(lm, usage_entry)


class _Loose(_Tracker):
    """Books what belongs to no role block."""

    def add_usage(self, lm: str, usage_entry: dict[str, Any]) -> None:
        """DSPy's door."""
        call = Call(OTHER, lm)
        call.add(lm, usage_entry)
        self.ledger._book(call)
        with self.lock:
            self.hand_on(lm, usage_entry)


def estimate(model: str, usage: Mapping[str, Any]) -> float | None:
    """Price of one call in US dollars by the listed rates, or None if they are not known.

    None too where the listed rates change with the length of the prompt and this one is long.
    """
    prices = published(model)
    prompt, completion = _count(usage, "prompt_tokens"), _count(usage, "completion_tokens")
    per_prompt, per_completion = prices.get("input_cost_per_token"), prices.get("output_cost_per_token")
    if per_prompt is None or per_completion is None:
        return None
    if prompt > _TIERED_FROM and any("_above_" in key for key in prices):
        return None
    details = usage.get("prompt_tokens_details") or {}
    read, written = _count(details, "cached_tokens"), _count(details, "cache_creation_tokens")
    per_read = prices.get("cache_read_input_token_cost", per_prompt)
    per_written = prices.get("cache_creation_input_token_cost", per_prompt)
    plain = max(0, prompt - read - written)
    return float(plain * per_prompt + read * per_read + written * per_written + completion * per_completion)


def highest_price(model: str, prompt: int, completion: int) -> float | None:
    """The most that a call can cost in US dollars, whatever tier it falls into; None if no price is listed.

    Args:
        model: As DSPy names it. What runs in this process costs nothing.
        prompt: Tokens of the prompt.
        completion: Tokens of the reply.
    """
    if model.startswith("embedded/"):
        return 0.0
    tiers = _TIERED if prompt > _TIERED_FROM else _PLAIN
    rates = [
        [price for name, price in published(model).items() if tiers.fullmatch(name) and name.startswith(kind)]
        for kind in ("input", "output")
    ]
    if not all(rates):
        return None
    return float(prompt * max(rates[0]) + completion * max(rates[1]))


def _count(counts: Mapping[str, Any], name: str) -> int:
    value = counts.get(name)
    return int(value) if isinstance(value, int | float) else 0
