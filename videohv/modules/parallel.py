"""Run inner calls that do not depend on each other side by side, without losing DSPy's trace, context or usage."""

from __future__ import annotations

import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_EXCEPTION, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import dspy

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(call: Callable[[T], R], items: Sequence[T], workers: int) -> list[R]:
    """Call `call` on every item, up to `workers` at once, and return the results in the order of the items.

    Each call runs in a copy of the caller's context, so that `dspy.context` and the usage ledger hold. DSPy's trace
    is kept per call and joined in the order of the items: optimizers see the same trace whatever the timing. Once a
    call raises, or the caller is interrupted, no further one begins; the first exception in the order of the items is
    raised when those that run have ended.
    """
    if len(items) <= 1 or workers == 1:
        return [call(item) for item in items]
    outer = dspy.settings.trace
    traces: list[list[Any]] = [[] for _ in items]

    def run(item: T, trace: list[Any]) -> R:
        with dspy.context(trace=trace if outer is not None else None):
            return call(item)

    pool = ThreadPoolExecutor(max_workers=min(workers, len(items)), thread_name_prefix="videohv")
    try:
        futures = [
            pool.submit(contextvars.copy_context().run, run, item, trace)
            for item, trace in zip(items, traces, strict=True)
        ]
        wait(futures, return_when=FIRST_EXCEPTION)
    except BaseException:
        # Interrupted: whoever waits for this must not wait for calls that nobody wants any longer.
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown(cancel_futures=True)
    try:
        return [future.result() for future in futures if not future.cancelled()]
    finally:
        if outer is not None:
            for trace in traces:
                outer.extend(trace)
