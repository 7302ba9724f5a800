"""What the runs of `benchmarks.frames` come to: a table of costs, and ratios beside what they should be."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from benchmarks.frame_meter import Measured


class Cell(NamedTuple):
    """What was measured: the part of the benchmark, the name of what was run, and the clip."""

    part: str
    clip: str
    name: str


Runs = Mapping[Cell, Sequence[Measured]]


class Target(NamedTuple):
    """A figure beside its bound.

    Args:
        what: It is.
        value: Of the medians.
        low: Smallest value of a single round.
        high: Largest one.
        bound: What it should be.
        at_most: Whether the bound is one from above.
    """

    what: str
    value: float
    low: float
    high: float
    bound: float
    at_most: bool = True

    @property
    def met(self) -> bool:
        """Whether the value is within its bound."""
        return self.value <= self.bound if self.at_most else self.value >= self.bound

    def __str__(self) -> str:
        spread = "" if self.low == self.high else f" ({self.low:.3g} to {self.high:.3g})"
        sign = "at most" if self.at_most else "at least"
        verdict = "met" if self.met else "MISSED"
        return f"{self.what}: {self.value:.3g}{spread}, {sign} {self.bound:g}: {verdict}"


def targets(runs: Runs) -> Iterator[Target]:
    """The figures that can be told from these runs."""
    for clip in dict.fromkeys(cell.clip for cell in runs):
        for ours, theirs, bound in (("exact", "ffmpeg", 0.55), ("exact", "pyav", 0.65), ("key", "ffmpeg", 0.12)):
            what = f"{clip}, CPU of {ours} / {theirs}"
            yield from _ratio(runs, what, "sampling", clip, ours, theirs, _cpu, bound)
        what = f"{clip}, median window of ours / decord"
        yield from _ratio(runs, what, "windows", clip, "ours", "decord", _median, 0.6)
        what = f"{clip}, requests a second of ours / decord, 8 threads"
        yield from _ratio(runs, what, "threads", clip, "ours", "decord", _median, 2.5, at_most=False)
    for cell, found in runs.items():
        if found and cell.name in _OURS:
            wrong = sum(run.wrong or 0 for run in found)
            yield _single(f"{cell.clip}, wrong pictures of {cell.name} ({cell.part})", wrong, 0)
    yield from _memory(runs)


_OURS = ("exact", "near", "key", "ours", "opens", "idle-pyav", "idle-decord")


def _memory(runs: Runs) -> Iterator[Target]:
    short, long = (runs.get(Cell("sampling", clip, "exact"), ()) for clip in ("3min", "3h"))
    if short and long:
        peaks = [statistics.median(run.peak_mb for run in found) for found in (short, long)]
        yield _single("peak memory of exact, 3h / 3min", peaks[1] / peaks[0], 1.2)
        yield _single("peak MB of exact, 3h", peaks[1], 200)
    for cell, found in runs.items():
        if cell.part == "memory" and found:
            series = found[-1].series
            if cell.name == "opens":
                yield _single("resident memory after 500 opens and windows / after 50", series[-1] / series[0], 1.05)
            else:
                what = f"{cell.clip}, MB after 30 s {cell.name.replace('-', ' with ')} (and range in them)"
                yield Target(what, series[-1], min(series), max(series), 300)


def _single(what: str, value: float, bound: float) -> Target:
    return Target(what, value, value, value, bound)


def _ratio(
    runs: Runs,
    what: str,
    part: str,
    clip: str,
    ours: str,
    theirs: str,
    figure: Callable[[Measured], float],
    bound: float,
    at_most: bool = True,
) -> Iterator[Target]:
    pair = [[figure(run) for run in runs.get(Cell(part, clip, name), ())] for name in (ours, theirs)]
    if all(pair):
        single = [a / b for a, b in zip(*pair, strict=False)]
        value = statistics.median(pair[0]) / statistics.median(pair[1])
        yield Target(what, value, min(single), max(single), bound, at_most)


def _cpu(run: Measured) -> float:
    return run.cpu


def _median(run: Measured) -> float:
    return statistics.median(run.series)


def table(runs: Runs) -> Iterator[str]:
    """A line for each cell, with medians over its runs."""
    yield (
        f"{'part':9}{'clip':7}{'name':13}{'runs':>4}{'CPU s (min-max)':>25}{'wall s':>9}{'open':>7}{'start':>7}"
        f"{'peak MB':>9}{'pictures':>9}{'wrong':>6}"
    )
    for cell, found in runs.items():
        if found:
            cpu = [run.cpu for run in found]
            middle = {name: statistics.median(getattr(run, name) for run in found) for name in _COLUMNS}
            wrong = [run.wrong for run in found if run.wrong is not None]
            yield (
                f"{cell.part:9}{cell.clip:7}{cell.name:13}{len(found):>4}"
                f"{f'{statistics.median(cpu):.2f} ({min(cpu):.2f}-{max(cpu):.2f})':>25}{middle['wall']:>9.2f}"
                f"{middle['opening']:>7.2f}{middle['startup']:>7.2f}{middle['peak_mb']:>9.0f}"
                f"{found[-1].pictures:>9}{sum(wrong) if wrong else '-':>6}{_series(cell, found)}"
            )


_COLUMNS = ("wall", "opening", "startup", "peak_mb")


def _series(cell: Cell, found: Sequence[Measured]) -> str:
    values = sorted(value for run in found for value in run.series)
    if cell.part == "windows":
        p95 = values[min(len(values) - 1, int(0.95 * len(values)))]
        return f"  median {statistics.median(values):.0f} ms, p95 {p95:.0f} ms"
    if cell.part == "threads":
        requests = found[-1].pictures / 5
        return f"  {statistics.median(values):.2f} requests/s, {found[-1].cpu / requests * 1e3:.0f} ms CPU each"
    if cell.name == "opens":
        return f"  {found[-1].series[0]:.0f} MB after 50, {found[-1].series[-1]:.0f} MB after 500"
    if cell.part == "memory":
        return f"  {max(found[-1].series):.0f} MB at most, {found[-1].series[-1]:.0f} MB at the end"
    return ""
