"""Drawn pictures with a thing that detectors know and a text that readers can read."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont


def stop_sign(x: float, y: float, radius: float, size: tuple[int, int] = (640, 360)) -> NDArray[np.uint8]:
    """A stop sign on a meadow, (height, width, 3), with its centre at `x`, `y` and a `radius` in pixels."""
    image = Image.new("RGB", size, (120, 170, 225))
    draw = ImageDraw.Draw(image)
    draw.rectangle((x - 6, y, x + 6, size[1]), fill=(120, 120, 120))
    draw.rectangle((0, size[1] * 0.85, size[0], size[1]), fill=(90, 130, 70))
    for r, colour in ((radius, (240, 240, 240)), (radius * 0.94, (190, 20, 30))):
        eighths = (math.pi * (0.125 + i / 4) for i in range(8))
        draw.polygon([(x + r * math.cos(a), y + r * math.sin(a)) for a in eighths], fill=colour)
    draw.text((x, y), "STOP", fill="white", font=ImageFont.load_default(radius * 0.7), anchor="mm")
    return np.asarray(image)


def title(*lines: str, size: tuple[int, int] = (640, 360)) -> NDArray[np.uint8]:
    """White lines of text on black, (height, width, 3)."""
    image = Image.new("RGB", size)
    draw = ImageDraw.Draw(image)
    for i, line in enumerate(lines):
        y = size[1] / 2 + (i - (len(lines) - 1) / 2) * 60
        draw.text((size[0] / 2, y), line, fill="white", font=ImageFont.load_default(36), anchor="mm")
    return np.asarray(image)
