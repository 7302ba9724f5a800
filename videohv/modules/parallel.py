"""Run inner calls that do not depend on each other side by side, without losing DSPy's trace, context or usage."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import dspy

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(call: Callable[[T], R], items: Sequence[T], workers: int) -> list[R]:
    """Call `call` on every item, up to `workers` at once, and return the results in the order of the items.

    Each call runs in a copy of the caller's context, so that `dspy.context` and the usage ledger hold. DSPy's trace
    is kept per call and joined in the order of the items: optimizers see the same trace whatever the timing. The
    first exception in that order is raised after all calls have ended.
    """
    if len(items) <= 1 or workers == 1:
        return [call(item) for item in items]
    outer = dspy.settings.trace
    traces: list[list[Any]] = [[] for _ in items]

    def run(item: T, trace: list[Any]) -> R:
        with dspy.context(trace=trace if outer is not None else None):
            return call(item)

    with ThreadPoolExecutor(max_workers=min(workers, len(items)), thread_name_prefix="videohv") as pool:
        futures = [
            pool.submit(contextvars.copy_context().run, run, item, trace)
            for item, trace in zip(items, traces, strict=True)
        ]
    try:
        return [future.result() for future in futures]
    finally:
        if outer is not None:
            for trace in traces:
                outer.extend(trace)
