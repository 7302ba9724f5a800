"""Tables in plain text: exact in a terminal, a log and a page of documentation alike."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

from rich.cells import cell_len

from videohv.types import Estimate

ABSENT = "–"
_GAP = "  "


def table(headers: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[int] = ()) -> str:
    """Rows under headers in aligned columns, without lines and without blanks at the end.

    Args:
        headers: One a column.
        rows: As many cells each. Line breaks and control characters in them become blanks.
        right: Columns that are set flush right, counted from 0; the others are flush left.
    """
    cells = [[plain(cell) for cell in row] for row in (headers, *rows)]
    widths = [max(cell_len(cell) for cell in column) for column in zip(*cells, strict=True)]
    return "\n".join(
        _GAP.join(
            _set(cell, width, i in right) for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    )


def plain(text: str) -> str:
    """Text as one line that cannot steer a terminal."""
    return " ".join("".join(" " if unicodedata.category(c) in ("Cc", "Cf", "Cs") else c for c in text).split())


def percent(share: float | None) -> str:
    """A share as per cent with one decimal."""
    return ABSENT if share is None else f"{100 * share:.1f} %"


def bounds(estimate: Estimate | None) -> str:
    """The 95 % interval of a share."""
    return ABSENT if estimate is None else f"{100 * estimate.low:.1f} to {100 * estimate.high:.1f} %"


def share(estimate: Estimate | None) -> str:
    """A share with its 95 % interval."""
    return ABSENT if estimate is None else f"{percent(estimate.value)} ({bounds(estimate)})"


def number(value: float | None, money: bool = False) -> str:
    """A quantity with as many digits as one would read: whole from 100 on; money to a hundredth of a cent."""
    if value is None:
        return ABSENT
    if money:
        return f"{value:,.2f} $" if abs(value) >= 1 else f"{value:.4f} $"
    if value == int(value) or abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 1 else f"{value:.2f}"


def probability(p: float) -> str:
    """A p value."""
    return "< 0.001" if p < 0.001 else f"{p:.3f}"


def _set(cell: str, width: int, flush_right: bool) -> str:
    blanks = " " * (width - cell_len(cell))
    return blanks + cell if flush_right else cell + blanks
