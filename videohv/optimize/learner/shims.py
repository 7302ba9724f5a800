"""What has to be changed inside DSPy while it optimises, in one place. Each has a test that fails when DSPy changes.

* `ParallelExecutor` hands an example that takes 120 s to a second thread, so that long videos are paid for twice.
  Neither `Evaluate` nor the optimizers let that be set.
* `BootstrapFewShot` and GEPA draw progress bars of their own over the one of the compile.
* What optimizers print (`print`, and the logs of `dspy`, `gepa` and `optuna` below warnings) holds whole prompts. So
  does what DSPy warns of when an optimizer calls a prompt of its own with other fields than that has.
"""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import threading
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from importlib import import_module
from types import SimpleNamespace
from typing import Any, TypeVar

from dspy.utils.parallelizer import ParallelExecutor

T = TypeVar("T")

_LOGGERS = ("dspy", "gepa", "optuna")


class PatientExecutor(ParallelExecutor):
    """Asks every example once, however long it takes."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self.timeout = 0


def _no_bar(items: Iterable[T], *_: Any, **__: Any) -> Iterable[T]:
    return items


_SHIMS: tuple[tuple[Any, str, Any], ...] = (
    (import_module("dspy.evaluate.evaluate"), "ParallelExecutor", PatientExecutor),
    (import_module("dspy.predict.parallel"), "ParallelExecutor", PatientExecutor),
    (import_module("dspy.teleprompt.bootstrap"), "tqdm", SimpleNamespace(tqdm=_no_bar)),
    (import_module("gepa.core.engine"), "tqdm", partial(import_module("tqdm").tqdm, disable=True)),
)

_lock = threading.Lock()
_users = 0
_originals: list[Any] = []


@contextmanager
def shimmed() -> Iterator[None]:
    """Have all of it changed while the block runs; blocks may overlap, in any number of threads."""
    global _users
    with _lock:
        if _users == 0:
            _originals[:] = [getattr(module, name) for module, name, _ in _SHIMS]
            for module, name, ours in _SHIMS:
                setattr(module, name, ours)
        _users += 1
    try:
        yield
    finally:
        with _lock:
            _users -= 1
            if _users == 0:
                for (module, name, _), theirs in zip(_SHIMS, _originals, strict=True):
                    setattr(module, name, theirs)


class _Nowhere(io.TextIOBase):
    def write(self, text: str) -> int:
        """Forget it."""
        return len(text)


@contextmanager
def quiet() -> Iterator[None]:
    """Let optimizers say nothing but warnings; `aloud` is for those who have something to say."""
    with ExitStack() as stack:
        for name in _LOGGERS:
            stack.enter_context(_at_least(logging.getLogger(name), logging.WARNING))
        stack.enter_context(_at_least(logging.getLogger("dspy.predict.predict"), logging.ERROR))
        _spoken.append(sys.stdout)
        stack.callback(_spoken.pop)
        stack.enter_context(contextlib.redirect_stdout(_Nowhere()))
        yield


@contextmanager
def aloud() -> Iterator[None]:
    """Inside `quiet`: let the block write to where standard output went before."""
    with contextlib.redirect_stdout(_spoken[-1] if _spoken else sys.stdout):
        yield


_spoken: list[Any] = []


@contextmanager
def _at_least(logger: logging.Logger, level: int) -> Iterator[None]:
    before = logger.level
    logger.setLevel(max(before, level))
    try:
        yield
    finally:
        logger.setLevel(before)
