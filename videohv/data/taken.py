"""A directory that only one process may work in at a time."""

from __future__ import annotations

from pathlib import Path

from filelock import FileLock, Timeout

from videohv.errors import InputError

LOCK = ".lock"


def take(folder: Path) -> FileLock:
    """Keep other processes out of a directory, which is made when absent, until the lock is released.

    Raises:
        InputError: Another process has it.
        OSError: It can't be made or written to.
    """
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / LOCK)
    try:
        lock.acquire(timeout=0)
    except Timeout:
        raise InputError(f"{folder} is in use by another process: wait for it, or name another --out") from None
    return lock
