"""Which windows an answer relied on, and how far they cover what the annotators marked."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from videohv.types import Trace, Window

_SLACK = 0.05
"""Seconds by which a cited time may miss its window: prompts show times rounded to hundredths, models to tenths."""

_CLOCK = r"\d{1,2}(?::\d{2}){1,2}(?:\.\d+)?"
_TIME = rf"(?:{_CLOCK}|\d+(?:\.\d+)?)"
_TIMES = rf"{_TIME}(?:\s*(?:,\s*and\b|,|\band\b|\bto\b|-|–|—)\s*{_TIME}){{0,9}}"
_CITED = re.compile(
    rf"(?<![\d.:])(?<!for\s){_TIMES}\s*(?:s|secs?|seconds?)\b(?!\s+(?:later|earlier|long))"
    rf"|\b(?:seconds?|timestamps?|times?|t\s*=)\s*:?\s*({_TIMES})(?!\w)"
    rf"|\[\s*({_TIMES})\s*\]"
    rf"|(?<![\d.:]){_CLOCK}(?![\d:])",
    re.IGNORECASE,
)
_ONE = re.compile(_TIME)


class Overlap(NamedTuple):
    """Intersection over union, and intersection over the predicted window; both from 0 to 1."""

    iou: float
    iop: float


def relied_windows(trace: Trace) -> tuple[Window, ...]:
    """The windows that the answer relied on, the one it relied on most first; none if nothing was looked at.

    They are the looked-at windows that hold a time which the last check's rationale or the answer's reasoning cites,
    by the number of different times cited. The first of them is the single window that grounding scores are made of.
    Windows with equally many come in the order in which they were located, those of a later round first. Where nothing
    is cited it is the first window located in the last round that saw anything.
    """
    located = [e.window for round_ in reversed(trace.rounds) for look in round_.looks for e in look.evidence]
    windows = tuple(dict.fromkeys(located))
    checks = [look.check for round_ in trace.rounds for look in round_.looks if look.check is not None]
    said = [checks[-1].rationale] if checks else []
    said += [trace.answer.reasoning] if trace.answer is not None else []
    times = cited_times(" \n ".join(said))
    votes = {w: sum(w.start - _SLACK <= t <= w.end + _SLACK for t in times) for w in windows}
    cited = sorted((w for w in windows if votes[w]), key=lambda w: -votes[w])
    return tuple(cited) or windows[:1]


def cited_times(text: str) -> frozenset[float]:
    """The moments in seconds that a text names: `12s`, `12.5-15 s`, `seconds 3, 4 and 9`, `[7]`, `1:05`.

    A number without such a mark is no time (`3 people`), and neither is a length (`for 3 seconds`).
    """
    return frozenset(
        _seconds(time)
        for match in _CITED.finditer(text)
        for time in _ONE.findall(match.group(1) or match.group(2) or match.group(0))
    )


def overlap(window: Window, span: Window) -> Overlap:
    """How a window covers one annotated span, as NExT-GQA's official evaluation has it.

    A window without length has no IoU; its IoP is 1 inside of the span (bounds included) and 0 outside.
    """
    if window.duration == 0:
        return Overlap(0.0, float(span.start <= window.start <= span.end))
    shared = window.overlap(span)
    return Overlap(shared / (max(window.end, span.end) - min(window.start, span.start)), shared / window.duration)


def best_overlap(window: Window | None, spans: Sequence[Window]) -> Overlap | None:
    """The best IoU and the best IoP over the spans, each on its own; 0 without a window, None without spans."""
    if not spans:
        return None
    each = [overlap(window, span) for span in spans] if window is not None else [Overlap(0.0, 0.0)]
    return Overlap(max(o.iou for o in each), max(o.iop for o in each))


def union_overlap(windows: Iterable[Window], spans: Sequence[Window]) -> Overlap | None:
    """The same of all windows taken together with all spans taken together; None without spans.

    Both sides are sets of moments here. Windows without any length have neither IoU nor IoP.
    """
    if not spans:
        return None
    ours, theirs = _merged(windows), _merged(spans)
    shared = sum(w.overlap(s) for w in ours for s in theirs)
    length, marked = sum(w.duration for w in ours), sum(s.duration for s in theirs)
    return Overlap(shared / (length + marked - shared), shared / length) if length else Overlap(0.0, 0.0)


def _merged(windows: Iterable[Window]) -> list[Window]:
    """The same moments as windows that do not overlap, in the order of time."""
    merged: list[Window] = []
    for window in sorted(windows, key=lambda w: w.start):
        if merged and window.start <= merged[-1].end:
            merged[-1] = Window(start=merged[-1].start, end=max(merged[-1].end, window.end))
        else:
            merged.append(window)
    return merged


def _seconds(time: str) -> float:
    seconds = 0.0
    for part in time.split(":"):
        seconds = seconds * 60 + float(part)
    return seconds
