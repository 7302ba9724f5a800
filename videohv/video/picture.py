"""From a decoded frame to an upright RGB picture of the wanted size."""

from __future__ import annotations

import struct
from functools import cache
from typing import NamedTuple

import numpy as np
from av import VideoFrame
from av.sidedata.sidedata import SideData
from av.video.reformatter import VideoReformatter
from numpy.typing import NDArray

from videohv.types import FrameLimits

_PLANES = frozenset({"yuv420p", "yuvj420p"})


class Orientation(NamedTuple):
    """How the stored picture is turned into the upright one: transposed first, then mirrored."""

    transposed: bool = False
    mirrored_x: bool = False
    mirrored_y: bool = False

    @classmethod
    def of(cls, frame: VideoFrame) -> Orientation:
        """Reads the display matrix of a frame; the nearest quarter turn counts, and a matrix of zeros says nothing."""
        matrix = frame.side_data.get("DISPLAYMATRIX")
        if not isinstance(matrix, SideData):
            return cls()
        # Rows of three 32-bit numbers: a point (x, y) is shown at (a*x + c*y, b*x + d*y), the rest is translation.
        a, b, _, c, d = struct.unpack("=5i", bytes(matrix)[:20])
        if max(abs(a), abs(d)) >= max(abs(b), abs(c)):
            return cls(False, a < 0, d < 0)
        return cls(True, c < 0, b < 0)

    def size(self, width: int, height: int) -> tuple[int, int]:
        """The upright (width, height) of a stored picture."""
        return (height, width) if self.transposed else (width, height)

    def apply(self, picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Turns a picture (height, width, 3) upright."""
        if self.transposed:
            picture = picture.transpose(1, 0, 2)
        if self.mirrored_x:
            picture = picture[:, ::-1]
        if self.mirrored_y:
            picture = picture[::-1]
        return picture


def fitted(width: int, height: int, short_side: int) -> tuple[int, int]:
    """The (width, height) to which a picture is scaled: never up, and within `FrameLimits` of that short side."""
    return _limits(short_side).size(width, height)


_limits = cache(FrameLimits().with_short_side)


class Converter:
    """Makes upright RGB pictures out of the frames of one video; for one thread. What it has set up it keeps.

    Args:
        orientation: That of the video.
        short_side: The length of the shorter side at most, in pixels.
    """

    def __init__(self, orientation: Orientation, short_side: int) -> None:
        self._orientation = orientation
        self._short_side = short_side
        self._scale, self._paint = VideoReformatter(), VideoReformatter()

    def rgb(self, frame: VideoFrame) -> NDArray[np.uint8]:
        """Scales, converts and turns one frame.

        Args:
            frame: As the decoder gave it, in any pixel format.

        Returns:
            (height, width, 3), contiguous and read-only, so that frames can be shared between threads.
        """
        width, height = fitted(frame.width, frame.height, self._short_side)
        # Averaging over areas keeps small text readable. Three planes, two of them small, are scaled in a third of the
        # time that it takes together with the colours; other formats go in one step, so as to lose no precision.
        if frame.format.name in _PLANES and (width, height) != (frame.width, frame.height):
            frame = self._scale.reformat(frame, width=width, height=height, interpolation="AREA")
        scaled = self._paint.reformat(frame, width=width, height=height, format="rgb24", interpolation="AREA")
        rgb = np.ascontiguousarray(self._orientation.apply(scaled.to_ndarray().astype(np.uint8, copy=False)))
        rgb.setflags(write=False)
        return rgb


def to_rgb(frame: VideoFrame, orientation: Orientation, short_side: int) -> NDArray[np.uint8]:
    """One frame by a `Converter` of its own."""
    return Converter(orientation, short_side).rgb(frame)
