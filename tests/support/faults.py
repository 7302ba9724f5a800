"""What a fake server refuses, and a reproducible plan of what goes wrong with which request."""

from __future__ import annotations

import hashlib
import threading
from collections import Counter
from collections.abc import Sequence

from tests.support.server import Failure, Fault, Request


class Quota:
    """A token bucket, as most providers limit their users.

    Args:
        rate: Requests a second.
        burst: Requests that are taken at once after a rest.
    """

    def __init__(self, rate: float, burst: float) -> None:
        self.rate, self.burst = rate, burst
        self._tokens, self._last = burst, 0.0

    def wait(self, now: float) -> float:
        """0 if a request is taken at this time, else the seconds until one would be."""
        self._tokens = min(self.burst, self._tokens + max(0.0, now - self._last) * self.rate)
        self._last = max(now, self._last)
        if self._tokens < 1:
            return (1 - self._tokens) / self.rate
        self._tokens -= 1
        return 0.0


class FaultPlan:
    """Which requests fail and how: by their text and how often it was asked before, whatever the order of threads.

    Args:
        share: Of all requests.
        kinds: Ways to fail, each as likely as the others.
        seed: Another plan for each.
        seconds: Of each `Fault`.

    Attributes:
        made: How often each kind of fault was served.
    """

    def __init__(self, share: float, kinds: Sequence[Failure], seed: int = 0, seconds: float = 0.0) -> None:
        self._share, self._kinds, self._seed, self._seconds = share, tuple(kinds), seed, seconds
        self._asked: Counter[str] = Counter()
        self._lock = threading.Lock()
        self.made: Counter[Failure] = Counter()

    def fault(self, request: Request, reply: str) -> Fault | None:
        """What goes wrong with this request, which would have had this reply; None if nothing does."""
        with self._lock:
            asked = self._asked[request.text]
            self._asked[request.text] += 1
            drawn = hashlib.sha256(f"{self._seed} {asked} {request.text}".encode()).digest()
            if int.from_bytes(drawn[:4]) / 2**32 >= self._share:
                return None
            kind = self._kinds[int.from_bytes(drawn[4:8]) % len(self._kinds)]
            self.made[kind] += 1
        return Fault(kind, self._seconds, text=reply)
