"""The report of a run: its figures, and every question to look into."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from videohv.evaluate.manifest import Manifest
from videohv.evaluate.results import results_from
from videohv.evaluate.row import Row
from videohv.report import figures
from videohv.report.answer import fragment
from videohv.report.explorer import BAD, FAIR, GOOD, NONE, Cell, Column, Entry, Kind, explorer
from videohv.report.markup import Markup, joined
from videohv.report.packed import BUDGET, Packer
from videohv.report.page import Section, note, page
from videohv.report.pieces import View
from videohv.types import Outcome, Status, Trace, letter

STATUS_WORDS = {Status.VERIFIED: "verified", Status.PARTIAL: "partial", Status.NOT_VERIFIED: "not verified"}
STATUS_SIGNS = {"verified": GOOD, "partial": FAIR, "not verified": BAD, "no check": NONE}
RESULT_SIGNS = {"right": GOOD, "wrong": BAD, "not known": NONE}
OUTCOME_SIGNS = {
    outcome.replace("_", " "): NONE
    if outcome is Outcome.ANSWERED
    else FAIR
    if outcome is Outcome.ABSTAINED
    else ("bad", "!")
    for outcome in Outcome
}


def run_html(manifest: Manifest, answers: Iterable[tuple[Row, Trace]], *, budget: int = BUDGET) -> str:
    """A run's report.

    Args:
        manifest: Of the run.
        answers: Its rows with their traces, taken one at a time; only rows and compressed details are held.
        budget: Bytes of details at most. Questions beyond it are listed without.
    """
    packer, rows, entries = Packer(budget), [], []
    facets: dict[str, None] = {}
    for row, trace in answers:
        place = None if packer.full else packer.add(fragment(trace, View(prefix="d")))
        rows.append(row)
        facets.update(dict.fromkeys(name for name, _ in row.facets))
        entries.append((row, trace.question.text, place))
    made = results_from(manifest, rows).summary
    listed = explorer(
        _columns(list(facets)),
        [Entry(_cells(row, text, list(facets)), place) for row, text, place in entries],
        packer,
        "questions",
    )
    sections = [
        Section("kinds", "Accuracy by kind of question", figures.parts(made), "Kinds"),
        Section("status", "What the last check was worth", figures.statuses(made), "Status"),
        Section(
            "confidence", "How far confidence can be believed", figures.calibration(made.calibration), "Confidence"
        ),
        Section("grounding", "Windows against annotated spans", figures.grounding(made.grounding), "Grounding"),
        Section("places", "The place of the options", figures.bias(made.bias), "Places"),
        Section("cost", "Cost", figures.spending(made, rows), "Cost"),
        Section("failures", "Failures", figures.failures(made), "Failures"),
        Section(
            "questions", "Questions", joined(left_out(packer.full, entries), listed) if rows else Markup(), "Questions"
        ),
        Section("run", "How it was made", figures.provenance(manifest), "Run"),
    ]
    return page(
        f"{manifest.title}, {manifest.method}",
        figures.headline(made, manifest),
        sections=sections,
        styles=("answer.css", "run.css"),
        scripts=("explorer.js",),
    )


def left_out(full: bool, entries: Sequence[tuple[object, ...]]) -> Markup:
    """Says how many entries (the place last) have no details in the page; nothing if all have."""
    without = sum(entry[-1] is None for entry in entries)
    if not (full and without):
        return Markup()
    return note(
        f"{without:,} of {len(entries):,} are listed without details, which would have made this file too large: "
        "--details-mb raises the bound.",
        kind="fair",
    )


def answer_letter(index: int | None) -> str:
    """An option's letter; nothing without an answer."""
    return letter(index) if index is not None else ""


def result_word(row: Row) -> str:
    """Whether it is right."""
    return "not known" if row.right is None else "right" if row.right else "wrong"


def outcome_word(row: Row) -> str:
    """How it ended."""
    return row.outcome.replace("_", " ")


def status_word(row: Row) -> str:
    """What its last check came to."""
    return STATUS_WORDS[row.status] if row.status is not None else "no check"


def shown_id(row: Row) -> str:
    """Its id; `id#order` for an option order beside the benchmark's own."""
    return f"{row.id}#{row.order}" if row.order else row.id


def _columns(facets: Sequence[str]) -> list[Column]:
    return [
        Column("Question", Kind.TITLE, search=True),
        Column("Id", Kind.UNDER, search=True, sort=True),
        Column("Result", Kind.CHIP, signs={**OUTCOME_SIGNS, **RESULT_SIGNS}),
        Column("Right or wrong", Kind.HIDDEN, filter=True),
        Column("Outcome", Kind.HIDDEN, filter=True),
        Column("Status", Kind.CHIP, filter=True, signs=STATUS_SIGNS),
        Column("Type", Kind.TEXT, filter=True, search=True, wide=True),
        Column("Answer", Kind.TEXT),
        Column("Label", Kind.TEXT),
        Column("Confidence", Kind.PERCENT, sort=True, wide=True),
        Column("Rounds", Kind.HIDDEN, sort=True),
        Column("Calls", Kind.NUMBER, sort=True, wide=True),
        Column("Tokens", Kind.HIDDEN, sort=True),
        Column("Cost", Kind.HIDDEN, sort=True),
        Column("Seconds", Kind.NUMBER, sort=True, wide=True),
        Column("Went without", Kind.HIDDEN, filter=True, search=True),
        Column("Video", Kind.HIDDEN, search=True),
        Column("Error", Kind.HIDDEN, search=True),
        *(Column(name, Kind.HIDDEN, filter=True, search=True) for name in facets),
    ]


def _cells(row: Row, text: str, facets: Sequence[str]) -> list[Cell]:
    own = dict(row.facets)
    return [
        text,
        shown_id(row),
        result_word(row) if row.outcome is Outcome.ANSWERED else outcome_word(row),
        result_word(row),
        outcome_word(row),
        status_word(row),
        row.type,
        answer_letter(row.shown_index),
        answer_letter(row.shown_right),
        row.confidence,
        row.rounds,
        row.calls,
        row.prompt_tokens + row.completion_tokens,
        row.cost,
        round(row.seconds, 2),
        ", ".join(sorted(set(row.degraded))),
        row.video,
        row.error,
        *(own.get(name, "") for name in facets),
    ]
