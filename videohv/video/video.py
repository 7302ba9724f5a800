"""A video file as the rest of the program sees it: what it is, and its frames by time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import count, takewhile
from pathlib import Path
from typing import get_args

from videohv.errors import InputError
from videohv.types import VideoInfo, Window
from videohv.video.decoder import AUTO, Mode, get_decoder
from videohv.video.frame import Frame
from videohv.video.halves import in_halves
from videohv.video.notes import NOTES
from videohv.video.parallel import in_parallel, ranges
from videohv.video.pyav_decoder import PyAVDecoder
from videohv.video.scan import scan

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

    @property
    def warnings(self) -> tuple[str, ...]:
        """Those of `info`, followed by what reading frames has shown since, in this process."""
        return tuple(dict.fromkeys((*self.info.warnings, *NOTES.of(self._path))))

    def sample(
        self,
        fps: float = 1.0,
        mode: Mode = "exact",
        start: float = 0.0,
        end: float | None = None,
        workers: int = 1,
    ) -> Iterator[Frame]:
        """Streams frames at an even rate: one for each `start + i / fps` that is before `end`.

        Every frame says when it is shown itself. Where packets have no times to rely on, every mode is exact.

        Args:
            fps: Frames per second.
            mode: Which frame is given for a time `t`: with `exact` the one on screen; with `near` any that is shown
                from then on and before `t + 1 / fps`, the key frame if there is one, else the one cheapest to decode;
                with `key` the last key frame up to then, so that nothing but key frames is decoded.
            start: Seconds.
            end: Seconds; None, or anything later than the end of the video, means its end.
            workers: Threads that decode, each with a dozen frames held at most. More than one pay where cores are
                idle and the video is longer than a few groups of pictures.

        Returns:
            The frames in order, decoded as they are taken. Close the iterator, or drop it, to stop early; its threads
            end with it.

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
        if mode not in get_args(Mode):
            raise InputError(f"mode is {mode!r}; it is one of {', '.join(get_args(Mode))}")
        if workers < 1:
            raise InputError(f"workers is {workers}; it is a number of threads, at least 1")
        stop = self.info.duration if end is None else min(end, self.info.duration)

        def times() -> Iterator[float]:
            return takewhile(lambda t: t < stop, (start + i / fps for i in count()))

        def read(wanted: Iterable[float]) -> Iterator[Frame]:
            return self._decoder.frames(self._path, wanted, self._short_side, mode)

        cuts = self._cuts(times()) if workers > 1 else []
        workers = min(workers, len(cuts) + 1)
        return in_parallel(read, times, cuts, workers) if workers > 1 else read(times())

    def _cuts(self, times: Iterable[float]) -> list[float]:
        index = scan(self._path)
        return ranges((index.seconds(mark) for mark in index.marks), times)

    def frames_at(self, times: Sequence[float]) -> tuple[Frame, ...]:
        """The frames on screen at some times, in the order in which they are asked for.

        Args:
            times: Seconds, in any order. One at or after the end of the video has no frame and is left out.

        Raises:
            InputError: A time is negative or not finite.
            DecodeError: None of the frames can be decoded.
        """
        ordered = sorted(set(times))

        def read(wanted: Iterable[float]) -> Iterator[Frame]:
            return self._decoder.frames(self._path, wanted, self._short_side)

        alone = not isinstance(self._decoder, PyAVDecoder)
        found = {f.wanted: f for f in (read(ordered) if alone else in_halves(read, self._path, ordered))}
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
