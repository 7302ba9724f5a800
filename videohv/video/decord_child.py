"""The other side of the decord decoder: runs in a process of its own, which may be killed at any time."""

from __future__ import annotations

import os
import re
import signal
import sys
import threading
from multiprocessing import connection
from typing import Any, NamedTuple

import av
import numpy as np
from numpy.typing import NDArray

from videohv.video.identity import FileId
from videohv.video.picture import Orientation, to_rgb

IDLE_BYTES = 1 << 30
BUSY_BYTES = 2 << 30
UNSEEN_REQUESTS = 200
LET_GO, TOO_BIG = 0, 77
"""Exit codes: it ended between two requests, for nobody's harm; it ended inside one, because its memory ran away."""

_LOOK_SECONDS = 0.25
_SLACK = 1e-6


class Request(NamedTuple):
    """Frames of a file at some ascending times (seconds), the shorter side so many pixels at most."""

    file: FileId
    times: tuple[float, ...]
    short_side: int


class Ready(NamedTuple):
    """The process runs, and decord is imported."""


class Opened(NamedTuple):
    """Decord has the file open: how many frames it sees, and the time of the last, in seconds from the first."""

    frames: int
    last: float


class Shot(NamedTuple):
    """One frame for the wanted times (seconds) during which it is on screen."""

    wanted: tuple[float, ...]
    time: float
    rgb: NDArray[np.uint8]


class Done(NamedTuple):
    """A request is answered, and the reader stands where it does no harm. After the last one the process ends."""

    last: bool


class Failed(NamedTuple):
    """Decord raised an error; the process ends."""

    why: str


Reply = Ready | Opened | Shot | Done | Failed


class Reader:
    """A decord reader that finds frames by the file's own timestamps."""

    def __init__(self, file: FileId) -> None:
        decord = _decord()
        self.file = file
        self._reader = decord.VideoReader(file.path, ctx=decord.cpu(0), num_threads=1)
        given = np.asarray(self._reader.get_frame_timestamp(range(len(self._reader))), dtype=np.float32)[:, 0]
        self._starts = given.astype(np.float64) - float(given[0])
        # Times come as 32-bit floats: what rounding may have added is taken off where frames are looked for.
        self._edges = self._starts - 2 * np.spacing(given).astype(np.float64) - _SLACK

    @property
    def opened(self) -> Opened:
        """What decord believes about the file."""
        return Opened(len(self._starts), float(self._starts[-1]))

    def grouped(self, times: tuple[float, ...]) -> dict[int, list[float]]:
        """The index of the frame on screen at each of some ascending times, with the times that mean it."""
        wanted: dict[int, list[float]] = {}
        for time in times:
            at = int(np.searchsorted(self._edges, time, side="right")) - 1
            wanted.setdefault(max(0, at), []).append(time)
        return wanted

    def shot(self, at: int, wanted: list[float], short_side: int) -> Shot:
        """One frame. They are read one at a time: together they cost as much, and are all held at full size."""
        picture: NDArray[np.uint8] = self._reader.get_batch([at]).asnumpy()[0]
        frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
        return Shot(tuple(wanted), float(self._starts[at]), to_rgb(frame, Orientation(), short_side))

    def rest(self) -> None:
        """Goes back to the start: an idle reader goes on decoding ahead without bound, but not from there."""
        self._reader.seek(0)


class Watch(threading.Thread):
    """Ends the process when its memory runs away, or when the parent is gone while decord hangs."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self._parent = os.getppid()
        self._requests = 0
        self.busy = False

    def run(self) -> None:
        """Looks four times a second."""
        pause = threading.Event()
        while not pause.wait(_LOOK_SECONDS):
            if os.getppid() != self._parent:
                os._exit(LET_GO)
            if self.busy and (resident() or 0) > BUSY_BYTES:
                os._exit(TOO_BIG)
            if not self.busy and (resident() or 0) > IDLE_BYTES:
                os._exit(LET_GO)

    def answered(self) -> bool:
        """Whether the process has grown too big, or, where that cannot be seen, has served for long enough."""
        self._requests += 1
        size = resident()
        return self._requests >= UNSEEN_REQUESTS if size is None else size > IDLE_BYTES


def resident() -> int | None:
    """Bytes of memory that this process holds, or held at most where that is all that the system tells; else None."""
    try:
        with open("/proc/self/statm", "rb") as file:  # noqa: PTH123
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError, AttributeError):
        pass
    if sys.platform == "darwin":
        import resource

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return None


def serve(parent: Any) -> None:
    """Answers each `Request` with `Opened`, a `Shot` for each different frame, and `Done`, until the other side closes.

    The file of the last request stays open. The first message of all is `Ready`; a `Failed` ends the process.

    Args:
        parent: The connection.
    """
    # An interrupt is for the parent to handle; it then closes the connection, or kills this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    reader: Reader | None = None
    path = ""
    try:
        _decord()
        watch = Watch()
        watch.start()
        parent.send(Ready())
        while True:
            request: Request = parent.recv()
            path, watch.busy = request.file.path, True
            if reader is None or reader.file != request.file:
                # The old one goes before the new one comes, so that only one is held.
                reader = None
                reader = Reader(request.file)
            parent.send(reader.opened)
            for at, wanted in reader.grouped(request.times).items():
                parent.send(reader.shot(at, wanted, request.short_side))
            reader.rest()
            watch.busy = False
            done = Done(last=watch.answered())
            parent.send(done)
            if done.last:
                return
    except (EOFError, ConnectionError):
        return
    except Exception as error:
        parent.send(Failed(_first_line(error, path)))


def main(handle: int) -> None:
    """Serves over an inherited handle, then ends without decord's own clean-up, which can hang or crash."""
    if sys.platform == "win32":
        parent: Any = connection.PipeConnection(handle)
    else:
        parent = connection.Connection(handle)
    try:
        serve(parent)
    finally:
        os._exit(LET_GO)


def _decord() -> Any:
    # The one place that imports it: it exports its symbols to the whole process, which breaks other libraries.
    import decord

    decord.logging.set_level(decord.logging.QUIET)
    return decord


def _first_line(error: Exception, path: str) -> str:
    """The message without the file's path, the places in decord's sources, and the stack below it."""
    text = re.sub(r"\[\d\d:\d\d:\d\d\] \S+:\d+: ", "", str(error).replace(f"[{path}]", "")).strip()
    return text.splitlines()[0] if text else type(error).__name__
