"""What a picture looks like as a whole: its light, its main colours, and how much it differs from the one before."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_ROWS, _COLUMNS = 36, 64
_EDGE_ROWS, _EDGE_COLUMNS = 18, 16
_LUMA = np.array([0.299, 0.587, 0.114], dtype=np.float32)
_STROKE = 48  # grey levels between neighbours: strokes of letters do this, shading does not

_NAMES = "black white grey red brown orange beige yellow green turquoise blue purple pink"
COLOURS = tuple(_NAMES.split())


@dataclass(frozen=True, eq=False)
class Looks:
    """A picture boiled down to a few kilobytes.

    Args:
        small: The picture as 36 x 64 cells of mean red, green and blue (0 to 255).
        strokes: Share of pixels, in each of 18 x 16 cells, where the brightness jumps from one pixel to the next, as
            it does along letters.
    """

    small: NDArray[np.float32]
    strokes: NDArray[np.float32]

    @property
    def plain(self) -> bool:
        """Whether the picture is one even area, without anything to find or read in it."""
        return bool(self.small.std(axis=(0, 1)).max() < 3.0 and self.strokes.max() == 0.0)


def looks(rgb: NDArray[np.uint8]) -> Looks:
    """Boil a picture of shape (height, width, 3) down."""
    grey = rgb[:, :, 1]  # green carries most of the brightness and costs nothing to take
    jumps = np.abs(np.diff(grey.astype(np.int16), axis=1, append=grey[:, -1:])) > _STROKE
    return Looks(small=_cells(rgb, _ROWS, _COLUMNS), strokes=_cells(jumps, _EDGE_ROWS, _EDGE_COLUMNS))


def light(look: Looks) -> str:
    """`very dark`, `dim light`, `bright light`, or nothing for ordinary light."""
    mean = float((look.small @ _LUMA).mean())
    if mean < 30:
        return "very dark"
    if mean < 70:
        return "dim light"
    return "bright light" if mean > 190 else ""


def colours(look: Looks) -> tuple[str, ...]:
    """The one or two colours that cover most of the picture, in alphabetical order; none when it is a mix of many."""
    shares = np.bincount(_named(look.small.reshape(-1, 3)), minlength=len(COLOURS)) / (_ROWS * _COLUMNS)
    first, second = (int(i) for i in np.argsort(-shares, kind="stable")[:2])
    if shares[first] >= 0.75 or (shares[first] >= 0.4 and shares[second] < 0.2):
        return (COLOURS[first],)
    if shares[first] + shares[second] < 0.5:
        return ()
    # By share, two like-sized colours would change places from frame to frame.
    return tuple(sorted((COLOURS[first], COLOURS[second])))


def motion(look: Looks, before: Looks) -> str:
    """`still`, `movement` or `scene change`, from how much the cells' colours differ between two frames.

    Who or what moves, or whether it is the camera, cannot be told.
    """
    difference = float(np.abs(look.small - before.small).mean())
    if difference < 2.0:
        return "still"
    return "movement" if difference < 45.0 else "scene change"


def may_hold_text(look: Looks) -> bool:
    """Whether any cell has enough strokes for a line of text of ordinary contrast."""
    return bool(look.strokes.max() >= 0.03)


def text_may_differ(look: Looks, read: Looks, had_text: bool) -> bool:
    """Whether strokes came or went anywhere, as they do when a line of text changes.

    Args:
        look: The picture now.
        read: The picture in which text was looked for last.
        had_text: Whether any was found there. Then less is enough: the line may have been read while it faded in.
    """
    return bool(np.abs(look.strokes - read.strokes).max() > (0.03 if had_text else 0.04))


def _named(rgb: NDArray[np.float32]) -> NDArray[np.intp]:
    """Index into `COLOURS` for each of n colours, shape (n, 3)."""
    high, low = rgb.max(axis=1), rgb.min(axis=1)
    chroma = high - low
    saturation = chroma / np.maximum(high, 1.0)
    red, green, blue = rgb.T
    safe = np.maximum(chroma, 1e-6)
    sector = np.select(
        [high == red, high == green], [((green - blue) / safe) % 6, (blue - red) / safe + 2], (red - green) / safe + 4
    )
    hue = sector * 60.0
    warm = (hue >= 15) & (hue < 45)
    grey = (saturation < 0.16) | (chroma < 18)
    names = [
        (high < 40, "black"),
        (grey & (low > 200), "white"),
        (grey, "grey"),
        (warm & (high < 150), "brown"),
        (warm & (saturation < 0.5), "beige"),
        (warm, "orange"),
        ((hue >= 45) & (hue < 68), "yellow"),
        ((hue >= 68) & (hue < 165), "green"),
        ((hue >= 165) & (hue < 195), "turquoise"),
        ((hue >= 195) & (hue < 260), "blue"),
        ((hue >= 260) & (hue < 300), "purple"),
        ((hue >= 300) & (hue < 345), "pink"),
    ]
    return np.select([mask for mask, _ in names], [COLOURS.index(name) for _, name in names], COLOURS.index("red"))


def _cells(picture: NDArray[np.generic], rows: int, columns: int) -> NDArray[np.float32]:
    """Means over a grid of cells; a picture smaller than the grid repeats its pixels."""
    down, across = _cuts(picture.shape[0], rows), _cuts(picture.shape[1], columns)
    sums = np.add.reduceat(np.add.reduceat(picture, down, axis=0, dtype=np.int32), across, axis=1)
    heights = np.maximum(np.diff(down, append=picture.shape[0]), 1)
    widths = np.maximum(np.diff(across, append=picture.shape[1]), 1)
    area = (heights[:, None] * widths[None, :]).astype(np.float32)
    return (sums / area.reshape(area.shape + (1,) * (picture.ndim - 2))).astype(np.float32)


def _cuts(length: int, cells: int) -> NDArray[np.intp]:
    return np.arange(cells) * length // cells
