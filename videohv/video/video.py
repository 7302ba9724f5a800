"""A video file as the rest of the program sees it: what it is, and its frames by time."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import count, takewhile
from pathlib import Path

from videohv.errors import InputError
from videohv.types import VideoInfo, Window
from videohv.video.decoder import AUTO, get_decoder
from videohv.video.frame import Frame

MAX_WINDOW_FRAMES = 5


class Video:
    """An opened and probed video. Immutable: every call reads the file on its own, from any number of threads.

    Args:
        path: The video file.
        decoder: A registered decoder; `auto` is PyAV.
        short_side: The shorter side of frames at most, in pixels.

    Raises:
        InputError: No decoder has that name, or `short_side` is below 1.
        NotVideo: The file cannot be read, or holds no video.
        DecodeError: No frame of it can be decoded.
        MissingExtra: The decoder's package is not installed.
    """

    def __init__(self, path: str | Path, decoder: str = AUTO, short_side: int = 448) -> None:
        if short_side < 1:
            raise InputError(f"short_side is {short_side}; it is a number of pixels, at least 1")
        self._path = Path(path).absolute()
        self._short_side = short_side
        self.info: VideoInfo = get_decoder(decoder).probe(Path(path))
        # The probe may have found that another decoder is better for this file.
        self._decoder = get_decoder(self.info.decoder)

    def sample(self, fps: float = 1.0, start: float = 0.0, end: float | None = None) -> Iterator[Frame]:
        """Streams frames at an even rate: at `start + i / fps` while that is before `end`.

        Args:
            fps: Frames per second.
            start: Seconds.
            end: Seconds; None, or anything later than the end of the video, means its end.

        Returns:
            The frames, decoded as they are taken. Close the iterator, or drop it, to stop early.

        Raises:
            InputError: At once, for a rate or a time that makes no sense.
            DecodeError: On the way, when the decoder gives up; the frames before it are good.
        """
        if not (math.isfinite(fps) and fps > 0):
            raise InputError(f"fps is {fps}; it is a number of frames per second above 0")
        if not (math.isfinite(start) and start >= 0):
            raise InputError(f"start is {start}; it is a time in seconds, at least 0")
        if end is not None and math.isnan(end):
            raise InputError("end is not a number; it is a time in seconds, or None")
        stop = self.info.duration if end is None else min(end, self.info.duration)
        times = takewhile(lambda t: t < stop, (start + i / fps for i in count()))
        return self._decoder.frames(self._path, times, self._short_side)

    def frames_at(self, times: Sequence[float]) -> tuple[Frame, ...]:
        """The frames on screen at some times, in the order in which they are asked for.

        Args:
            times: Seconds, in any order. One at or after the end of the video has no frame and is left out.

        Raises:
            InputError: A time is negative or not finite.
            DecodeError: None of the frames can be decoded.
        """
        found = {f.wanted: f for f in self._decoder.frames(self._path, sorted(set(times)), self._short_side)}
        return tuple(found[t] for t in times if t in found)

    def window(self, window: Window, n: int = 5) -> tuple[Frame, ...]:
        """Up to `n` different frames spread evenly inside a window, each at the middle of an n-th of it.

        A window that reaches past the end of the video is cut there. One that ends in no time, at the very end, gives
        the last frame; one that begins later gives none.

        Args:
            window: Where to look.
            n: 1 to 5 frames.

        Raises:
            InputError: `n` is out of range.
            DecodeError: None of the frames can be decoded.
        """
        if not 1 <= n <= MAX_WINDOW_FRAMES:
            raise InputError(f"{n} frames of a window are wanted; 1 to {MAX_WINDOW_FRAMES} are possible")
        if window.start > self.info.duration:
            return ()
        last = self.info.duration - 1e-3
        length = min(window.end, self.info.duration) - window.start
        times = [max(0.0, min(window.start + length * (i + 0.5) / n, last)) for i in range(n)]
        different = {frame.time: frame for frame in reversed(self.frames_at(times))}
        return tuple(different[time] for time in sorted(different))
