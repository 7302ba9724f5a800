"""How many calls a server takes at once, and how many a second, learned from what it refuses.

A server that limits its users says only that a call was one too many (429). From when the calls went out, which of them
were refused, and how long the server asked to be left alone, a `Pacer` works out when the next one may go:

* calls in flight by additive increase and multiplicative decrease (AIMD), as TCP does it;
* the gap between calls from a rate in calls a second: at first what the server took, up to the end of its
  `Retry-After`, doubling until it refuses again; then along a cubic curve with its flat part at the best estimate, as
  CUBIC (RFC 9438) treats the window: back to it soon, staying near it for long, then trying more.
"""

from __future__ import annotations

import math
from collections import deque

WINDOWS = (1.0, 4.0, 16.0, 64.0)
"""Seconds before a refusal that a rate is estimated from: the one in which most was taken counts."""

LONGEST_HOLD = 60.0
"""Seconds that calls are held at most when a server does not say how long."""

_IDLE = 1.0
_REMEMBERED = 10_000

_FAR = 3.0
"""How much more was sent than taken, for a rate to be thrown away rather than corrected."""

_OVERSHOT = 0.7
"""The part of a doubling rate that was right when it met its limit: by then a bucket of the server's is empty too."""

_DIP = 0.15
"""The part that the cubic curve begins below its flat part."""

_SHORTEST, _LONGEST = 0.5, 30.0


class Pacer:
    """The bookkeeping for one server.

    It knows the time from its arguments alone, in seconds of any steady clock, and is not safe under threads.

    Attributes:
        limit: Calls in flight at most; infinite until the first refusal.
        rate: Calls a second; infinite until the first refusal.
        in_flight: Calls that were sent and did not come back yet.
    """

    def __init__(self) -> None:
        self.limit = math.inf
        self.rate = math.inf
        self.in_flight = 0
        self._held_until = 0.0
        self._refused_at = -math.inf
        self._in_a_row = 0
        self._next_at = 0.0
        self._idle_at = -math.inf
        # Since the last hold: when that was, what went out, what of it was refused, and seconds of calls that waited.
        self._since = 0.0
        self._sent: deque[float] = deque(maxlen=_REMEMBERED)
        self._refused: deque[float] = deque(maxlen=_REMEMBERED)
        self._paced = 0.0
        # The curve: searching or settled, from or around which rate, and its unit of time in seconds.
        self._searching = True
        self._base = 0.0
        self._pulse = 1.0

    def wait(self, now: float, cap: float = math.inf) -> float:
        """Seconds until the next call may go; infinite if another must come back first.

        Args:
            now: The time.
            cap: Calls in flight at most, whatever has been learned.
        """
        if self._held_until:
            if now < self._held_until:
                return self._held_until - now
            self._resume()
        if self.in_flight + 1 > max(1.0, min(self.limit, cap)):
            return math.inf
        return max(0.0, self._next_at - now)

    def sent(self, now: float) -> None:
        """A call goes out."""
        if not self.in_flight and now - max(self._idle_at, self._next_at) > _IDLE:
            # What a server takes cannot be told from a time in which nothing was asked of it.
            self._since = now
        self.in_flight += 1
        self._sent.append(now)
        if self.rate < math.inf:
            gap = 1 / self.rate
            if now - self._next_at < gap:
                # Only calls that had to wait for their turn show that a higher rate would be used.
                self._paced += gap
                self.rate = self._curve(self._paced)
            self._next_at = max(now, self._next_at) + gap

    def answered(self, now: float) -> None:
        """A call came back with an answer."""
        self._back(now)
        self._in_a_row = 0
        self.limit += 1 if self._searching else 1 / self.limit

    def lost(self, now: float) -> None:
        """A call came back with neither an answer nor a refusal, which says nothing of limits."""
        self._back(now)

    def refused(self, sent_at: float, now: float, retry_after: float | None = None) -> None:
        """A call was refused because it was one too many.

        Of calls that were under way together only the first refused one halves the limit, and only if there were as
        many as the limit allows: with fewer it is the rate that was too high.

        Args:
            sent_at: When it went out.
            now: When it came back.
            retry_after: Seconds that the server asks to be left alone. None: 1 s, doubled with each refusal in a row.
                0 says that it may be asked again at once, so the rate stays.
        """
        together = self.in_flight
        self._back(now)
        self._refused.append(sent_at)
        if sent_at > self._refused_at:
            self._refused_at = now
            self._in_a_row += 1
            if together >= self.limit or self.limit == math.inf:
                self.limit = max(1.0, together / 2)
        hold = retry_after if retry_after is not None else min(LONGEST_HOLD, 2.0 ** (self._in_a_row - 1))
        if hold > 0:
            self._held_until = max(self._held_until, now + hold)

    def _back(self, now: float) -> None:
        self.in_flight -= 1
        if not self.in_flight:
            self._idle_at = now

    def _resume(self) -> None:
        """The hold is over: choose the rate to go on with."""
        end, self._held_until = self._held_until, 0.0
        measured = max(self._taken_in(window, end) for window in WINDOWS) or min(self.rate, 2.0) / 2
        if measured * _FAR < self.rate:
            self._searching, self._base = True, measured
        elif self._searching:
            self._searching, self._base = False, _OVERSHOT * self.rate
        else:
            self._base = (measured + self.rate) / 2
        # However long a server refused everything: once it does not, that is to be noticed.
        self._base = max(self._base, 1 / LONGEST_HOLD)
        self._pulse = min(_LONGEST, max(_SHORTEST, end - self._refused_at, 1 / self._base))
        self._paced = 0.0
        self.rate = self._curve(0.0)
        self._sent.clear()
        self._refused.clear()
        self._since = self._next_at = end

    def _taken_in(self, window: float, end: float) -> float:
        """Calls a second that the server took in a window before it refused one, with the hold that followed."""
        begin = max(self._since, self._refused_at - window)
        taken = sum(at >= begin for at in self._sent) - sum(at >= begin for at in self._refused)
        return max(0, taken) / max(end - begin, 1e-3)

    def _curve(self, seconds: float) -> float:
        """The rate after so many seconds of calls that waited for their turn."""
        pulses = seconds / self._pulse
        if self._searching:
            return self._base * math.exp2(min(pulses / 2, 30.0))
        return self._base * (1 + _DIP * (pulses / 8 - 1) ** 3)
