"""A command in a process of its own on a terminal of its own, where Ctrl-C is a key that somebody presses."""

from __future__ import annotations

import fcntl
import os
import pty
import select
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

ROOT = Path(__file__).parent.parent.parent
CTRL_C = b"\x03"
GIVEN_UP = 60.0
"""Seconds after which something that was waited for is taken never to come."""


class Terminal:
    """`videohv` with some arguments on a pseudo-terminal, as the leader of its own session.

    Args:
        arguments: Of the command line.
        environment: Beside that of the tests.
        out: Where stdout goes, if not to the terminal too.
        program: What is run instead of `-m videohv`.
    """

    def __init__(
        self,
        arguments: Sequence[str],
        environment: Mapping[str, str] | None = None,
        out: Path | None = None,
        program: Sequence[str] = ("-m", "videohv"),
    ) -> None:
        self._master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, b"\x28\x00\x78\x00\x00\x00\x00\x00")

        def own_terminal() -> None:
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)

        stdout = out.open("wb") if out is not None else None
        self.process = subprocess.Popen(
            [sys.executable, *program, *arguments],
            cwd=ROOT,
            env={**os.environ, "TERM": "xterm-256color", **(environment or {})},
            stdin=slave,
            stdout=stdout if stdout is not None else slave,
            stderr=slave,
            start_new_session=True,
            preexec_fn=own_terminal,
        )
        os.close(slave)
        if stdout is not None:
            stdout.close()
        self._shown = bytearray()

    @property
    def shown(self) -> str:
        """What was written so far, escape sequences included."""
        return self._shown.decode(errors="replace")

    def press(self, key: bytes) -> None:
        """Press a key; the terminal turns Ctrl-C into a signal for everything in its foreground."""
        os.write(self._master, key)

    def until(self, condition: Callable[[], bool]) -> None:
        """Read on until the condition holds.

        Raises:
            AssertionError: If it does not for long, or the command ends before.
        """
        deadline = time.monotonic() + GIVEN_UP
        while not condition():
            more = self._read(0.05)
            assert time.monotonic() < deadline, f"waited in vain; it shows:\n{self.shown}"
            assert more or condition(), f"it ended; it shows:\n{self.shown}"

    def end(self) -> int:
        """Wait for the end of the command, and give its exit code."""
        deadline = time.monotonic() + GIVEN_UP
        while self.process.poll() is None:
            self._read(0.05)
            assert time.monotonic() < deadline, f"it does not end; it shows:\n{self.shown}"
        while select.select([self._master], [], [], 0)[0] and self._read(0.0):
            pass
        return self.process.returncode

    def children(self) -> list[int]:
        """The processes of its session that are still there, but for itself."""
        return [pid for pid in _processes() if pid != self.process.pid and _session(pid) == self.process.pid]

    def _read(self, seconds: float) -> bool:
        """Take in what comes; False once nobody can write any more."""
        if not select.select([self._master], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self._master, 1 << 16)
        except OSError:
            time.sleep(seconds)
            return False
        self._shown += piece
        return bool(piece)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self._master)


def _processes() -> list[int]:
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _session(pid: int) -> int:
    """The session of a process that runs; 0 of one that has ended."""
    try:
        state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    except OSError:
        return 0
    return 0 if state == "Z" else int(session)
