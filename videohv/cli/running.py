"""How a run is shown while it goes on: one line on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

from videohv.cli.oneline import OneLine
from videohv.evaluate.runner import Progress
from videohv.types import clock


class Running(OneLine):
    """A listener for the progress of a run."""

    def __call__(self, progress: Progress) -> None:
        """Show how far it has come."""
        self.show(line(progress), news=progress.done == progress.total)


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
