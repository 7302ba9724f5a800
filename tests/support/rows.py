"""Rows and run directories made by hand."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from videohv.data.whole import write_whole
from videohv.evaluate.journal import Journal
from videohv.evaluate.manifest import NAME, Manifest
from videohv.evaluate.row import Row
from videohv.types import Outcome, Question, Trace


def a_row(id: str = "q", right: bool | None = True, **changes: Any) -> Row:
    """A row: answered with option 0 of five unless told otherwise; each question is a recording of its own."""
    outcome = changes.get("outcome", Outcome.ANSWERED)
    answer = 0 if outcome is Outcome.ANSWERED else None
    made = {"recording": id, "options": 5, "outcome": outcome, "answer_index": answer, "shown_index": answer}
    return Row.model_validate({"id": id, "right": right, **made, **changes})


def a_failure(id: str = "q", outcome: Outcome = Outcome.PARSE_FAILED, **changes: Any) -> Row:
    """A labelled row without an answer."""
    return a_row(id, right=False, outcome=outcome, **changes)


def a_run(folder: Path, rows: Iterable[Row], **manifest: Any) -> Path:
    """A run's directory that holds these rows; its manifest asks their questions unless told otherwise."""
    rows = list(rows)
    ids = tuple(dict.fromkeys(row.id for row in rows))
    made = Manifest.model_validate({"benchmark": "egoschema", "split": "full", "question_ids": ids, **manifest})
    with Journal(folder) as journal:
        write_whole(folder / NAME, made.model_dump_json())
        for row in rows:
            trace = Trace(question=Question(text="?", options=("a", "b"), id=row.id), outcome=row.outcome)
            journal.append(row, trace.model_dump_json())
    return folder
