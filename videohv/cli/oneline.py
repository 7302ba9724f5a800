"""How far a long piece of work has come: one line that changes on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Protocol, TypeVar

from rich.console import Console
from rich.live import Live
from rich.text import Text

from videohv.cli.progress import LINE_EVERY
from videohv.types import clock

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class OneLine:
    """The line.

    Args:
        console: Where it is shown.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._last = float("-inf")

    def show(self, line: str, *, news: bool) -> None:
        """Show a line; where there is no terminal, only if it has news or none was shown for a while."""
        if self._console.is_terminal:
            if self._live is None:
                self._live = Live(console=self._console, refresh_per_second=4, transient=True)
                self._live.start()
            self._live.update(Text(line))
        elif news or time.monotonic() - self._last >= LINE_EVERY:
            self._last = time.monotonic()
            self._console.print(line, markup=False, soft_wrap=True)

    def close(self) -> None:
        """Take the line away."""
        if self._live is not None:
            self._live.stop()
            self._live = None


class Counted(Protocol[T_co]):
    """Items that may be gone through more than once, and how many they are."""

    def __len__(self) -> int: ...

    def __iter__(self) -> Iterator[T_co]: ...


class Going(Iterable[T]):
    """Items that are worked off one by one, with a line that says which is the next and how long the rest will take.

    Args:
        console: Where it is shown.
        what: What an item is called.
        items: The items.
    """

    def __init__(self, console: Console, what: str, items: Counted[T]) -> None:
        self._console, self._what, self._items = console, what, items

    def __iter__(self) -> Iterator[T]:
        shown, total, began = OneLine(self._console), len(self._items), time.monotonic()
        try:
            for done, item in enumerate(self._items):
                left = (time.monotonic() - began) / done * (total - done) if done else None
                rest = f", about {clock(float(round(left)))} left" if left is not None else ""
                shown.show(f"{self._what} {done + 1} of {total}{rest}", news=False)
                yield item
        finally:
            shown.close()
