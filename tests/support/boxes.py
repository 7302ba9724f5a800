"""Where things lie in MP4 files: enough to break one table at a time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

_CONTAINERS = {b"moov", b"trak", b"mdia", b"minf", b"stbl", b"edts", b"moof", b"traf", b"mvex", b"dinf"}


class Box(NamedTuple):
    """A box of an MP4 file: `data[start:end]`, whose contents begin at `body`."""

    kind: str
    start: int
    body: int
    end: int


def boxes(data: bytes | bytearray, start: int = 0, end: int | None = None) -> Iterator[Box]:
    """All boxes, each before those inside it."""
    end = len(data) if end is None else end
    while start + 8 <= end:
        size, kind = int.from_bytes(data[start : start + 4], "big"), bytes(data[start + 4 : start + 8])
        body = start + 8
        if size == 1:
            size, body = int.from_bytes(data[body : body + 8], "big"), body + 8
        stop = start + size if size else end
        yield Box(kind.decode("latin-1"), start, body, stop)
        if kind in _CONTAINERS:
            yield from boxes(data, body, stop)
        start = stop


def box(data: bytes | bytearray, kind: str) -> Box:
    """The first box of a kind; in the clips of the tests it belongs to the video."""
    return next(b for b in boxes(data) if b.kind == kind)
