"""A process in which decord runs, as its parent sees it: started, asked with a deadline, ended."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys
from typing import Any, NamedTuple

from videohv.video.decord_child import BUSY_BYTES, LET_GO, TOO_BIG, Done, Failed, Opened, Reply, Request, Shot
from videohv.video.identity import FileId

_START_SECONDS = 20.0
_GRACE_SECONDS = 2.0
_CODE = "import sys; sys.path[:] = {path!r}; from videohv.video.decord_child import main; main({handle})"


class DecordFailed(Exception):
    """What went wrong, as the end of a sentence that begins with decord."""


class Gone(DecordFailed):
    """The process had ended before the request reached it, as it does when it has served for long enough."""


class Deadlines(NamedTuple):
    """Seconds that opening a file may take, and that each frame may take after that."""

    open: float
    frame: float


class Answer(NamedTuple):
    """What came of a request.

    Args:
        opened: What decord believes about the file; None if it could not be opened.
        shots: The frames, in order of time; the first ones only when it failed.
        failure: Why the rest is missing, as the end of a sentence that begins with decord; empty if nothing is.
    """

    opened: Opened | None
    shots: tuple[Shot, ...]
    failure: str = ""


class DecordProcess:
    """One child process. For one thread at a time.

    It is a plain program rather than one of `multiprocessing`, which would run the caller's script a second time in
    the child, and refuses to start any from within its own workers.

    Raises:
        DecordFailed: It cannot be started, or decord cannot be imported there.
    """

    def __init__(self) -> None:
        self.file: FileId | None = None
        self.usable = True
        self.idle_since = 0.0
        self._connection, other = multiprocessing.Pipe()
        try:
            self._process = _start(other.fileno())
        except OSError as error:
            self._connection.close()
            raise DecordFailed(f"cannot be started ({error})") from error
        finally:
            other.close()
        try:
            self._receive(_START_SECONDS)
        except BaseException:
            self.end()
            raise

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    def ask(self, request: Request, deadlines: Deadlines) -> Answer:
        """The frames for a request; everything is taken in before it returns, so that the reader is left at rest.

        Afterwards `usable` says whether it can be asked again.

        Raises:
            Gone: Nothing was done; ask another process.
        """
        opened: Opened | None = None
        shots: list[Shot] = []
        self.usable, self.file = False, request.file
        try:
            self._send(request)
            while True:
                reply = self._receive(deadlines.open if opened is None else deadlines.frame)
                if isinstance(reply, Opened):
                    opened = reply
                elif isinstance(reply, Shot):
                    shots.append(reply)
                elif isinstance(reply, Done):
                    self.usable = not reply.last
                    return Answer(opened, tuple(shots))
        except Gone:
            if opened is None:
                raise
            return Answer(opened, tuple(shots), "ended by itself")
        except DecordFailed as failure:
            return Answer(opened, tuple(shots), str(failure))

    def end(self) -> None:
        """Ends the process at once, whatever it is doing, and waits until it is gone."""
        self.usable = False
        self._connection.close()
        self._process.kill()
        self._process.wait()

    def _send(self, request: Request) -> None:
        try:
            self._connection.send(request)
        except OSError as error:
            raise self._died() from error

    def _receive(self, deadline: float) -> Reply:
        try:
            # With no time at all nothing is in time, however quick the child was.
            if deadline <= 0 or not self._connection.poll(deadline):
                raise DecordFailed(f"gave nothing for {deadline:.3g} s and was ended")
            reply: Reply = self._connection.recv()
        except (EOFError, OSError) as error:
            raise self._died() from error
        if isinstance(reply, Failed):
            raise DecordFailed(f"cannot read it ({reply.why})")
        return reply

    def _died(self) -> DecordFailed:
        try:
            code = self._process.wait(_GRACE_SECONDS)
        except subprocess.TimeoutExpired:
            return DecordFailed("stopped answering and was ended")
        if code == LET_GO:
            return Gone("ended by itself")
        if code == TOO_BIG:
            return DecordFailed(f"took more than {BUSY_BYTES >> 30} GiB of memory and was ended")
        return DecordFailed(f"ended by itself (exit code {code})")


def _start(handle: int) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", _CODE.format(path=sys.path, handle=handle)]
    quiet: dict[str, Any] = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.DEVNULL)
    if sys.platform == "win32":
        os.set_handle_inheritable(handle, True)
        startup = subprocess.STARTUPINFO(lpAttributeList={"handle_list": [handle]})
        return subprocess.Popen(command, startupinfo=startup, **quiet)
    return subprocess.Popen(command, pass_fds=(handle,), **quiet)
