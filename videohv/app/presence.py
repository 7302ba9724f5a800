"""Which pages are open: when the last one of a client has been closed for a while, somebody is told."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager

AWAY_SECONDS = 5.0
"""A page that is loaded anew, or whose connection broke, is back within this time."""


class Presence:
    """Open pages by client.

    Args:
        on_gone: Called with a client whose last page is gone, from a thread of its own.
        away: Seconds after which a client is gone.
    """

    def __init__(self, on_gone: Callable[[str], None], away: float = AWAY_SECONDS) -> None:
        self._on_gone, self._away = on_gone, away
        self._open: Counter[str] = Counter()
        self._visits: Counter[str] = Counter()
        self._lock = threading.Lock()

    @contextmanager
    def page(self, client: str) -> Iterator[None]:
        """A page of a client is open inside the block."""
        with self._lock:
            self._open[client] += 1
            self._visits[client] += 1
        try:
            yield
        finally:
            with self._lock:
                self._open[client] -= 1
                left, visit = self._open[client], self._visits[client]
            if not left:
                timer = threading.Timer(self._away, self._look, (client, visit))
                timer.daemon = True
                timer.start()

    def _look(self, client: str, visit: int) -> None:
        with self._lock:
            # Whoever came back meanwhile, if only for a moment, has all of the time anew.
            gone = not self._open[client] and self._visits[client] == visit
            if gone:
                del self._open[client], self._visits[client]
        if gone:
            self._on_gone(client)
