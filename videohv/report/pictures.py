"""Thumbnails of evidence, and where the video lies as seen from the report."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from videohv.errors import InputError
from videohv.types import FrameLimits, Trace
from videohv.video import Video, content_hash
from videohv.video.jpeg import data_uri

MOST = 48
"""Thumbnails in one report at most."""

_SIDE, _BYTES = 180, 16_000


def thumbnails(trace: Trace, video: Video, most: int = MOST) -> Mapping[float, str]:
    """Small pictures of the moments that the evidence is of, by their time.

    No more than `most` (16 kB each, before base64): moments at which something was seen come first, and of the others
    every n-th. Times after the end of the video have none.

    Raises:
        DecodeError: None of them can be decoded.
    """
    seen = {o.time for e in trace.evidence for o in e.observations}
    others = sorted({t for e in trace.evidence for t in e.times} - seen)
    times = _thinned(sorted(seen), most)
    times += _thinned(others, most - len(times))
    limits = FrameLimits(short_side=_SIDE, frame_bytes=_BYTES)
    if not times:
        return {}
    return {frame.wanted: data_uri(frame.within(limits)) for frame in video.frames_at(sorted(times))}


def same_video(trace: Trace, path: Path) -> bool:
    """Whether a file is the video that the trace is of; True where the trace does not say.

    Raises:
        NotVideo: It is no file that could be read.
    """
    return trace.video is None or content_hash(path) == trace.video.content_hash


def require_same(trace: Trace, path: Path) -> None:
    """Refuse pictures of another video as evidence.

    Raises:
        InputError: The trace is of another file.
        NotVideo: It is no file that could be read.
    """
    if not same_video(trace, path):
        raise InputError(f"--video {path}: the trace is of another file (its content differs); give the video itself")


def beside(video: Path, report: Path) -> str:
    """The address of a video that lies in the report's folder or below it; empty for any other.

    A report that is sent on must not tell where on a disk it was made, so no other path ever goes into it.
    """
    try:
        below = Path(os.path.abspath(video)).relative_to(Path(os.path.abspath(report)).parent)  # noqa: PTH100
        return "./" + quote(below.as_posix(), safe="/")
    except (ValueError, UnicodeEncodeError):
        return ""


def _thinned(times: list[float], most: int) -> list[float]:
    if len(times) <= most:
        return times
    return [times[i * len(times) // most] for i in range(most)]
