"""A process of its own for test_run: captions a video with numbers read from its frames, noting each one in a log.

python child.py VIDEO STORE LOG SECONDS_PER_FRAME
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tests.support.clips import number_in
from videohv.captioners import caption_video
from videohv.data import CaptionStore
from videohv.types import Caption
from videohv.video import Frame, Video


class Numbers:
    """Captions a frame with the number it shows; slow, and counted in a file that many processes may append to."""

    identity = "numbers"

    def __init__(self, log: Path, seconds: float = 0.0) -> None:
        self._log, self._seconds = log, seconds

    def caption(self, frames: Iterable[Frame]) -> Iterator[Caption]:
        for frame in frames:
            time.sleep(self._seconds)
            with self._log.open("a") as log:
                log.write(f"{os.getpid()} {frame.wanted:.6f}\n")
            yield Caption(time=frame.time, text=f"number {number_in(frame.rgb)}")


if __name__ == "__main__":
    video, store, log, seconds = sys.argv[1:]
    made = caption_video(Video(video), Numbers(Path(log), float(seconds)), fps=10, store=CaptionStore(Path(store)))
    print(len(made))
