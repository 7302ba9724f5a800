"""Questions of one's own: `custom:FILE`, as JSON Lines, CSV, TSV, JSON or Parquet.

Columns:

* `question`;
* the options, 2 to 26: `options`, a list (in CSV a JSON list), or columns of their own, `option_0, option_1, …`,
  `option 0, …`, `option0, …`, `a0, a1, …` or `A, B, …`, empty where a question has fewer;
* optional `answer`: the right option's text, its number from 0 or its letter. What could be two of these for different
  options is refused; `answer_text`, `answer_index` and `answer_letter` are never mistaken;
* optional `id` (else `1`, `2`, …), `video`, `type`, `origin` (the recording that several videos were cut from) and
  `spans` (`[[start, end], …]` in seconds).

Each further column becomes a facet.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from videohv.data.card import Card, Split
from videohv.data.registry import benchmark
from videohv.data.row import (
    Draft,
    Row,
    Wrong,
    answer_by_index,
    answer_by_letter,
    answer_by_text,
    spans_of,
    without_prefixes,
)
from videohv.data.source import Source, read_rows
from videohv.errors import InputError
from videohv.types import MAX_OPTIONS, letter, whole

_NUMBER = "number of the row"
_OWN_COLUMNS = ("option_{}", "option {}", "option{}", "a{}")
_WAYS = {"answer_text": answer_by_text, "answer_index": answer_by_index, "answer_letter": answer_by_letter}
_KNOWN = {"question", "options", "answer", *_WAYS, "id", "video", "type", "origin", "spans", _NUMBER}


@benchmark
class Custom:
    """Questions of one's own."""

    card = Card(
        name="custom",
        title="Questions of one's own",
        splits=(Split(name="FILE", about="the path of a file", labels="some"),),
        own_files=True,
    )

    def rows(self, source: Source) -> Iterator[Row]:
        """The rows of the file that the split is called after, each with its number from 1."""
        if source.hub:
            raise InputError("custom questions come from a file, not from the Hub")
        path = source.own_file()
        for number, row in enumerate(read_rows(path), 1):
            yield row.plus(**{_NUMBER: number})

    def draft(self, row: Row) -> Draft:
        """The question of a row."""
        columns, options = _options(row)
        spans = _json(row.get("spans"))
        facets = ((name, _plain(value)) for name, value in row.data.items() if name not in (_KNOWN | columns))
        return Draft(
            row.text("id", default=row.text(_NUMBER)),
            row.text("video", default=""),
            row.text("question"),
            options,
            _answer(row, options),
            type=row.text("type", default=""),
            facets=tuple((whole(str(name)), value) for name, value in facets if value),
            origin=row.text("origin", default=""),
            spans=spans_of(spans, "spans") if spans not in (None, "") else (),
        )


def _options(row: Row) -> tuple[set[str], tuple[str, ...]]:
    """The columns that hold options, and the options."""
    if row.get("options") is not None:
        listed = row.plus(options=_json(row.get("options")))
        return set(), without_prefixes(listed.texts("options"))
    for pattern in (*_OWN_COLUMNS, "{}"):
        names = [pattern.format(letter(i) if pattern == "{}" else i) for i in range(MAX_OPTIONS)]
        if names[0] in row.data:
            texts = [row.text(name, default="") for name in names if name in row.data]
            while texts and not texts[-1]:
                texts.pop()
            return {name for name in names if name in row.data}, tuple(texts)
    raise Wrong("options", "are missing: a column options, or columns option_0, a0 or A and so on")


def _answer(row: Row, options: tuple[str, ...]) -> int | None:
    for field, way in _WAYS.items():
        if row.get(field) not in (None, ""):
            return way(row.get(field), options, field)
    value = row.get("answer")
    if value is None or value == "":
        return None
    found: dict[int, str] = {}
    for field, way in _WAYS.items():
        try:
            index = way(value, options, "answer")
        except Wrong:
            continue
        if index is not None:
            found.setdefault(index, field)
    if not found:
        raise Wrong("answer", f"{value!r} is neither the text nor the number nor the letter of an option")
    if len(found) > 1:
        raise Wrong("answer", f"{value!r} could mean several options: name the column {' or '.join(found.values())}")
    return next(iter(found))


def _json(value: Any) -> Any:
    """A value that a CSV file could only hold as JSON."""
    if isinstance(value, str) and value.strip().startswith("["):
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            return value
    return value


def _plain(value: Any) -> str:
    if isinstance(value, str):
        return whole(value).strip()
    if value is None:
        return ""
    try:
        return whole(json.dumps(value, ensure_ascii=False, default=str))
    except (TypeError, ValueError, RecursionError):
        return whole(str(value))
