"""Pictures as JPEG, with a bound on their size."""

from __future__ import annotations

import numpy as np
import simplejpeg
from numpy.typing import NDArray

MAX_BYTES = 200_000
_QUALITIES = (85, 75, 60, 45)


def encode(rgb: NDArray[np.uint8], max_bytes: int = MAX_BYTES) -> bytes:
    """Encodes a picture as JPEG with 4:2:0 colour, at the best quality of 85, 75, 60 and 45 that fits.

    A picture that does not fit even at 45 (noise, for the most part) is halved in both directions until it does, so the
    bound holds for every picture.

    Args:
        rgb: (height, width, 3).
        max_bytes: The most bytes that the result may have, before base64.

    Returns:
        A whole JPEG file.
    """
    picture = np.ascontiguousarray(rgb)
    while True:
        for quality in _QUALITIES:
            data: bytes = simplejpeg.encode_jpeg(picture, quality=quality, colorspace="RGB", colorsubsampling="420")
            if len(data) <= max_bytes:
                return data
        if max(picture.shape[:2]) == 1:
            return data
        picture = np.ascontiguousarray(picture[::2, ::2])
