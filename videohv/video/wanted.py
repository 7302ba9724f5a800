"""The times asked for, as a queue that is filled one at a time."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from videohv.errors import InputError
from videohv.video.scan import Scan


class _Time(NamedTuple):
    """A wanted time and how long after the one before it is, both in seconds."""

    time: float
    gap: float


class Wanted:
    """Ascending times in seconds, read from any iterable no sooner than they are needed.

    Args:
        times: Seconds from the first shown frame, each finite, at least 0 and no smaller than the one before.
        index: The timeline on which they lie; what is wanted at or after its end ends the queue.
    """

    def __init__(self, times: Iterable[float], index: Scan) -> None:
        self._times: Iterator[float] = iter(times)
        self._index = index
        self._ahead: deque[_Time] = deque()
        self._last: float | None = None
        self._done = False
        self.taken = 0

    @property
    def next(self) -> float | None:
        """The next time in seconds, left in the queue; None at its end.

        Raises:
            InputError: It is negative, not a number, or smaller than the one before.
        """
        return self._ahead[0].time if self._reaches(1) else None

    @property
    def tick(self) -> int | None:
        """The tick of the next time; None at the end of the queue."""
        time = self.next
        return None if time is None else self._index.ticks(time)

    @property
    def until(self) -> int:
        """The tick of the time after the next, or where their rhythm would have it, if that is earlier.

        The next time must be there.

        Raises:
            InputError: As for `next`.
        """
        following = self._ahead[1].time if self._reaches(2) else self._index.duration
        time, gap = self._ahead[0]
        return min(self._index.end, self._index.ticks(min(following, time + gap, self._index.duration)))

    def take(self) -> float:
        """Takes the next time, which must be there, out of the queue."""
        assert self._reaches(1)
        self.taken += 1
        return self._ahead.popleft().time

    def _reaches(self, count: int) -> bool:
        while len(self._ahead) < count and not self._done:
            time = self._pull()
            if time is None:
                self._done = True
            else:
                self._ahead.append(time)
        return len(self._ahead) >= count

    def _pull(self) -> _Time | None:
        for time in self._times:
            if not (math.isfinite(time) and time >= 0):
                raise InputError(f"a frame is wanted at {time} s; times are finite and not negative")
            if self._last is not None and time < self._last:
                raise InputError(f"a frame is wanted at {time} s after one at {self._last} s; sort the times")
            gap = math.inf if self._last is None else time - self._last
            self._last = float(time)
            return _Time(self._last, gap) if self._index.ticks(time) < self._index.end else None
        return None
