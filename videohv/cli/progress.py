"""Progress bars on a terminal; nothing elsewhere but a line now and then, so that logs stay readable."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)

from videohv.cli.console import ERRORS

LINE_EVERY = 15.0
"""Seconds between two lines where there is no terminal."""


class Counting:
    """A bar that appears with the first call and goes with `close`.

    Args:
        console: Where to draw.
        count: The column that shows how much is done; a plain `done/total` by default.
    """

    def __init__(self, console: Console, count: ProgressColumn | None = None) -> None:
        self._console = console
        self._count = count or MofNCompleteColumn()
        self._bar: Progress | None = None
        self._task = TaskID(0)
        self._last = time.monotonic()

    def __call__(self, what: str, done: int, total: int) -> None:
        """Show that `done` of `total` are done."""
        if not self._console.is_terminal:
            if time.monotonic() - self._last >= LINE_EVERY:
                self._last = time.monotonic()
                self._console.print(f"{what}: {done / max(total, 1):.0%} of {total}")
            return
        if self._bar is None:
            columns = (TextColumn("{task.description}"), BarColumn(), self._count, TimeRemainingColumn())
            self._bar = Progress(*columns, console=self._console, transient=True)
            self._task = self._bar.add_task(what, total=total)
            self._bar.start()
        self._bar.update(self._task, completed=done, total=total, description=what)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


@contextmanager
def counting(what: str, count: ProgressColumn | None = None) -> Iterator[Callable[[int, int], None]]:
    """A progress callback `(done, total)` that is shown on stderr while the block runs."""
    bar = Counting(ERRORS, count)
    try:
        yield lambda done, total: bar(what, done, total)
    finally:
        bar.close()
