"""What a job in a process of its own has cost, and whether the frames that it got were the right ones."""

from __future__ import annotations

import resource
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks.frame_specs import FPS

_MB = 1024 * 1024
_PAGE = resource.getpagesize()


class Unavailable(Exception):
    """What is missing for a job."""


class Measured(NamedTuple):
    """The cost of a job.

    Args:
        cpu: Seconds, user and system, of the process and of the children that it has waited for, checks left out.
        wall: Seconds, checks left out.
        startup: CPU seconds before the job began: the interpreter and imports.
        opening: CPU seconds from there until the file was open.
        peak_mb: Highest resident memory of the process, or of a child if that is higher.
        pictures: How many it got.
        wrong: How many of them were not what they should be; None where nobody looked.
        series: Milliseconds of each request, or MB at one time after the other.
    """

    cpu: float
    wall: float
    startup: float
    opening: float
    peak_mb: float
    pictures: int
    wrong: int | None = None
    series: tuple[float, ...] = ()


class Meter:
    """Runs from where it is made until `done`.

    Args:
        loop: Frames before the numbers in the clip repeat.
    """

    def __init__(self, loop: int) -> None:
        self._loop = loop
        self.pictures = self.wrong = 0
        self._checked = False
        self._aside_cpu = self._aside_wall = self.opening = 0.0
        self.begin()

    def begin(self) -> None:
        """Counts from here, not from before."""
        self.startup, self._wall = _cpu(), time.perf_counter()

    def opened(self) -> None:
        """The file is open now."""
        self.opening = _cpu() - self.startup

    @contextmanager
    def aside(self) -> Iterator[None]:
        """What is done inside, in this thread, is not counted."""
        # By thread, not by process: others may go on with the job meanwhile.
        cpu, wall = time.thread_time(), time.perf_counter()
        yield
        self._aside_cpu += time.thread_time() - cpu
        self._aside_wall += time.perf_counter() - wall

    def check(self, rgb: Any, time: float, first: int, last: int) -> None:
        """Counts a picture, and whether it is the frame of its time, and that frame among those wanted.

        Args:
            rgb: (height, width, 3).
            time: At which its reader says that it is shown, in seconds.
            first: Index of the first frame that would be right.
            last: Index of the last one.
        """
        from benchmarks.bar_code import read

        index = round(time * FPS)
        self.pictures += 1
        self.wrong += not (first <= index <= last and read(rgb) == index % self._loop)
        self._checked = True

    def done(self, series: Sequence[float] = ()) -> Measured:
        """The costs until now."""
        return Measured(
            cpu=_cpu() - self.startup - self._aside_cpu,
            wall=time.perf_counter() - self._wall - self._aside_wall,
            startup=self.startup,
            opening=self.opening,
            peak_mb=max(_used(who).ru_maxrss for who in _WHO) * (1 if sys.platform == "darwin" else 1024) / _MB,
            pictures=self.pictures,
            wrong=self.wrong if self._checked else None,
            series=tuple(series),
        )


_WHO = (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
_used = resource.getrusage


def _cpu() -> float:
    return sum(_used(who).ru_utime + _used(who).ru_stime for who in _WHO)


def frame_at(wanted: float) -> int:
    """The index of the frame on screen at a time in seconds."""
    return int(wanted * FPS + 1e-6)


def resident_mb() -> float:
    """Resident memory of this process and all below it, now; pages that they share count for each.

    Raises:
        Unavailable: The system has no /proc.
    """
    if not Path("/proc/self/statm").exists():
        raise Unavailable("/proc, which Linux has")
    parents = {int(stat.parent.name): _parent(stat) for stat in Path("/proc").glob("[0-9]*/stat")}
    top = int(Path("/proc/self").resolve().name)
    return sum(_resident(pid) for pid in parents if _is_below(pid, top, parents)) / _MB


def _parent(stat: Path) -> int:
    try:
        return int(stat.read_text().rpartition(")")[2].split()[1])
    except OSError:
        return 0


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * _PAGE
    except OSError:
        return 0


def _is_below(pid: int, top: int, parents: dict[int, int]) -> bool:
    while pid not in (0, top):
        pid = parents.get(pid, 0)
    return pid == top
