"""The report of two runs beside each other: by how much they differ, what flipped, and at what price."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from videohv.evaluate.columns import ABSENT, number, percent, probability, share
from videohv.evaluate.compare import Comparison, Contrast, comparability, compare
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.row import Row
from videohv.evaluate.tables import UNITS
from videohv.report.charts import Slice, legend, stacked, whisker
from videohv.report.explorer import BAD, GOOD, NONE, Cell, Column, Entry, Kind, explorer
from videohv.report.markup import Markup, joined, tag
from videohv.report.packed import BUDGET, Packer
from videohv.report.page import Section, note, page
from videohv.report.pair import pair_fragment
from videohv.report.pieces import data_table
from videohv.report.runs import STATUS_SIGNS, answer_letter, left_out, outcome_word, shown_id, status_word
from videohv.types import Trace

_FLIPS = {"only run B": GOOD, "only run A": BAD, "both": NONE, "neither": NONE, "not known": NONE}


class Side(NamedTuple):
    """One of the two runs.

    Args:
        name: What it is called in the report.
        manifest: What makes it what it is.
        rows: Its rows.
    """

    name: str
    manifest: Manifest
    rows: list[Row]


class Pair(NamedTuple):
    """One question in both runs."""

    a: Row
    b: Row


def comparison_html(a: Side, b: Side, traces: Callable[[Pair], tuple[Trace, Trace]], *, budget: int = BUDGET) -> str:
    """The report of a comparison.

    Args:
        a: The first run.
        b: The second.
        traces: Fetches both traces of a question; called once for each pair, those that flipped first.
        budget: Bytes of details at most.

    Raises:
        InputError: If the runs share no question.
    """
    made = compare(a.rows, b.rows, warnings=comparability(a.manifest, b.manifest))
    packer = Packer(budget)
    entries = []
    for pair in sorted(_pairs(a.rows, b.rows), key=_importance):
        first, second = traces(pair)
        place = None if packer.full else packer.add(pair_fragment(pair.a, first, pair.b, second))
        entries.append(Entry(_cells(pair, first.question.text), place))
    listed = explorer(_columns(), entries, packer, "questions")
    sections = [
        Section("difference", "Accuracy on the shared questions", _contrast(made.contrast), "Difference"),
        Section("kinds", "By kind of question", _parts(made), "Kinds"),
        Section("cost", "Cost on the shared questions", _cost(made), "Cost"),
        Section("questions", "Questions", joined(left_out(packer.full, entries), listed), "Questions"),
        Section("made", "What was done differently", _differences(a.manifest, b.manifest), "Made"),
    ]
    return page(
        f"{a.name} and {b.name}",
        _head(made, a, b),
        sections=sections,
        styles=("answer.css", "run.css"),
        scripts=("explorer.js",),
    )


def flip(pair: Pair) -> str:
    """Which of the two is right."""
    if pair.a.right is None or pair.b.right is None:
        return "not known"
    if pair.a.right == pair.b.right:
        return "both" if pair.a.right else "neither"
    return "only run A" if pair.a.right else "only run B"


def _pairs(rows_a: Iterable[Row], rows_b: Iterable[Row]) -> Iterator[Pair]:
    second = {row.key: row for row in rows_b}
    return (Pair(row, second[row.key]) for row in rows_a if row.key in second)


def _importance(pair: Pair) -> int:
    if flip(pair) in ("only run A", "only run B"):
        return 0
    return 1 if (pair.a.answer_index, pair.a.outcome) != (pair.b.answer_index, pair.b.outcome) else 2


def _head(made: Comparison, a: Side, b: Side) -> Markup:
    def described(letter: str, side: Side) -> Markup:
        models = dict.fromkeys(model.name for model in side.manifest.models)
        words = [side.manifest.title, side.manifest.method, side.manifest.program, *models]
        return tag("li", tag("b", f"Run {letter}"), " ", side.name, tag("small", " · ".join(w for w in words if w)))

    return tag(
        "div",
        tag("p", "Two runs beside each other", class_="over"),
        tag("h1", _verdict(made)),
        tag("ul", described("A", a), described("B", b), class_="runs"),
        tag(
            "p",
            f"{made.shared:,} questions in both, {made.only_a:,} only in A, {made.only_b:,} only in B; "
            f"the same answer {share(made.agreement)}.",
            class_="quiet",
        ),
        [note(tag("b", "Warning"), " ", warning, kind="fair") for warning in made.warnings],
        class_="head",
    )


def _verdict(made: Comparison) -> str:
    if made.contrast is None:
        return "The right answers are not known"
    d = made.contrast.difference
    if d.low > 0:
        return f"Run B is better by {100 * d.value:.1f} points"
    if d.high < 0:
        return f"Run A is better by {-100 * d.value:.1f} points"
    return "No sure difference in accuracy"


def _contrast(c: Contrast | None) -> Markup:
    if c is None:
        return Markup()
    slices = [
        Slice("both right", c.both, "good"),
        Slice("only run B right", c.only_b, "other"),
        Slice("only run A right", c.only_a, "fair"),
        Slice("neither right", c.neither, "plain"),
    ]
    figures = [("run A", percent(c.a.value), whisker(c.a, name="A"), _interval(c.a.low, c.a.high))]
    figures.append(("run B", percent(c.b.value), whisker(c.b, name="B"), _interval(c.b.low, c.b.high)))
    reach = max(abs(c.difference.low), abs(c.difference.high), 0.02)
    figures.append(
        (
            "B − A, points",
            f"{100 * c.difference.value:+.1f}",
            whisker(c.difference, -reach, reach, "difference"),
            _interval(c.difference.low, c.difference.high, signed=True),
        )
    )
    return joined(
        tag(
            "div",
            [
                tag("div", tag("p", tag("b", value), tag("span", name)), drawn, tag("p", bounds, class_="quiet"))
                for name, value, drawn, bounds in figures
            ],
            class_="figures",
        ),
        stacked(slices, "Which run is right"),
        legend(slices),
        tag(
            "p",
            f"p {probability(c.p)} by McNemar's test (two-sided mid-p), {probability(c.p_clustered)} with the signs of "
            f"whole recordings flipped (two-sided), over {c.n:,} questions. One without an answer is wrong.",
            class_="quiet after",
        ),
    )


def _interval(low: float, high: float, signed: bool = False) -> str:
    return f"{100 * low:+.1f} to {100 * high:+.1f}" if signed else f"{100 * low:.1f} to {100 * high:.1f} %"


def _parts(made: Comparison) -> Markup:
    if not made.parts:
        return Markup()
    reach = max(max(abs(p.contrast.difference.low), abs(p.contrast.difference.high)) for p in made.parts)
    rows = [
        [
            part.type,
            f"{c.n:,}",
            percent(c.a.value),
            percent(c.b.value),
            f"{100 * c.difference.value:+.1f}",
            whisker(c.difference, -reach, reach, part.type),
            _interval(c.difference.low, c.difference.high, signed=True),
            f"{c.only_a:,}",
            f"{c.only_b:,}",
            probability(c.p),
        ]
        for part in made.parts
        for c in (part.contrast,)
    ]
    headers = ("type", "n", "A", "B", "B − A", "", "95 % interval", "only A", "only B", "p")
    table = data_table(headers, rows, caption="The comparison by type", right=(1, 2, 3, 4, 6, 7, 8, 9))
    return joined(table, tag("p", "The p values are not corrected for there being several types.", class_="quiet"))


def _cost(made: Comparison) -> Markup:
    rows = []
    for line in made.cost:
        money = line.name == "cost"
        a, b = (side.mean if side else None for side in (line.a, line.b))
        if not a and not b:
            continue
        ratio = f"{b / a:.2f}" if a and b is not None else ABSENT
        totals = (number(side.total if side else None, money) for side in (line.a, line.b))
        rows.append((UNITS.get(line.name, line.name), number(a, money), number(b, money), ratio, *totals))
    headers = ("a question", "A", "B", "B / A", "A in all", "B in all")
    return (
        data_table(headers, rows, caption="Cost of the shared questions", right=(1, 2, 3, 4, 5)) if rows else Markup()
    )


def _differences(a: Manifest, b: Manifest) -> Markup:
    lines = [
        line.replace(" then, ", " in A, ").removesuffix(" now") + " in B" if line.endswith(" now") else line
        for line in a.differences(b)
    ]
    if not lines:
        return tag("p", "Nothing: both asked the same questions in the same way.")
    return tag("ul", [tag("li", line) for line in lines], class_="predictions")


def _columns() -> list[Column]:
    return [
        Column("Question", Kind.TITLE, search=True),
        Column("Id", Kind.UNDER, search=True, sort=True),
        Column("Which is right", Kind.CHIP, filter=True, signs=_FLIPS),
        Column("Answers", Kind.HIDDEN, filter=True),
        Column("Type", Kind.HIDDEN, filter=True, search=True),
        Column("Run A", Kind.TEXT),
        Column("Run B", Kind.TEXT),
        Column("Label", Kind.TEXT),
        Column("Status in A", Kind.CHIP, filter=True, signs=STATUS_SIGNS, wide=True),
        Column("Status in B", Kind.CHIP, filter=True, signs=STATUS_SIGNS, wide=True),
        Column("Calls in A", Kind.HIDDEN, sort=True),
        Column("Calls in B", Kind.HIDDEN, sort=True),
        Column("Outcome in A", Kind.HIDDEN, filter=True),
        Column("Outcome in B", Kind.HIDDEN, filter=True),
    ]


def _cells(pair: Pair, text: str) -> list[Cell]:
    a, b = pair
    same = a.answer_index is not None and a.answer_index == b.answer_index
    return [
        text,
        shown_id(a),
        flip(pair),
        "the same answer" if same else "different answers" if a.answer_index != b.answer_index else "no answer",
        a.type,
        answer_letter(a.shown_index) or ABSENT,
        answer_letter(b.shown_index) or ABSENT,
        answer_letter(a.shown_right),
        status_word(a),
        status_word(b),
        a.calls,
        b.calls,
        outcome_word(a),
        outcome_word(b),
    ]
