"""A list of thousands of questions to search, filter and open, as data for `assets/explorer.js`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import NamedTuple, TypeAlias

from videohv.report.markup import Markup, joined, json_data, tag
from videohv.report.packed import Packer, Place

Cell: TypeAlias = "str | float | int | None"


class Kind(StrEnum):
    """How a cell is shown."""

    TITLE = "title"
    UNDER = "under"
    CHIP = "chip"
    TEXT = "text"
    NUMBER = "number"
    PERCENT = "percent"
    HIDDEN = "hidden"


class Column(NamedTuple):
    """One column.

    Args:
        label: Its heading.
        kind: How its cells are shown; hidden ones can be filtered by and searched.
        filter: Offer to show only rows with one of its values.
        sort: Offer to sort by it.
        search: What is typed is looked for in it.
        signs: (class, sign) of the chips, by their text.
        wide: Not shown on a narrow screen.
    """

    label: str
    kind: Kind
    filter: bool = False
    sort: bool = False
    search: bool = False
    signs: Mapping[str, tuple[str, str]] = {}
    wide: bool = False


class Entry(NamedTuple):
    """One row: a cell for each column, and where its details lie, if they are in the page."""

    cells: Sequence[Cell]
    place: Place | None


GOOD, BAD, FAIR, NONE = ("good", "✓"), ("bad", "✕"), ("fair", "◐"), ("", "")

_MOST_VALUES = 200


def explorer(columns: Sequence[Column], entries: Sequence[Entry], packer: Packer, of: str) -> Markup:
    """The list with its search field and filters.

    Args:
        columns: What a row has.
        entries: The rows in their first order.
        packer: Holds the details of the rows.
        of: What is listed, such as `questions`.
    """
    data = {
        "of": of,
        "columns": [_described(i, column, entries) for i, column in enumerate(columns)],
        "rows": [list(entry.cells) for entry in entries],
        "places": [list(entry.place) if entry.place is not None else None for entry in entries],
    }
    return joined(
        tag(
            "div",
            tag("noscript", tag("p", "The list of questions needs JavaScript.", class_="note")),
            class_="explorer",
        ),
        tag("script", json_data(data), type="application/json", id="rows"),
        packer.markup(),
    )


def _described(number: int, column: Column, entries: Sequence[Entry]) -> dict[str, object]:
    values: list[str] = []
    if column.filter:
        found = dict.fromkeys(str(entry.cells[number]) for entry in entries if entry.cells[number] not in (None, ""))
        # Where every row has the same there is nothing to choose; where most have their own, search serves better.
        values = sorted(found) if 1 < len(found) <= _MOST_VALUES else []
    return {
        "label": column.label,
        "kind": column.kind,
        "values": values,
        "sort": column.sort,
        "search": column.search,
        "signs": {name: list(sign) for name, sign in column.signs.items()},
        "wide": column.wide,
    }
