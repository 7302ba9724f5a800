"""A number in the pixels of a frame, readable after scaling and JPEG: black and white cells along the top."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

CELLS = 24
"""16 for the number, highest bit first, then 8 for a check sum: damage must not turn one number into another."""
STRIP = 18
"""The strip's height is the frame's divided by this."""
_BLACK, _WHITE, _NEUTRAL = 16, 235, 128


def stamp(planes: tuple[NDArray[np.uint8], ...], number: int) -> None:
    """Writes a number below 65,536 into the luma and chroma planes (4:2:0) of a frame of at least 120 x 72 pixels."""
    luma, *chroma = planes
    height = luma.shape[0] // STRIP
    bits = number << 8 | _check(number)
    cells = [_WHITE if bits >> (CELLS - 1 - i) & 1 else _BLACK for i in range(CELLS)]
    luma[:height] = np.repeat(np.array(cells, np.uint8), np.diff(_edges(luma.shape[1])))
    for plane in chroma:
        # One line more than the strip needs, lest colour be scaled into it.
        plane[: height // 2 + 1] = _NEUTRAL


def read(rgb: NDArray[Any]) -> int | None:
    """The number in a picture (height, width, 3) of any size; None where there is none, or it is damaged."""
    strip = rgb[: max(1, rgb.shape[0] // STRIP)]
    inside = slice(strip.shape[0] // 4, max(strip.shape[0] * 3 // 4, strip.shape[0] // 4 + 1))
    line = strip[inside].mean(axis=(0, 2))
    bits = 0
    for left, right in pairwise(_edges(rgb.shape[1])):
        margin = (right - left) // 4
        bits = bits << 1 | int(line[left + margin : max(right - margin, left + margin + 1)].mean() > 127)
    number = bits >> 8
    return number if bits & 0xFF == _check(number) else None


def _edges(width: int) -> NDArray[np.int64]:
    return np.linspace(0, width, CELLS + 1).astype(np.int64)


def _check(number: int) -> int:
    return (number * 167 + 91) % 251
