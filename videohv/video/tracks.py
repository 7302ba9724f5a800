"""An MP4 file as if it held nothing but its video, so that FFmpeg builds no index of its other tracks."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from videohv.video.boxes import boxes, find, read

PROTOCOLS = "file,concat,subfile"
"""What FFmpeg must be allowed to open the address with."""

_MOST = 8
# Four letters from the start of the file that name no box.
_BRANDS = frozenset({b"isom", b"iso2", b"iso4", b"iso5", b"iso6", b"mp41", b"mp42", b"M4V ", b"qt  "})
_BRAND = (8, 12)


class Alone(NamedTuple):
    """How the video of a file is read alone.

    Args:
        address: For FFmpeg.
        indices: For each stream that is left, its index in the whole file.
    """

    address: str
    indices: Sequence[int]


def alone(path: str) -> Alone | None:
    """The way to a file's video without its sound, subtitles and other tracks.

    FFmpeg indexes every track: hours of sound take tens of MB and half the time of opening. The address is put together
    of pieces of the file such that the tracks that are no video have another name, and are passed over. Nothing is
    copied.

    Args:
        path: An MP4 file whose edit lists hide nothing (`shows_all`), absolute.

    Returns:
        None where there is nothing to leave out, and where it cannot be done.
    """
    if "|" in path:
        return None
    try:
        with Path(path).open("rb") as file:
            size = file.seek(0, 2)
            top = list(boxes(file, 0, size))
            if top[0].kind != b"ftyp" or read(file, top[0], 4) not in _BRANDS:
                return None
            moov = next(box for box in top if box.kind == b"moov")
            inside = list(boxes(file, moov.start, moov.end))
            kinds = [box.kind for box in inside]
            tracks = [box for box in inside if box.kind == b"trak"]
            handlers = [find(file, track, b"mdia", b"hdlr") for track in tracks]
            videos = [handler is not None and read(file, handler, 12)[8:] == b"vide" for handler in handlers]
    except (OSError, struct.error, ValueError, IndexError, StopIteration):
        return None
    first = kinds.index(b"trak") if tracks else 0
    if not any(videos) or not 0 < len(tracks) - sum(videos) <= _MOST:
        return None
    if set(kinds[first : first + len(tracks)]) != {b"trak"}:
        # A cover picture may have its number between those of the tracks.
        return None
    letters = [track.letters for track, video in zip(tracks, videos, strict=True) if not video]
    pieces = []
    for begin, end in pairwise((-4, *letters, size)):
        pieces += [(begin + 4, end), _BRAND]
    address = "|".join(f"subfile,,start,{begin},end,{end},,:file:{path}" for begin, end in pieces[:-1])
    left = [i for i, video in enumerate(videos) if video]
    return Alone(f"concat:{address}", (*left, *range(len(tracks), len(tracks) + _MOST)))
