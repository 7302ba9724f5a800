"""Whether decord can be trusted with a file: it hangs on some, and shows other frames than it should on more."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from videohv.errors import VideoError
from videohv.video.decord_child import Opened, Request, Shot
from videohv.video.decord_pool import POOL
from videohv.video.decord_process import Deadlines
from videohv.video.frame import Frame
from videohv.video.identity import PerFile, check_file
from videohv.video.notes import Notes
from videohv.video.pyav_decoder import PyAVDecoder
from videohv.video.scan import Scan, scan

_CONTAINERS = frozenset({"mov", "mp4", "matroska", "webm"})
_AGREE_SECONDS = 0.01
_THUMBNAIL = 32
_LOOKS = (0.0, 0.29, 0.57, 0.83)
_OTHER_SHARE, _OTHER_LEVELS = 0.02, 48.0

_OPEN_SECONDS, _BYTES_A_SECOND = 5.0, 20e6
_FRAME_SECONDS, _PIXELS_A_SECOND = 4.0, 1e6


def deadlines(path: Path) -> Deadlines:
    """How long decord may take: it reads the whole file to open it, and up to a whole group for each frame."""
    index = scan(path)
    return Deadlines(
        open=_OPEN_SECONDS + check_file(path).size / _BYTES_A_SECOND,
        frame=_FRAME_SECONDS + index.width * index.height / _PIXELS_A_SECOND,
    )


class Trust:
    """Files are judged once in a process, before decord is first used, and again only when they have changed."""

    def __init__(self) -> None:
        self._judged: PerFile[str] = PerFile(_judge)
        self._withdrawn = Notes()

    def objection(self, path: Path) -> str:
        """Why decord is not to be used for a file, as the end of a sentence that begins with decord; empty if it is.

        Raises:
            VideoError: The file cannot be read at all.
        """
        withdrawn = self._withdrawn.of(path)
        return withdrawn[0] if withdrawn else self._judged(path)

    def withdraw(self, path: Path, why: str) -> None:
        """Objects to a file from now on, because decord failed in the middle of it."""
        self._withdrawn.add(path, why)


def _judge(path: Path) -> str:
    index = scan(path)
    if _CONTAINERS.isdisjoint(index.container.split(",")):
        return f"finds wrong frames in {index.container} files"
    if index.irregular:
        return f"finds wrong frames where there are {' and '.join(index.irregular)}"
    last = index.seconds(index.last)
    try:
        # At the end is where decord mostly hangs or gives up.
        right = list(PyAVDecoder().frames(path, (*(last * share for share in _LOOKS), last), _THUMBNAIL))
    except VideoError as error:
        return f"cannot be checked against PyAV ({error})"
    times = tuple(sorted({frame.time for frame in right}))
    answer = POOL.ask(Request(check_file(path), times, _THUMBNAIL), deadlines(path))
    return answer.failure or _other_timeline(answer.opened, index) or _other_pictures(answer.shots, right)


def _other_timeline(opened: Opened | None, index: Scan) -> str:
    last = index.seconds(index.last)
    if opened is None or opened.frames != index.frames or abs(opened.last - last) > _AGREE_SECONDS:
        seen = f"{opened.frames} frames up to {opened.last:.2f} s" if opened is not None else "nothing"
        return f"sees {seen} where the file has {index.frames} up to {last:.2f} s"
    return ""


def _other_pictures(shots: tuple[Shot, ...], right: list[Frame]) -> str:
    """Compares thumbnails: an index that agrees does not mean that decord finds the pictures that belong to it."""
    pictures = {time: shot.rgb for shot in shots for time in shot.wanted}
    for frame in right:
        if not _alike(pictures[frame.time], frame.rgb):
            return f"shows another picture than PyAV at {frame.time:.2f} s"
    return ""


def _alike(one: NDArray[np.uint8], other: NDArray[np.uint8]) -> bool:
    """Whether two pictures are the same but for rounding and shades of colour: few points differ much in brightness."""
    if one.shape != other.shape:
        return False
    difference = np.abs(one.mean(axis=2) - other.mean(axis=2))
    return bool((difference > _OTHER_LEVELS).mean() <= _OTHER_SHARE)


TRUST = Trust()
