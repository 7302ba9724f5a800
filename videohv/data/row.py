"""One row of a benchmark's file on its way to a question: what it holds, where it stood, and what is wrong with it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pydantic import ValidationError

from videohv.data.forms import kind
from videohv.types import MAX_OPTIONS, Window, letter, whole

_PREFIX = re.compile(r"\s*(?:\(([A-Z])\)|([A-Z])[.):])(?:\s+|$)")


class Wrong(Exception):
    """A row that cannot become a question: the field and why. Never leaves `videohv.data`."""

    def __init__(self, field: str, why: str) -> None:
        super().__init__(f"{field}: {why}")
        self.field = field
        self.why = why


class Draft(NamedTuple):
    """A question as its benchmark gives it, before it is checked.

    The fields are those of `Question`; `alias` is another name under which the video's files are published, or empty.
    """

    id: str
    video: str
    text: str
    options: tuple[str, ...]
    answer_index: int | None
    type: str = ""
    facets: tuple[tuple[str, str], ...] = ()
    origin: str = ""
    spans: tuple[Window, ...] = ()
    alias: str = ""


class Row(NamedTuple):
    """A row as it was published.

    Args:
        file: The file's name without directories, or the Hub's data set.
        place: Where in it, such as `line 7`.
        data: The columns; whatever the file had there, if that is no object.
    """

    file: str
    place: str
    data: Any

    def plus(self, **more: Any) -> Row:
        """The same row with further columns."""
        return self._replace(data={**self.data, **more}) if isinstance(self.data, Mapping) else self

    def each(self, field: str) -> Iterator[Row]:
        """A row for each object in a list of the column, with this row's other columns; itself without such a list."""
        items = self.data.get(field) if isinstance(self.data, Mapping) else None
        if not isinstance(items, list | tuple):
            yield self
            return
        own = {name: value for name, value in self.data.items() if name != field}
        for number, item in enumerate(items):
            data = {**own, **item} if isinstance(item, Mapping) else item
            yield Row(self.file, f"{self.place}, {field} {number}", data)

    def get(self, *fields: str) -> Any:
        """The value of the first of these columns that is there and not null, else None.

        Raises:
            Wrong: The row is not an object, or has more columns than its header names.
        """
        data = self.data
        if not isinstance(data, Mapping):
            raise Wrong("", f"is {kind(data)}; an object was expected")
        if None in data:
            raise Wrong("", "has more columns than the header: a text with a comma needs quotes")
        for field in fields:
            value = data.get(field)
            if value is not None:
                return value
        return None

    def name(self, *fields: str) -> str:
        """What the first of these columns that has a text or number names, for looking things up; else empty."""
        data = self.data if isinstance(self.data, Mapping) else {}
        values = (data.get(field) for field in fields)
        return next((str(v) for v in values if isinstance(v, str | int) and not isinstance(v, bool)), "")

    def text(self, *fields: str, default: str | None = None) -> str:
        """A text; whole numbers, as ids often are, count as text.

        Raises:
            Wrong: It is missing (and there is no default), empty, or something else.
        """
        value = self.get(*fields)
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and value.strip():
            return whole(value).strip()
        if default is not None and (value is None or value == ""):
            return default
        if value is None:
            raise Wrong(fields[0], "is missing")
        raise Wrong(fields[0], "is empty" if isinstance(value, str) else f"is {kind(value)}, not a text")

    def texts(self, field: str) -> tuple[str, ...]:
        """A list of texts in one column.

        Raises:
            Wrong: It is missing or something else.
        """
        value = self.get(field)
        if value is None:
            raise Wrong(field, "is missing")
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
            raise Wrong(field, f"is {kind(value)}, not a list of texts")
        for i, item in enumerate(value):
            if not isinstance(item, str):
                raise Wrong(field, f"item {i} is {kind(item)}, not a text")
        return tuple(whole(item).strip() for item in value)

    def numbered(self, pattern: str, count: int) -> tuple[str, ...]:
        """Texts in columns of their own, such as `a0` to `a4`.

        Args:
            pattern: The columns' name with `{}` for the number.
            count: How many there must be.

        Raises:
            Wrong: One is missing, empty or something else.
        """
        return tuple(self.text(pattern.format(i)) for i in range(count))


def without_prefixes(options: Sequence[str]) -> tuple[str, ...]:
    """Options without their letters (`A. `, `(A) `, `A) `, `A: `), if every one has its own."""
    found = [_PREFIX.match(option) for option in options]
    for i, match in enumerate(found):
        if match is None or i >= MAX_OPTIONS or (match[1] or match[2]) != letter(i):
            return tuple(options)
    return tuple(option[match.end() :] for option, match in zip(options, found, strict=True) if match)


def answer_by_index(value: Any, options: Sequence[str], field: str = "answer") -> int | None:
    """The right option given by its number from 0, as a number or a text of digits; None if it is not given.

    Raises:
        Wrong: It is no number of an option.
    """
    number = value.strip() if isinstance(value, str) else value
    if number is None or number == "":
        return None
    if isinstance(number, str) and number.isascii() and number.isdigit() and len(number) < 4:
        number = int(number)
    if isinstance(number, float) and number.is_integer():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < len(options):
        raise Wrong(field, f"{_shown(value)} is not the number of an option; they are 0 to {len(options) - 1}")
    return number


def answer_by_letter(value: Any, options: Sequence[str], field: str = "answer") -> int | None:
    """The right option given by its letter (`C`, also `(C)`, `C.`); None if it is not given.

    Raises:
        Wrong: It is no letter of an option.
    """
    if value is None or value == "":
        return None
    match = re.fullmatch(r"\s*\(?([A-Za-z])\)?[.:]?\s*", value) if isinstance(value, str) else None
    index = ord(match[1].upper()) - ord("A") if match else -1
    if not 0 <= index < len(options):
        last = letter(len(options) - 1) if options else "none"
        raise Wrong(field, f"{_shown(value)} is not the letter of an option; they go to {last}")
    return index


def answer_by_text(value: Any, options: Sequence[str], field: str = "answer", hint: int | None = None) -> int | None:
    """The right option given by its text, exactly or but for case and spacing; None if it is not given.

    Args:
        value: The text.
        options: Where it is looked for.
        field: Named in errors.
        hint: Which of several equal options is meant, if that is known.

    Raises:
        Wrong: It is no text of an option.
    """
    if value is None or value == "":
        return None
    if isinstance(value, str):
        for same in (str.strip, _folded):
            found = [i for i, option in enumerate(options) if same(option) == same(value)]
            if found:
                return hint if hint in found else found[0]
    raise Wrong(field, f"{_shown(value)} is not among the options")


def spans_of(value: object, field: str) -> tuple[Window, ...]:
    """Annotated spans out of a list of `[start, end]` pairs in seconds.

    Raises:
        Wrong: It has another form, or a span is negative, reversed or no number.
    """
    if not isinstance(value, list | tuple):
        raise Wrong(field, "is not a list of [start, end] pairs")
    made = []
    for pair in value:
        if not isinstance(pair, list | tuple) or len(pair) != 2:
            raise Wrong(field, f"{pair!r} is not a [start, end] pair")
        if any(isinstance(time, bool) or not isinstance(time, int | float) for time in pair):
            raise Wrong(field, f"{pair!r} are not numbers of seconds")
        try:
            made.append(Window(start=pair[0], end=pair[1]))
        except ValidationError as e:
            why = "ends before it starts" if pair[1] < pair[0] else "is not a span of seconds from 0 on"
            raise Wrong(field, f"{list(pair)} {why}") from e
    return tuple(made)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "…"
