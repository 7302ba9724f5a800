"""Which clips frames are read from, and where they are kept. Imports nothing heavy: peaks of memory are inherited."""

from __future__ import annotations

import hashlib
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

FPS = 30

_MADE = "1"
"""Goes into the names of the files: raise it when what is made changes."""


class Spec(NamedTuple):
    """A clip.

    Frame `i` is shown at `i / 30` s and carries the number `i % loop`. The number alone therefore does not tell which
    repetition a frame is from; the presentation time does, which belongs to the packet that the picture was decoded
    from. A reader is right when both fit: the time is that of the wanted frame, and the number is that of the time.

    Args:
        name: Of the clip.
        width: Pixels.
        height: Pixels.
        seconds: Its length.
        loop: Frames before it repeats, below 65,536; a divisor of all its frames.
        noise: Standard deviation of the noise in its luma.
        used: Seconds of it that are sampled, from its start.
    """

    name: str
    width: int
    height: int
    seconds: int
    loop: int
    noise: float
    used: int

    @property
    def frames(self) -> int:
        """How many there are."""
        return self.seconds * FPS


SPECS = (
    Spec("3min", 854, 480, 180, 180 * FPS, 3.0, 180),
    Spec("60min", 1280, 720, 3600, 300 * FPS, 2.0, 300),
    Spec("3h", 640, 360, 10_800, 360 * FPS, 1.5, 10_800),
)


def default_folder() -> Path:
    """Where clips are kept when no folder is given."""
    return Path(tempfile.gettempdir()) / "videohv-frame-clips"


def clip_path(spec: Spec, folder: Path, sources: Sequence[Path] = ()) -> Path:
    """Where a clip is kept; another name for other contents."""
    made_of = [spec, *((source.name, source.stat().st_size) for source in sources), _MADE]
    return folder / f"{spec.name}-{hashlib.sha256(repr(made_of).encode()).hexdigest()[:8]}.mp4"
