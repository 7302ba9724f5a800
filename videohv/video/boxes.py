"""The boxes that an MP4 file is made of, read without their contents."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from io import BufferedReader
from typing import NamedTuple

_MOST_BOXES = 1000


class Box(NamedTuple):
    """A part of the file.

    Args:
        kind: Its four letters.
        letters: Where these are.
        start: Where its contents begin.
        end: Where they end.
    """

    kind: bytes
    letters: int
    start: int
    end: int


def boxes(file: BufferedReader, start: int, end: int) -> Iterator[Box]:
    """The boxes in a stretch of the file, one after the other; 1,000 at most.

    Raises:
        ValueError: One of them does not fit into the stretch.
        struct.error: The file ends in one's head.
    """
    for _ in range(_MOST_BOXES):
        if start + 8 > end:
            return
        file.seek(start)
        size, kind = struct.unpack(">I4s", file.read(8))
        inside = start + 8
        if size == 1:
            size, inside = struct.unpack(">Q", file.read(8))[0], start + 16
        size = size or end - start
        if size < inside - start or start + size > end:
            raise ValueError("a box that does not fit into its surroundings")
        yield Box(kind, start + 4, inside, start + size)
        start += size


def find(file: BufferedReader, box: Box, *kinds: bytes) -> Box | None:
    """The first box of a kind within a box, and so on inwards; None where there is none.

    Raises:
        ValueError: See `boxes`.
        struct.error: See `boxes`.
    """
    found: Box | None = box
    for kind in kinds:
        if found is not None:
            found = next((part for part in boxes(file, found.start, found.end) if part.kind == kind), None)
    return found


def read(file: BufferedReader, box: Box, size: int) -> bytes:
    """The first bytes of a box's contents, fewer where it is shorter."""
    file.seek(box.start)
    return file.read(min(size, box.end - box.start))
