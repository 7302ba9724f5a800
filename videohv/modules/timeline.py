"""The captions of a video in time, with what every step needs of them made once."""

from __future__ import annotations

import bisect
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from videohv.modules.render import Line, captions_lines
from videohv.types import Caption, Window


@dataclass(frozen=True)
class Timeline:
    """P_f of the paper.

    Args:
        captions: In the order of time; none only for a method that reads none.
        duration: Of the video, in seconds.
    """

    captions: tuple[Caption, ...]
    duration: float

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The captions as a prompt shows them."""
        return tuple(captions_lines(self.captions))

    @cached_property
    def times(self) -> list[float]:
        """When each caption was made, in seconds."""
        return [caption.time for caption in self.captions]

    def inside(self, window: Window) -> tuple[Caption, ...]:
        """The captions within a window."""
        first = bisect.bisect_left(self.times, window.start)
        return self.captions[first : bisect.bisect_right(self.times, window.end, lo=first)]

    def nearest(self, time: float) -> Caption:
        """The caption that was made closest to a moment."""
        return self.captions[self.times.index(nearest(time, self.times))]


def booked(time: float, times: Sequence[float]) -> float | None:
    """The one of the ascending `times` that a model means by `time`; None if it is none of them.

    A model that names a second between two frames means the nearer one; one that names a second far from all of them
    has made it up. The limit is the distance of the frames, at least a second.
    """
    if time != time:
        return None
    gap = (times[-1] - times[0]) / (len(times) - 1) if len(times) > 1 else 0.0
    closest = nearest(time, times)
    return closest if abs(closest - time) <= max(1.0, gap) else None


def nearest(time: float, times: Sequence[float]) -> float:
    """The one of the ascending `times` that is closest."""
    i = bisect.bisect_left(times, time)
    return min(times[max(0, i - 1) : i + 1], key=lambda t: abs(t - time))
