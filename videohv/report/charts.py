"""Small pictures of figures, as SVG whose widths are shares of their place: lettering is never scaled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from videohv.evaluate.calibration import Calibration
from videohv.evaluate.columns import number, percent, share
from videohv.report.markup import Markup, tag
from videohv.types import Estimate

_BINS = 24


class Slice(NamedTuple):
    """A part of a whole: its name, how many, and the class that gives its colour."""

    name: str
    n: int
    kind: str


def whisker(estimate: Estimate | None, low: float = 0.0, high: float = 1.0, name: str = "") -> Markup:
    """A mean with its interval as a point on a line from `low` to `high`."""
    if estimate is None:
        return Markup()

    def at(value: float) -> str:
        return f"{100 * (min(max(value, low), high) - low) / (high - low):.2f}%"

    zero = tag("line", x1=at(0.0), x2=at(0.0), y1=0, y2=18, class_="zero") if low < 0 < high else None
    return tag(
        "svg",
        tag("line", x1="0%", x2="100%", y1=9, y2=9, class_="rail"),
        zero,
        tag("line", x1=at(estimate.low), x2=at(estimate.high), y1=9, y2=9, class_="range"),
        tag("circle", cx=at(estimate.value), cy=9, r=4.5, class_="mean"),
        class_="whisker",
        width="100%",
        height=18,
        role="img",
        aria_label=f"{name} {share(estimate)}".strip(),
    )


def stacked(slices: Sequence[Slice], name: str) -> Markup:
    """Parts of a whole as one bar."""
    whole = sum(s.n for s in slices)
    if not whole:
        return Markup()
    drawn, left = [], 0.0
    for part in slices:
        width = 100 * part.n / whole
        if part.n:
            title = f"{part.name}: {part.n:,} ({percent(part.n / whole)})"
            drawn.append(
                tag("rect", tag("title", title), x=f"{left:.3f}%", width=f"{width:.3f}%", height=14, class_=part.kind)
            )
        left += width
    said = ", ".join(f"{s.name} {s.n}" for s in slices if s.n)
    return tag("svg", drawn, class_="stacked", width="100%", height=14, role="img", aria_label=f"{name}: {said}")


def legend(slices: Sequence[Slice]) -> Markup:
    """What the colours of a bar stand for, and how many of each."""
    return tag(
        "p",
        [tag("span", tag("i", class_=s.kind), f"{s.name} ", tag("b", f"{s.n:,}"), class_="key") for s in slices if s.n],
        class_="keys",
    )


def histogram(values: Sequence[float], name: str, money: bool = False) -> Markup:
    """How often which value occurs, with the median and the 95th percentile marked.

    The last bar holds all that is beyond 1.5 times the 95th percentile, so that a single outlier does not flatten the
    others.
    """
    known = np.asarray(values, dtype=np.float64)
    median, p95 = (float(v) for v in np.percentile(known, [50, 95]))
    low, top = float(known.min()), float(known.max())
    high = min(top, max(1.5 * p95, low))
    if high <= low:
        return tag("p", f"{number(low, money)} for every question", class_="quiet")
    whole = bool(np.all(known == np.floor(known))) and high - low < _BINS
    edges = np.arange(low - 0.5, high + 1.5) if whole else np.linspace(low, high, _BINS + 1)
    counts, edges = np.histogram(np.minimum(known, high), bins=edges)
    most, width, reach = int(counts.max()), 100 / len(counts), edges[-1] - edges[0]
    bars = []
    for i, count in enumerate(counts):
        tall = math.ceil(66 * count / most)
        last = i == len(counts) - 1 and top > high
        spoken = number(float(edges[i] + 0.5), money) if whole else _between(edges[i], edges[i + 1], money)
        title = f"{number(float(edges[i]), money)} and more: {count}" if last else f"{spoken}: {count}"
        bars.append(
            tag(
                "rect",
                tag("title", title),
                x=f"{i * width + 0.15:.2f}%",
                width=f"{width - 0.3:.2f}%",
                y=84 - tall,
                height=tall,
                class_="bar",
            )
        )
    marks = []
    for value, words in ((median, "median"), (p95, "95 %")):
        x = f"{min(100.0, 100 * (value - edges[0]) / reach):.2f}%"
        marks.append(
            tag("line", tag("title", f"{words} {number(value, money)}"), x1=x, x2=x, y1=14, y2=84, class_="mark")
        )
    more = " +" if top > high else ""
    return tag(
        "svg",
        bars,
        tag("line", x1=0, x2="100%", y1=84.5, y2=84.5, class_="rail"),
        marks,
        tag("text", number(low, money), x=0, y=98),
        tag("text", number(high, money) + more, x="100%", y=98, text_anchor="end"),
        tag(
            "text",
            f"median {number(median, money)} · 95 % below {number(p95, money)}",
            x="100%",
            y=9,
            text_anchor="end",
        ),
        class_="histogram",
        width="100%",
        height=102,
        role="img",
        aria_label=f"{name}: {number(low, money)} to {number(top, money)}, median {number(median, money)}, "
        f"95th percentile {number(p95, money)}",
    )


def reliability(made: Calibration) -> Markup:
    """Confidence against accuracy: points on the diagonal are confidences that can be believed."""
    most = max(b.n for b in made.bins)
    points = []
    for b in made.bins:
        if b.confidence is None or b.accuracy is None:
            continue
        title = f"confidence {percent(b.confidence)}: {percent(b.accuracy)} right of {b.n}"
        x, y = 44 + 240 * b.confidence, 250 - 240 * b.accuracy
        points.append(tag("line", x1=x, x2=x, y1=250 - 240 * b.confidence, y2=y, class_="gap"))
        points.append(tag("circle", tag("title", title), cx=x, cy=y, r=4 + 10 * math.sqrt(b.n / most), class_="bubble"))
    grid = [tag("line", x1=44, x2=284, y1=250 - 60 * i, y2=250 - 60 * i, class_="rail") for i in range(5)]
    labels = [tag("text", f"{25 * i} %", x=36, y=254 - 60 * i, text_anchor="end") for i in range(0, 5, 2)]
    labels += [tag("text", f"{25 * i} %", x=44 + 60 * i, y=278, text_anchor="middle") for i in range(0, 5, 2)]
    return tag(
        "svg",
        grid,
        tag("line", x1=44, y1=250, x2=284, y2=10, class_="diagonal"),
        points,
        labels,
        class_="reliability",
        viewBox="0 0 304 284",
        role="img",
        aria_label=f"Accuracy against confidence over {made.n} answers; calibration error {made.ece:.3f}",
    )


def _between(low: float, high: float, money: bool) -> str:
    return f"{number(float(low), money)} to {number(float(high), money)}"
