"""One picture out of a video."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from videohv.video.jpeg import encode


@dataclass(frozen=True, eq=False)
class Frame:
    """The picture that was on screen at a wanted moment.

    Args:
        wanted: The time asked for, in seconds from the first shown frame.
        time: The frame's own presentation time, in seconds from the first shown frame; at most `wanted`.
        rgb: The picture, (height, width, 3), upright and read-only.
    """

    wanted: float
    time: float
    rgb: NDArray[np.uint8]

    @property
    def width(self) -> int:
        """Pixels across."""
        return int(self.rgb.shape[1])

    @property
    def height(self) -> int:
        """Pixels down."""
        return int(self.rgb.shape[0])

    @cached_property
    def jpeg(self) -> bytes:
        """The picture as a JPEG file of at most 200 000 bytes, made once."""
        return encode(self.rgb)

    @cached_property
    def data_uri(self) -> str:
        """The JPEG as a `data:image/jpeg;base64,` address, as vision models take it."""
        return "data:image/jpeg;base64," + base64.b64encode(self.jpeg).decode("ascii")
