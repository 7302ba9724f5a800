"""DSPy's response cache, made safe to read and fit for many threads.

By default DSPy runs whatever code lies in its cache directory as a pickle. And each thread that uses the cache opens
every file of it: with 64 threads that is more files than a process may have open on most systems, and opening them
costs more than a look-up.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import diskcache  # type: ignore[import-untyped]
import dspy
from dspy.utils.caching import default_cache_dir

from videohv.errors import VideoHVError

T = TypeVar("T")

_THREADS = 4

_OWN_LIMIT = 1 << 40
"""Bytes: a cache that answers for what was paid for must not drop anything."""

_lock = threading.Lock()
_seen: list[Any] = []


def keeps_replies() -> bool:
    """Whether replies are kept at all: not where the cache was turned off. It is made fit for use by the way."""
    ensure_plain_cache()
    return bool(dspy.cache.enable_disk_cache or dspy.cache.enable_memory_cache)


def ensure_plain_cache() -> None:
    """Have DSPy read plain data only from its cache directory, unless the user has configured a cache otherwise.

    To be called before the cache is first used; later calls cost nothing. What was kept in memory stays.
    """
    current = vars(dspy).get("cache")
    if current is not None and _seen and _seen[0] is current:
        return
    with _lock:
        current = vars(dspy).get("cache")
        if current is None or _is_the_default(current):
            _restrict()
            if current is not None:
                with current._lock:
                    kept = list(current.memory_cache.items())
                dspy.cache.memory_cache.update(kept)
        _seen[:] = [dspy.cache]


@contextmanager
def own_cache(folder: Path) -> Iterator[None]:
    """Inside the block the whole process keeps replies in this directory, as plain data, and takes them from it alone.

    Args:
        folder: Made when absent.

    Raises:
        VideoHVError: It cannot be used.
    """
    before = vars(dspy).get("cache")
    try:
        dspy.configure_cache(disk_cache_dir=os.fspath(folder), disk_size_limit_bytes=_OWN_LIMIT, restrict_pickle=True)
    except Exception as error:  # whatever the directory's file system comes up with
        raise VideoHVError(f"the response cache {folder} cannot be used ({error})") from error
    own = dspy.cache
    try:
        yield
    finally:
        own.disk_cache.close()
        if before is None:
            # DSPy makes its default one when it is next looked for.
            vars(dspy).pop("cache", None)
        else:
            dspy.cache = before


def in_cache_thread(use: Callable[..., T], *arguments: Any) -> T:
    """What `use(*arguments)` gives, called in one of the few threads that have the cache open."""
    return _threads().submit(use, *arguments).result()


@lru_cache(maxsize=1)
def _threads() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_THREADS, thread_name_prefix="videohv-cache")


if hasattr(os, "register_at_fork"):
    # The threads stay with the parent.
    os.register_at_fork(after_in_child=_threads.cache_clear)


def _restrict() -> None:
    limit = int(os.environ.get("DSPY_CACHE_LIMIT", 3e10))
    try:
        dspy.configure_cache(disk_cache_dir=default_cache_dir(), disk_size_limit_bytes=limit, restrict_pickle=True)
    except Exception:  # whatever the directory's file system comes up with; DSPy goes on without it in the same way
        dspy.configure_cache(enable_disk_cache=False)


def _is_the_default(cache: Any) -> bool:
    """Whether it is what DSPy makes of itself, and not what a user asked for."""
    return (
        cache.enable_disk_cache
        and cache.enable_memory_cache
        and cache.disk_cache_dir == os.fspath(default_cache_dir())
        and cache.memory_cache.maxsize == 1_000_000
        and getattr(cache.disk_cache, "_disk", None) is diskcache.Disk
    )
