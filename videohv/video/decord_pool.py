"""Decord's processes, shared by all videos: few, reused, and gone soon after the last request."""

from __future__ import annotations

import atexit
import os
import threading
import time

from videohv.video.decord_child import Request
from videohv.video.decord_process import Answer, Deadlines, DecordFailed, DecordProcess, Gone
from videohv.video.identity import FileId

IDLE_SECONDS = 20.0


class Pool:
    """Keeps processes between requests, so that opening is paid for once. Safe for threads, and after a fork.

    A process is taken for a request and given back after it; nothing else holds one. There are never more of them than
    processors (2 to 8), and one that nobody has asked for 20 seconds is ended.
    """

    _free: threading.Condition
    _idle: list[DecordProcess]
    _busy: int
    _sweeper: threading.Timer | None

    def __init__(self) -> None:
        self._most = min(8, max(2, os.cpu_count() or 2))
        self._forget()

    def ask(self, request: Request, deadlines: Deadlines) -> Answer:
        """What decord gives for a request. A process that fails at it is ended."""
        try:
            process = self._take(request.file)
            try:
                return process.ask(request, deadlines)
            except Gone:
                process.end()
                # It had ended between two requests: a fresh one is asked in its place.
                process = DecordProcess()
                return process.ask(request, deadlines)
            finally:
                self._give_back(process)
        except DecordFailed as failure:
            return Answer(None, (), str(failure))

    def close(self) -> None:
        """Ends the processes that wait for requests; the next request starts a new one."""
        with self._free:
            idle, self._idle = self._idle, []
            if self._sweeper is not None:
                self._sweeper.cancel()
                self._sweeper = None
        for process in idle:
            process.end()

    @property
    def busy(self) -> int:
        """How many processes are at work."""
        with self._free:
            return self._busy

    @property
    def idle(self) -> tuple[DecordProcess, ...]:
        """The processes that wait for requests."""
        with self._free:
            return tuple(self._idle)

    def _take(self, file: FileId) -> DecordProcess:
        with self._free:
            while self._busy >= self._most:
                self._free.wait()
            self._busy += 1
            found = next((p for p in self._idle if p.file == file), None)
            if found is None and self._busy + len(self._idle) > self._most:
                # Opening another file in a process costs less than a new process.
                found = self._idle[0]
            if found is not None:
                self._idle.remove(found)
                return found
        try:
            return DecordProcess()
        except BaseException:
            self._release()
            raise

    def _give_back(self, process: DecordProcess) -> None:
        if not process.usable:
            process.end()
        self._release(process if process.usable else None)

    def _release(self, process: DecordProcess | None = None) -> None:
        with self._free:
            self._busy -= 1
            if process is not None:
                process.idle_since = time.monotonic()
                self._idle.append(process)
                self._set_sweep(IDLE_SECONDS)
            self._free.notify()

    def _set_sweep(self, seconds: float) -> None:
        if self._sweeper is None:
            self._sweeper = threading.Timer(seconds, self._sweep)
            self._sweeper.name, self._sweeper.daemon = "videohv-decord-sweep", True
            self._sweeper.start()

    def _sweep(self) -> None:
        now = time.monotonic()
        with self._free:
            self._sweeper = None
            # They are in the order in which they were given back.
            old = [p for p in self._idle if p.idle_since + IDLE_SECONDS <= now]
            self._idle = self._idle[len(old) :]
            if self._idle:
                self._set_sweep(self._idle[0].idle_since + IDLE_SECONDS - now)
        for process in old:
            process.end()

    def _forget(self) -> None:
        """Begins with nothing. After a fork, what was there belongs to the other process."""
        self._free = threading.Condition()
        self._idle, self._busy, self._sweeper = [], 0, None


POOL = Pool()
atexit.register(POOL.close)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=POOL._forget)
