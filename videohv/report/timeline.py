"""The video as a line of time: its summary, where each look went, and what was seen when."""

from __future__ import annotations

from collections.abc import Sequence

from videohv.evaluate.relied import relied_windows
from videohv.report.markup import Markup, tag
from videohv.types import Look, Trace, Window, clock

_LANE, _GAP, _TITLE = 16, 10, 15
_STEPS = (0.5, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200)
_MOST_TICKS = 7


def length_of(trace: Trace) -> float:
    """Seconds that the line stands for: the video's own length, or up to the last time that is spoken of."""
    if trace.video is not None and trace.video.duration > 0:
        return trace.video.duration
    ends = [s.window.end for s in trace.summary] + [w.end for w in trace.question.spans]
    ends += [w.end for r in trace.rounds for look in r.looks for w in look.windows]
    ends += [t for e in trace.evidence for t in (e.window.end, *e.times)]
    return max(ends, default=0.0)


def timeline(trace: Trace, prefix: str) -> Markup:
    """The picture; nothing for a trace that speaks of no time.

    Every mark is a link to the place in the report where it is told of, so it serves without a script too. Widths are
    in per cent: the picture is as wide as its place, and its lettering is not scaled.

    Args:
        trace: What is shown.
        prefix: Of the ids that the marks lead to.
    """
    length = length_of(trace)
    if length <= 0:
        return Markup()
    lanes: list[tuple[str, list[Markup]]] = []
    if trace.summary:
        lanes.append(("summary", [_segment(s.window, s.text, length, prefix, i) for i, s in enumerate(trace.summary)]))
    if trace.question.spans:
        spans = [_bar(w, length, "span", f"#{prefix}-top", f"Annotated {w}") for w in trace.question.spans]
        lanes.append(("annotated evidence", spans))
    relied = relied_windows(trace)
    for r, round_ in enumerate(trace.rounds, start=1):
        for k, look in enumerate(round_.looks, start=1):
            name = _name(r if len(trace.rounds) > 1 else 0, k if len(round_.looks) > 1 else 0)
            lanes.append((name, _look(look, relied, length, f"#{prefix}-{r}-{k}", name)))
    drawn: list[Markup] = [_ticks(length, len(lanes) * (_LANE + _GAP + _TITLE))]
    for row, (name, marks) in enumerate(lanes):
        top = 24 + row * (_LANE + _GAP + _TITLE)
        drawn.append(tag("text", name, x=0, y=top + 10, class_="lane"))
        drawn.append(tag("svg", marks, y=top + _TITLE, width="100%", height=_LANE, overflow="visible"))
    playhead = tag("line", class_="playhead", x1="0%", x2="0%", y1=16, y2="100%", visibility="hidden")
    svg = tag(
        "svg",
        tag("title", f"Timeline of {clock(length)}"),
        drawn,
        playhead,
        class_="timeline",
        width="100%",
        height=28 + len(lanes) * (_LANE + _GAP + _TITLE),
        role="group",
        aria_label=f"Timeline of {clock(length)}: {', '.join(name for name, _ in lanes)}",
        data_length=length,
    )
    return tag("figure", svg, _legend(trace, bool(relied)), class_="line")


def _name(round_: int, look: int) -> str:
    parts = [f"round {round_}" if round_ else "", f"look {look}" if look else ""]
    return ", ".join(part for part in parts if part) or "looked at"


def _look(look: Look, relied: Sequence[Window], length: float, target: str, name: str) -> list[Markup]:
    seen = {e.window for e in look.evidence}
    every = dict.fromkeys((*look.windows, *seen))
    marks = []
    for window in every:
        kind = "relied" if window in relied else "window"
        words = " (relied on)" if kind == "relied" else ""
        marks.append(_bar(window, length, kind, target, f"{name}: looked at {window}{words}"))
    for evidence in look.evidence:
        texts = {o.time: o.text for o in evidence.observations}
        for time in sorted({*evidence.times, *texts}):
            label = f"{name}: {clock(time)}" + (f", {texts[time]}" if time in texts else "")
            dot = tag(
                "circle",
                tag("title", label),
                cx=_at(time, length),
                cy=_LANE / 2,
                r=5.0 if time in texts else 3.0,
                class_="seen" if time in texts else "frame",
            )
            marks.append(tag("a", dot, href=target, data_seek=time, aria_label=label))
    return marks


def _segment(window: Window, text: str, length: float, prefix: str, number: int) -> Markup:
    kind = "segment odd" if number % 2 else "segment"
    return _bar(window, length, kind, f"#{prefix}-summary", f"Summary {window}: {text}")


def _bar(window: Window, length: float, kind: str, target: str, label: str) -> Markup:
    wide = max(0.5, 100 * window.duration / length)
    left = min(100 * window.start / length, 100 - wide)
    rect = tag("rect", tag("title", label), x=f"{left:.3f}%", width=f"{wide:.3f}%", height=_LANE, rx=3, class_=kind)
    return tag("a", rect, href=target, data_seek=window.start, aria_label=label)


def _ticks(length: float, height: int) -> Markup:
    step = next((s for s in _STEPS if length / s <= _MOST_TICKS), length / _MOST_TICKS)
    marks = []
    for i in range(int(length / step) + 1):
        at = _at(i * step, length)
        near_end = i > 0 and i * step > 0.94 * length
        anchor = "start" if i == 0 else "end" if near_end else "middle"
        marks.append(tag("line", x1=at, x2=at, y1=16, y2=24 + height, class_="tick"))
        marks.append(tag("text", clock(i * step), x=at, y=11, text_anchor=anchor, class_="tick"))
    return tag("g", marks, aria_hidden="true")


def _legend(trace: Trace, relied: bool) -> Markup:
    looked = any(round_.looks for round_ in trace.rounds)
    named = [
        ("segment", "summary", bool(trace.summary)),
        ("span", "annotated evidence", bool(trace.question.spans)),
        ("window", "window looked at", looked),
        ("relied", "window relied on", relied),
        ("frame", "frame", looked),
        ("seen", "something seen", looked),
    ]
    return tag(
        "figcaption",
        [tag("span", tag("i", class_=kind), words, class_="key") for kind, words, there in named if there],
    )


def _at(time: float, length: float) -> str:
    return f"{min(100.0, 100 * time / length):.3f}%"
