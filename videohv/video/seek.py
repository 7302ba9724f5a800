"""Beginning to read near a wanted moment, and making sure that it was not overshot."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, dropwhile
from typing import NamedTuple

from av.error import FFmpegError

from videohv.video.gop import Segment, segments
from videohv.video.scan import Scan
from videohv.video.source import Source

_NEAR_SECONDS = 8
_BACK_SECONDS = (0, 1, 4, 16, 64)


class Run(NamedTuple):
    """Segments in order from somewhere in the stream, and whether the container can be trusted to seek."""

    segments: Iterator[Segment]
    seekable: bool


def start_at(source: Source, index: Scan, tick: int) -> Run:
    """Reads segments, beginning with one whose key frame is shown at or before `tick`.

    Containers seek by decoding time, by byte position or by guess, so the first key frame found is looked at, and the
    seek repeated further back while it comes too late; the start of the file is the last resort.
    """
    near = index.seconds(tick) <= _NEAR_SECONDS
    again = source.moved and index.reusable
    if (index.seekable and not near) or again:
        for back in _BACK_SECONDS:
            aim = max(tick - int(back / index.tick), index.origin)
            # Opening the file costs more than a seek to its start, which is not to be relied on in every container.
            if aim == index.origin and not again:
                break
            try:
                source.seek(aim)
            except FFmpegError:
                break
            found = segments(dropwhile(lambda p: not p.is_keyframe, source.packets()), index.origin)
            first = next(found, None)
            if first is not None and first.key <= tick:
                return Run(chain((first,), found), seekable=True)
            if aim == index.origin:
                break
    source.rewind()
    return Run(segments(source.packets(), index.origin), seekable=near and index.seekable)
