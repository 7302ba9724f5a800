"""Open video files, kept for a while after they were read, since opening one costs as much as many a look at it."""

from __future__ import annotations

import atexit
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from videohv.video.identity import FileId, check_file
from videohv.video.source import Source

IDLE_SECONDS = 10.0
MOST = 8
MOST_BYTES = 128 << 20
# Windows neither deletes nor renames a file that is open.
_KEEPS = sys.platform != "win32"


@dataclass(eq=False)
class _Kept:
    file: FileId
    stream: int | None
    wary: bool
    source: Source
    size: int
    since: float


class SourcePool:
    """Keeps sources between uses. Safe for threads, and after a fork.

    A source belongs to whoever has taken it, and nobody waits for one: when none is free, another is opened. At most 8
    wait for their next use, and no more than hold 128 MiB by estimate; the one that was used longest ago goes first.
    One that has waited for 10 seconds is closed, and so is one whose file has changed.
    """

    _lock: threading.Lock
    _idle: list[_Kept]
    _sweeper: threading.Timer | None

    def __init__(self) -> None:
        self._forget()

    @contextmanager
    def taken(self, path: Path, stream: int, wary: bool, keep: bool = True) -> Iterator[Source]:
        """A source for one thread, for as long as the block lasts; it may stand anywhere in the file.

        It is closed when the block does not come to its end, or when anything in the file could not be read.

        Args:
            path: The file.
            stream: See `Source`.
            wary: See `Source`.
            keep: False opens a new source at the start of the file, and closes it.

        Raises:
            NotVideo: The file cannot be opened.
            DecodeError: It cannot be decoded.
        """
        file = check_file(path)
        source = (self._take(file, stream, wary) if keep else None) or Source(path, stream, wary)
        try:
            yield source
        except BaseException:
            # Also where an iterator of frames is dropped: that may happen anywhere, while this thread has the lock or
            # while Python ends.
            source.close()
            raise
        self.give(source, file, keep)

    def give(self, source: Source, file: FileId, keep: bool = True) -> None:
        """Hands over a source that nobody uses any more, to be kept or closed.

        Args:
            source: It must not be touched afterwards.
            file: What it was opened on, looked at before it was.
            keep: False closes it.
        """
        size = source.size
        if not (keep and _KEEPS) or source.failures or source.withheld or size > MOST_BYTES:
            source.close()
            return
        source.flush()
        with self._lock:
            kept = _Kept(file, source.index, source.wary, source, size, time.monotonic())
            self._idle.append(kept)
            extra = [self._idle.pop(0) for _ in range(len(self._idle) - MOST)]
            while sum(one.size for one in self._idle) > MOST_BYTES:
                extra.append(self._idle.pop(0))
            self._set_sweep(IDLE_SECONDS)
        _close(extra)

    def close(self) -> None:
        """Closes all sources that wait."""
        with self._lock:
            idle, self._idle = self._idle, []
            sweeper, self._sweeper = self._sweeper, None
        if sweeper is not None:
            sweeper.cancel()
            sweeper.join()
        _close(idle)

    @property
    def idle(self) -> tuple[Source, ...]:
        """The sources that wait, the one that was used longest ago first."""
        with self._lock:
            return tuple(kept.source for kept in self._idle)

    def _take(self, file: FileId, stream: int, wary: bool) -> Source | None:
        with self._lock:
            stale = [kept for kept in self._idle if kept.file.path == file.path and kept.file != file]
            fits = [k for k in self._idle if (k.file, k.stream, k.wary) == (file, stream, wary)]
            gone = [*stale, *fits[-1:]]
            self._idle = [kept for kept in self._idle if kept not in gone]
        _close(stale)
        return fits[-1].source if fits else None

    def _set_sweep(self, seconds: float) -> None:
        if self._sweeper is None:
            self._sweeper = threading.Timer(seconds, self._sweep)
            self._sweeper.name, self._sweeper.daemon = "videohv-video-sweep", True
            self._sweeper.start()

    def _sweep(self) -> None:
        now = time.monotonic()
        with self._lock:
            self._sweeper = None
            # They are in the order in which they were given back.
            old = [kept for kept in self._idle if kept.since + IDLE_SECONDS <= now]
            self._idle = self._idle[len(old) :]
            if self._idle:
                self._set_sweep(self._idle[0].since + IDLE_SECONDS - now)
        _close(old)

    def _forget(self) -> None:
        self._lock = threading.Lock()
        self._idle, self._sweeper = [], None

    def _leave(self) -> None:
        """After a fork: a child shares the position in a file with its parent, and must not read what was open before.

        The sweeping thread has stayed behind. Closing is for the child alone.
        """
        idle = self._idle
        self._forget()
        _close(idle)


def _close(kept: list[_Kept]) -> None:
    for one in kept:
        one.source.close()


SOURCES = SourcePool()
"""Of this process."""
atexit.register(SOURCES.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=SOURCES._leave)
