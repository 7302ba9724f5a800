"""A comparison of two runs as plain text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from videohv.evaluate.columns import ABSENT, number, percent, plain, probability, share, table
from videohv.evaluate.compare import Comparison, Contrast
from videohv.evaluate.tables import UNITS

_SHOWN = 10


def comparison_text(made: Comparison, a: str = "A", b: str = "B", shown: int = _SHOWN) -> str:
    """The comparison as aligned tables, sections apart by an empty line.

    Args:
        made: What to show.
        a: Name of the first run.
        b: Name of the second.
        shown: How many ids of wins and losses are listed; the others are counted.
    """
    return "\n\n".join(_sections(made, plain(a), plain(b), shown))


def _sections(made: Comparison, a: str, b: str, shown: int) -> Iterator[str]:
    yield from (f"warning: {plain(warning)}" for warning in made.warnings)
    lines = [f"A: {a}", f"B: {b}", f"{made.shared} questions in both; {made.only_a} only in A, {made.only_b} only in B"]
    if made.unscored:
        lines.append(f"{made.unscored} of the shared ones unscored: their right answer is not known in both runs")
    lines.append(f"the same answer {share(made.agreement)}")
    yield "\n".join(lines)
    if made.contrast is not None:
        yield _contrast(made.contrast)
        if made.parts:
            yield _table([(part.type, part.contrast) for part in made.parts], "type")
        yield f"{_ids('only B is right', made.gained, shown)}\n{_ids('only A is right', made.lost, shown)}"
    yield _cost(made)


def _contrast(c: Contrast) -> str:
    return (
        f"{_table([('all', c)], '')}\n"
        f"both right {c.both}, only A {c.only_a}, only B {c.only_b}, neither {c.neither}\n"
        f"p: {probability(c.p)} by McNemar's test (two-sided mid-p), "
        f"{probability(c.p_clustered)} with the signs of whole recordings flipped (two-sided)"
    )


def _table(rows: Sequence[tuple[str, Contrast]], by: str) -> str:
    return table(
        (by, "n", "A", "B", "B - A", "95 % interval", "only A", "only B", "p"),
        [
            (
                name,
                str(c.n),
                percent(c.a.value),
                percent(c.b.value),
                f"{100 * c.difference.value:+.1f}",
                f"{100 * c.difference.low:+.1f} to {100 * c.difference.high:+.1f}",
                str(c.only_a),
                str(c.only_b),
                probability(c.p),
            )
            for name, c in rows
        ],
        right=(1, 2, 3, 4, 5, 6, 7, 8),
    )


def _ids(what: str, ids: Sequence[str], shown: int) -> str:
    more = f" and {len(ids) - shown} more" if len(ids) > shown else ""
    return f"{what} ({len(ids)}): {', '.join(map(plain, ids[:shown])) or 'none'}{more}"


def _cost(made: Comparison) -> str:
    rows = []
    for line in made.cost:
        money = line.name == "cost"
        a, b = (side.mean if side else None for side in (line.a, line.b))
        ratio = f"{b / a:.2f}" if a and b is not None else ABSENT
        totals = (number(side.total if side else None, money) for side in (line.a, line.b))
        rows.append((UNITS.get(line.name, line.name), number(a, money), number(b, money), ratio, *totals))
    return table(("a question", "A", "B", "B / A", "A in all", "B in all"), rows, right=(1, 2, 3, 4, 5))
