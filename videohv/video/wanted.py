"""The times asked for, as a queue that is filled one at a time."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

from videohv.errors import InputError
from videohv.video.scan import Scan


class Wanted:
    """Ascending times in seconds, read from any iterable no sooner than they are needed.

    Args:
        times: Seconds from the first shown frame, each finite, at least 0 and no smaller than the one before.
        index: The timeline on which they lie; what is wanted at or after its end ends the queue.
    """

    def __init__(self, times: Iterable[float], index: Scan) -> None:
        self._times: Iterator[float] = iter(times)
        self._index = index
        self._next: float | None = None
        self._last = 0.0
        self._done = False
        self.taken = 0

    @property
    def next(self) -> float | None:
        """The next time in seconds, left in the queue; None at its end.

        Raises:
            InputError: It is negative, not a number, or smaller than the one before.
        """
        if self._next is None and not self._done:
            self._next = self._pull()
            self._done = self._next is None
        return self._next

    @property
    def tick(self) -> int | None:
        """The tick of the next time; None at the end of the queue."""
        time = self.next
        return None if time is None else self._index.ticks(time)

    def take(self) -> float:
        """Takes the next time, which must be there, out of the queue."""
        time = self.next
        assert time is not None
        self._next = None
        self.taken += 1
        return time

    def _pull(self) -> float | None:
        for time in self._times:
            if not (math.isfinite(time) and time >= 0):
                raise InputError(f"a frame is wanted at {time} s; times are finite and not negative")
            if time < self._last:
                raise InputError(f"a frame is wanted at {time} s after one at {self._last} s; sort the times")
            self._last = time
            return float(time) if self._index.ticks(time) < self._index.end else None
        return None
