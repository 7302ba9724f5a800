"""The other side of the decord decoder: runs in a process of its own, which may be killed at any time."""

from __future__ import annotations

import re
import signal
from multiprocessing.connection import Connection
from typing import NamedTuple

import av
import numpy as np
from numpy.typing import NDArray

from videohv.video.picture import Orientation, to_rgb

_BATCH_BYTES = 96 << 20
_SLACK = 1e-3


class Opened(NamedTuple):
    """Decord could open the file: how many frames it sees, and the time of the last, in seconds from the first."""

    frames: int
    last: float


class Shot(NamedTuple):
    """One frame for the wanted times (seconds) during which it is on screen."""

    wanted: tuple[float, ...]
    time: float
    rgb: NDArray[np.uint8]


class Failed(NamedTuple):
    """Decord raised an error."""

    why: str


Reply = Opened | Failed | list[Shot]


class Reader:
    """A decord reader that finds frames by the file's own timestamps.

    Decord gives timestamps as 32-bit floats, so a millisecond of slack is allowed for.
    """

    def __init__(self, path: str, short_side: int) -> None:
        # The one place that imports decord: it exports its symbols to the whole process, which breaks other libraries.
        import decord

        decord.logging.set_level(decord.logging.QUIET)
        self._reader = decord.VideoReader(path, ctx=decord.cpu(0), num_threads=1)
        spans = np.asarray(self._reader.get_frame_timestamp(range(len(self._reader))), dtype=np.float64)
        self._starts = spans[:, 0] - spans[0, 0]
        self._short_side = short_side

    @property
    def opened(self) -> Opened:
        """What decord believes about the file."""
        return Opened(len(self._starts), float(self._starts[-1]))

    def shots(self, times: list[float]) -> list[Shot]:
        """The frames at some ascending times, each once."""
        wanted: dict[int, list[float]] = {}
        for time in times:
            at = int(np.searchsorted(self._starts, time + _SLACK, side="right")) - 1
            wanted.setdefault(max(0, at), []).append(time)
        shots: list[Shot] = []
        pending = sorted(wanted)
        size = 1
        while pending:
            batch, pending = pending[:size], pending[size:]
            pictures: NDArray[np.uint8] = self._reader.get_batch(batch).asnumpy()
            for at, picture in zip(batch, pictures, strict=True):
                frame = av.VideoFrame.from_ndarray(picture, format="rgb24")
                rgb = to_rgb(frame, Orientation(), self._short_side)
                shots.append(Shot(tuple(wanted[at]), float(self._starts[at]), rgb))
            size = max(1, _BATCH_BYTES // pictures[0].nbytes)
        # An idle reader goes on decoding ahead without bound; one that stands at its start does not.
        self._reader.seek(0)
        return shots


def serve(connection: Connection, path: str, short_side: int) -> None:
    """Opens the file, then answers each list of times with the frames for it, until the other side closes.

    Args:
        connection: To the parent. Every message from here is an `Opened`, a list of `Shot`, or a `Failed`.
        path: Absolute path of the file.
        short_side: As for `Decoder.frames`.
    """
    # An interrupt is for the parent to handle; it then closes the connection, or kills this process.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        reader = Reader(path, short_side)
        connection.send(reader.opened)
        while True:
            connection.send(reader.shots(connection.recv()))
    except (EOFError, BrokenPipeError):
        return
    except Exception as error:
        connection.send(Failed(_first_line(error)))


def _first_line(error: Exception) -> str:
    """The message without the places in decord's sources that it is sprinkled with, and without the stack below it."""
    text = re.sub(r"\[\d\d:\d\d:\d\d\] \S+:\d+: ", "", str(error)).strip()
    return text.splitlines()[0] if text else type(error).__name__
