"""From a run's directory to a submission, checked for completeness before anything is written."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

from videohv.data.whole import write_whole
from videohv.errors import InputError
from videohv.evaluate.export.formats import Answers, get_format
from videohv.evaluate.journal import read_rows
from videohv.evaluate.manifest import read_manifest
from videohv.types import MAX_OPTIONS, Outcome, Value

_NAMED = 5


class Export(Value):
    """A file that is ready to be written.

    Args:
        format: Its format.
        suffix: Of the file's name.
        text: All of it.
        questions: How many it covers.
        without: (question id, how it ended) of those without an answer.
        fill: The option that was put in for them on the user's word; None if none was.
    """

    format: str
    suffix: str
    text: str
    questions: int
    without: tuple[tuple[str, str], ...] = ()
    fill: int | None = None


def export_run(folder: Path, name: str, *, fill: int | None = None, annotations: Path | None = None) -> Export:
    """Make the file of a run in a format. Answers count in the benchmark's own option order, as it was asked.

    Args:
        folder: The run's directory.
        name: Of the format.
        fill: Option, counted from 0, to put in for every question without an answer. That is a made-up answer: without
            it such a run is refused, with it `save` records which they are.
        annotations: The authors' annotation file, for formats that copy it.

    Raises:
        InputError: If there is no such run or format, the run is of another benchmark, or answers are missing.
    """
    made, manifest = get_format(name), read_manifest(folder)
    if manifest.benchmark != made.benchmark:
        raise InputError(f"the format {name} is for {made.benchmark}, and {folder} is a run of {manifest.title}")
    if fill is not None and not made.complete:
        raise InputError(f"the format {name} takes questions without an answer as they are: leave --fill out")
    if fill is not None and not 0 <= fill < MAX_OPTIONS:
        raise InputError(f"--fill {fill}: an option counted from 0 was expected")
    rows = {row.id: row for row in read_rows(folder) if row.order == 0}
    given: dict[str, int] = {}
    without: dict[str, str] = {}
    for question in manifest.question_ids:
        row = rows.get(question)
        if row is not None and row.outcome is Outcome.ANSWERED and row.answer_index is not None:
            given[question] = row.answer_index
        else:
            without[question] = row.outcome if row is not None else "not finished"
    if without and made.complete and fill is None:
        raise InputError(f"{folder}: {lacking(without)}. Finish the run, or ask again with --retry-failed")
    if fill is not None:
        given |= dict.fromkeys(without, fill)
    return Export(
        format=name,
        suffix=made.suffix,
        text=made.write(Answers(manifest.question_ids, given, without, annotations)),
        questions=len(manifest.question_ids),
        without=tuple(without.items()),
        fill=fill if without else None,
    )


def lacking(without: dict[str, str]) -> str:
    """What is missing, counted by how it ended, with the first ids."""
    kinds = ", ".join(f"{count} {how}" for how, count in Counter(without.values()).most_common())
    named = ", ".join(list(without)[:_NAMED]) + (", …" if len(without) > _NAMED else "")
    return f"{len(without)} questions have no answer ({kinds}): {named}"


def save(made: Export, path: Path) -> Path | None:
    """Write the file whole, and beside it which answers were put in, if any.

    Returns:
        The file that names them (`FILE.filled.json`), or None if every answer is the run's own.

    Raises:
        VideoHVError: If it can't be written.
    """
    record = path.with_name(f"{path.name}.filled.json")
    if made.fill is None:
        record.unlink(missing_ok=True)
    else:
        filled = {"fill": made.fill, "questions": dict(made.without)}
        # First, so that no file with made-up answers is ever without it.
        write_whole(record, json.dumps(filled, indent=1) + "\n")
    write_whole(path, made.text)
    return record if made.fill is not None else None
