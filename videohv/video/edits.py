"""Whether an MP4 file's edit lists hide anything, found out without reading its tables."""

from __future__ import annotations

import struct
from io import BufferedReader
from pathlib import Path

from videohv.video.boxes import Box, boxes, find, read


def shows_all(path: Path) -> bool:
    """Whether every picture in the file is shown, and so no edit list has to be carried out.

    Carrying them out costs FFmpeg a second copy of the index: tens of MB for hours of video. Ordinary files have one
    edit, which only takes the delay of reordering off the start; before it may come an empty one, for sound to begin.

    Args:
        path: Any file.

    Returns:
        False also for what is no MP4 file, is made of fragments, or looks odd in any way.
    """
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            moov = next((box for box in boxes(file, 0, size) if box.kind == b"moov"), None)
            return moov is not None and _all_shown(file, moov)
    except (OSError, struct.error, ValueError):
        return False


def _all_shown(file: BufferedReader, moov: Box) -> bool:
    parts = list(boxes(file, moov.start, moov.end))
    header = next((part for part in parts if part.kind == b"mvhd"), None)
    if header is None or any(part.kind == b"mvex" for part in parts):
        return False
    scale, _ = _scale_and_duration(file, header)
    tracks = [part for part in parts if part.kind == b"trak"]
    return all(_track_shown(file, track, scale) for track in tracks)


def _track_shown(file: BufferedReader, track: Box, movie_scale: int) -> bool:
    handler = find(file, track, b"mdia", b"hdlr")
    if handler is None:
        return False
    if read(file, handler, 12)[8:] != b"vide":
        return True
    edits = find(file, track, b"edts", b"elst")
    media = find(file, track, b"mdia", b"mdhd")
    if edits is None or media is None:
        return media is not None
    version, count = struct.unpack(">B3xI", read(file, edits, 8))
    if not 1 <= count <= 2 or version > 1:
        return bool(count == 0)
    entry = struct.Struct(">Qqi" if version else ">Iii")
    *before, (length, start, rate) = entry.iter_unpack(read(file, edits, 8 + count * entry.size)[8:])
    if before and before[0][1] != -1:
        return False
    scale, duration = _scale_and_duration(file, media)
    # Durations of edits are rounded to ticks of the movie, mostly milliseconds, and many a muxer counts the delay into
    # that of the media.
    whole = bool((length + 1) * scale >= (duration - start) * movie_scale)
    return bool(rate == 1 << 16 and start == _delay(file, track) and length > 0) and whole


def _delay(file: BufferedReader, track: Box) -> int:
    """Ticks between the decoding and the showing of the first picture."""
    offsets = find(file, track, b"mdia", b"minf", b"stbl", b"ctts")
    if offsets is None:
        return 0
    count, _, offset = struct.unpack(">4xIIi", read(file, offsets, 16))
    return int(offset) if count else 0


def _scale_and_duration(file: BufferedReader, header: Box) -> tuple[int, int]:
    form = ">20xIQ" if read(file, header, 1) == b"\1" else ">12xII"
    scale, duration = struct.unpack(form, read(file, header, struct.calcsize(form)))
    return int(scale), int(duration)
