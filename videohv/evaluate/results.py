"""A run's directory as figures. Needs neither a model nor the benchmark's files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from videohv.data.registry import benchmark_cards
from videohv.evaluate.compare import Comparison, comparability, compare
from videohv.evaluate.journal import read_rows
from videohv.evaluate.manifest import Manifest, read_manifest
from videohv.evaluate.parts import Groups
from videohv.evaluate.row import Row
from videohv.evaluate.summary import RunSummary, summarise


class Results(NamedTuple):
    """What a run is, and what came of it."""

    manifest: Manifest
    summary: RunSummary


def results_of(folder: Path, *, by: Sequence[str] | None = None, policy: Sequence[str] = ()) -> Results:
    """The figures of a run, finished or not.

    Args:
        folder: The run's directory.
        by: As in `summarise`.
        policy: Likewise.

    Raises:
        InputError: If there is no run, it is damaged, or `by` or `policy` names something that there is not.
    """
    return results_from(read_manifest(folder), read_rows(folder), by=by, policy=policy)


def results_from(
    manifest: Manifest, rows: Iterable[Row], *, by: Sequence[str] | None = None, policy: Sequence[str] = ()
) -> Results:
    """The same of rows that are at hand."""
    summary = summarise(
        rows,
        groups=groups_of(manifest.benchmark),
        by=by,
        policy=policy,
        expected=len(manifest.question_ids) * manifest.orders,
    )
    return Results(manifest, summary)


def compare_runs(a: Path, b: Path) -> Comparison:
    """Two runs beside each other, with what stands against comparing them.

    Raises:
        InputError: If one of them is no run, or they share no question.
    """
    return compare(read_rows(a), read_rows(b), warnings=comparability(read_manifest(a), read_manifest(b)))


def groups_of(benchmark: str) -> Groups:
    """The groups of question types that a benchmark is reported by; none if it has none or is not known here."""
    cards = {card.name: card for card in benchmark_cards()}
    return tuple((group.name, group.types) for group in cards[benchmark].groups) if benchmark in cards else ()
