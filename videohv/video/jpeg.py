"""Pictures as JPEG, within bounds on their sides, pixels and bytes."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import simplejpeg
from av import VideoFrame
from numpy.typing import NDArray

from videohv.types import FrameLimits

HEAD = "data:image/jpeg;base64,"
_QUALITIES = (85, 75, 60, 45)
_SMALLER = 0.75


def encode(rgb: NDArray[np.uint8], limits: FrameLimits | None = None) -> bytes:
    """Encodes a picture as JPEG with 4:2:0 colour, at the best quality of 85, 75, 60 and 45 that fits.

    A picture whose sides or pixels are beyond the limits is scaled down first, and never up. One that has too many
    bytes even at 45 (noise, for the most part) is scaled by 0.75 until it fits, so the bound on bytes holds for every
    picture.

    Args:
        rgb: (height, width, 3).
        limits: `request_bytes` and `images` do not matter here. None is `FrameLimits()`.

    Returns:
        A whole JPEG file.
    """
    limits = limits or FrameLimits()
    height, width = rgb.shape[:2]
    picture = np.ascontiguousarray(rgb)
    size = limits.size(width, height)
    while True:
        if size != (picture.shape[1], picture.shape[0]):
            picture = scaled(rgb, *size)
        for quality in _QUALITIES:
            data: bytes = simplejpeg.encode_jpeg(picture, quality=quality, colorspace="RGB", colorsubsampling="420")
            if len(data) <= limits.frame_bytes:
                return data
        if max(size) == 1:
            return data
        size = max(1, int(size[0] * _SMALLER)), max(1, int(size[1] * _SMALLER))


def scaled(rgb: NDArray[np.uint8], width: int, height: int) -> NDArray[np.uint8]:
    """A picture (height, width, 3) in another size, each pixel the mean of the area that it covers."""
    frame = VideoFrame.from_ndarray(np.ascontiguousarray(rgb), format="rgb24")
    made: NDArray[Any] = frame.reformat(width=width, height=height, format="rgb24", interpolation="AREA").to_ndarray()
    return made.astype(np.uint8, copy=False)


def data_uri(jpeg: bytes) -> str:
    """A JPEG file as a `data:image/jpeg;base64,` address, as vision models take it."""
    return HEAD + base64.b64encode(jpeg).decode("ascii")


def uri_length(jpeg: bytes) -> int:
    """Bytes of its address."""
    return len(HEAD) + -(-len(jpeg) // 3) * 4


def room_in_uri(length: int) -> int:
    """Bytes that a JPEG file may have for its address to be no longer than `length`."""
    return max(0, length - len(HEAD)) // 4 * 3


def size_of(jpeg: bytes) -> tuple[int, int]:
    """The (width, height) in pixels of a JPEG file."""
    height, width = simplejpeg.decode_jpeg_header(jpeg)[:2]
    return int(width), int(height)
