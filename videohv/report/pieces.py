"""Small pieces that every report is made of: chips, times, tables, bars."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from videohv.evaluate.columns import ABSENT, percent
from videohv.report.markup import Child, Markup, tag
from videohv.types import Estimate, Outcome, Status, Support, Window, clock

_SIGNS = {
    Status.VERIFIED: ("good", "✓", "verified"),
    Status.PARTIAL: ("fair", "◐", "partial"),
    Status.NOT_VERIFIED: ("bad", "✕", "not verified"),
    Support.SUPPORTED: ("good", "✓", "supported"),
    Support.REFUTED: ("bad", "✕", "refuted"),
    Support.UNCLEAR: ("fair", "?", "unclear"),
}


class View(NamedTuple):
    """How an answer is shown.

    Args:
        seekable: There is a player on the page, so times are buttons.
        pictures: Thumbnails by the time of their frame, as `data:image/jpeg;base64,` addresses.
        prefix: Of the ids in it.
    """

    seekable: bool = False
    pictures: Mapping[float, str] = {}
    prefix: str = "a"


def chip(text: str, kind: str = "", sign: str = "") -> Markup:
    """A word in a rounded box. Its sign says in form what the colour says."""
    mark = tag("span", sign, aria_hidden="true") if sign else None
    return tag("span", mark, text, class_=f"chip {kind}".strip())


def status_chip(status: Status | Support | None) -> Markup:
    """What a check came to, or what it says of a hypothesis."""
    if status is None:
        return chip("no check")
    kind, sign, word = _SIGNS[status]
    return chip(word, kind, sign)


def outcome_chip(outcome: Outcome) -> Markup:
    """How a question ended."""
    kind, sign = {Outcome.ANSWERED: ("", ""), Outcome.ABSTAINED: ("fair", "–")}.get(outcome, ("bad", "!"))
    return chip(outcome.replace("_", " "), kind, sign)


def right_chip(right: bool | None) -> Markup:
    """Whether an answer is right, where that is known."""
    if right is None:
        return chip("right answer not known")
    return chip("right", "good", "✓") if right else chip("wrong", "bad", "✕")


def moment(view: View, time: float) -> Markup:
    """A time in the video; where there is a player a button that goes there."""
    if not view.seekable:
        return tag("span", clock(time), class_="t")
    return tag("button", clock(time), type="button", class_="t", data_seek=time, aria_label=f"Play from {clock(time)}")


def span(view: View, window: Window) -> Markup:
    """A window; where there is a player a button that goes to its start."""
    if not view.seekable:
        return tag("span", str(window), class_="t")
    return tag("button", str(window), type="button", class_="t", data_seek=window.start, aria_label=f"Play {window}")


def data_table(
    headers: Sequence[Child],
    rows: Iterable[Sequence[Child]],
    *,
    caption: str,
    right: Sequence[int] = (),
    foot: Sequence[Child] = (),
) -> Markup:
    """A table in a box that scrolls sideways by itself where it is too wide. The first cell of a row is its heading.

    Args:
        headers: One a column.
        rows: As many cells each.
        caption: What it shows, for those who only hear it.
        right: Columns of numbers, counted from 0.
        foot: Cells of a last row apart from the others.
    """
    kinds = ["n" if i in right else None for i in range(len(headers))]

    def line(cells: Sequence[Child]) -> Markup:
        return tag(
            "tr",
            [
                tag("th", cell, scope="row") if i == 0 else tag("td", cell, class_=kinds[i])
                for i, cell in enumerate(cells)
            ],
        )

    return tag(
        "div",
        tag(
            "table",
            tag("caption", caption),
            tag("thead", tag("tr", [tag("th", h, scope="col", class_=kinds[i]) for i, h in enumerate(headers)])),
            tag("tbody", [line(cells) for cells in rows]),
            tag("tfoot", line(foot)) if foot else None,
        ),
        class_="scroll",
        tabindex=0,
        role="region",
        aria_label=caption,
    )


def ranged(estimate: Estimate | None) -> Markup | str:
    """A share with its 95 % interval beside it, smaller."""
    if estimate is None:
        return ABSENT
    interval = f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f}"
    return tag("span", percent(estimate.value), " ", tag("small", interval), class_="ranged")


def facts(pairs: Iterable[tuple[str, Child]]) -> Markup:
    """Names and what they stand for, side by side."""
    return tag("dl", [tag("div", tag("dt", name), tag("dd", value)) for name, value in pairs], class_="facts")


def folded(summary: Child, *children: Child, open_: bool = False) -> Markup:
    """What is shown on demand."""
    return tag("details", tag("summary", summary), children, open=open_)


def prose(text: str, class_: str | None = None) -> Markup | None:
    """A paragraph of somebody's words; nothing for an empty text."""
    return tag("p", text, class_=class_, dir="auto") if text.strip() else None
