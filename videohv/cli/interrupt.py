"""Ctrl-C: the first stops a command, which keeps what is done; a second ends it at once, whatever it is doing."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from videohv.cli.console import clean

INTERRUPTED = 130

GRACE = 3.0
"""Seconds that a command has for stopping. Everything on disk is such that a killed process can be gone on from."""

_SHOW_CURSOR = b"\x1b[?25h\n"

_kept: str = ""


def keeps(what: str) -> None:
    """Note what an interrupted command leaves to go on from, such as "finished questions are in runs/a"."""
    global _kept
    _kept = what


def farewell() -> str:
    """What an interrupted command says: what is kept and how to go on, or only that it has stopped."""
    return f"stopped; {_kept}: run the same command to go on" if _kept else "stopped"


@contextmanager
def interruptible() -> Iterator[None]:
    """Inside the block Ctrl-C raises `KeyboardInterrupt` once; the second one, or `GRACE` seconds, end the process.

    Python runs signal handlers in the main thread and between two steps of its own code only, which can be long after
    when that thread is inside a library. A thread of ours learns of the signal at once.
    """
    plain = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if not plain or threading.current_thread() is not threading.main_thread():
        yield
        return
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    wakeup = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)
    before = signal.signal(signal.SIGINT, _raise_once())
    watching = threading.Thread(target=_watch, args=(ours, signal.getsignal(signal.SIGINT)), daemon=True)
    watching.name = "videohv-interrupt"
    watching.start()
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
        signal.set_wakeup_fd(wakeup)
        theirs.close()
        watching.join()
        ours.close()


def _raise_once() -> signal._HANDLER:
    pressed = False

    def handle(number: int, frame: FrameType | None) -> None:
        nonlocal pressed
        if pressed:
            # Whoever stops must not be disturbed by it; the thread that watches ends the process.
            return
        pressed = True
        raise KeyboardInterrupt

    return handle


def _watch(signals: socket.socket, handler: object) -> None:
    """End the process on the second interrupt, or some time after the first."""
    pressed = 0
    while True:
        try:
            came = signals.recv(64)
        except TimeoutError:
            _end(farewell())
        if not came:
            return
        # Another program inside this one (a web server) may have put a handler of its own in the place of ours.
        if signal.getsignal(signal.SIGINT) is handler:
            pressed += came.count(signal.SIGINT)
        if pressed > 1:
            _end("")
        if pressed:
            signals.settimeout(GRACE)


def _end(say: str) -> None:
    with contextlib.suppress(OSError):
        if sys.stderr.isatty():
            os.write(sys.stderr.fileno(), _SHOW_CURSOR)
        if say:
            os.write(sys.stderr.fileno(), f"{clean(say)}\n".encode(errors="replace"))
    os._exit(INTERRUPTED)
