"""How a run, or a search of many, is shown while it goes on: one line on a terminal, plain lines elsewhere."""

from __future__ import annotations

from rich.console import Console

from videohv.cli.oneline import OneLine
from videohv.evaluate.runner import Progress
from videohv.types import clock


class Running(OneLine):
    """A listener for the progress of a run."""

    def __call__(self, progress: Progress) -> None:
        """Show how far it has come."""
        self.show(line(progress), news=progress.done == progress.total)


class Searching(OneLine):
    """A listener for the progress of the runs of a search, one run a trial.

    Args:
        console: Where it is shown.
        trials: How many there are to be, those of earlier sittings too.
    """

    def __init__(self, console: Console, trials: int) -> None:
        super().__init__(console)
        self._trials = trials
        self._ended = 0
        self._took: list[float] = []
        self._latest: Progress | None = None

    def __call__(self, progress: Progress) -> None:
        """Show how far the run of the trial under way has come."""
        self._latest = progress
        self.show(self.line(progress), news=progress.done == progress.total)

    def ended(self) -> None:
        """A trial has ended, in this sitting or an earlier one."""
        self.close()
        self._ended += 1
        if self._latest is not None:
            self._took.append(self._latest.seconds)
            self._latest = None

    def line(self, progress: Progress) -> str:
        """How far the search has come, in one line."""
        said = f"trial {self._ended + 1}/{max(self._trials, self._ended + 1)}: {line(progress)}"
        if not self._took or progress.left is None:
            return said
        later = (self._trials - self._ended - 1) * sum(self._took) / len(self._took)
        return f"{said} of it, about {clock(float(round(progress.left + max(0.0, later))))} in all"


def line(progress: Progress) -> str:
    """How far a run has come, in one line."""
    parts = [f"{progress.done}/{progress.total} done"]
    if progress.scored:
        parts.append(f"{progress.right / progress.scored:.1%} right (failures are wrong)")
    parts.append(f"{progress.failed} failed")
    if progress.crashed:
        parts.append(f"{progress.crashed} crashed")
    parts.append(f"{progress.calls} calls, {count(progress.tokens)} tokens")
    if progress.cost:
        parts.append(f"${progress.cost:.2f}")
    if progress.left is not None:
        parts.append(f"{clock(float(round(progress.left)))} left")
    return ", ".join(parts)


def count(number: int) -> str:
    """A number of tokens in few characters."""
    if number >= 10_000_000:
        return f"{number / 1e6:.1f} M"
    return f"{number / 1000:.1f} k" if number >= 10_000 else str(number)
