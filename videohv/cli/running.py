"""How a run is shown while it goes on: one line on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time

from rich.console import Console
from rich.live import Live
from rich.text import Text

from videohv.cli.progress import LINE_EVERY
from videohv.evaluate.runner import Progress
from videohv.types import clock


class Running:
    """A listener for the progress of a run.

    Args:
        console: Where it is shown.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._last = float("-inf")

    def __call__(self, progress: Progress) -> None:
        """Show how far it has come."""
        if self._console.is_terminal:
            if self._live is None:
                self._live = Live(console=self._console, refresh_per_second=4, transient=True)
                self._live.start()
            self._live.update(Text(line(progress)))
        elif time.monotonic() - self._last >= LINE_EVERY or progress.done == progress.total:
            self._last = time.monotonic()
            self._console.print(line(progress), markup=False, soft_wrap=True)

    def close(self) -> None:
        """Take the line away."""
        if self._live is not None:
            self._live.stop()
            self._live = None


def line(progress: Progress) -> str:
    """How far a run has come, in one line."""
    parts = [f"{progress.done}/{progress.total} done"]
    if progress.scored:
        parts.append(f"{progress.right / progress.scored:.1%} right (failures are wrong)")
    parts.append(f"{progress.failed} failed")
    if progress.crashed:
        parts.append(f"{progress.crashed} crashed")
    parts.append(f"{progress.calls} calls, {_count(progress.tokens)} tokens")
    if progress.cost:
        parts.append(f"${progress.cost:.2f}")
    if progress.left is not None:
        parts.append(f"{clock(float(round(progress.left)))} left")
    return ", ".join(parts)


def _count(number: int) -> str:
    if number >= 10_000_000:
        return f"{number / 1e6:.1f} M"
    return f"{number / 1000:.1f} k" if number >= 10_000 else str(number)
