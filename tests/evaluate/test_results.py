from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.rows import a_failure, a_row, a_run
from videohv.errors import InputError
from videohv.evaluate.results import compare_runs, groups_of, results_of


def test_a_run_is_summarised_from_its_directory_alone(tmp_path: Path) -> None:
    rows = [a_row("a"), a_failure("b"), a_row("b"), a_row("c", right=False)]
    manifest, summary = results_of(a_run(tmp_path / "run", rows, question_ids=("a", "b", "c", "d"), orders=2))
    assert manifest.title == "egoschema:full"
    # The later row of a question counts.
    assert (summary.n, summary.expected) == (3, 8)
    assert summary.accuracy[0].estimate is not None
    assert summary.accuracy[0].estimate.value == pytest.approx(2 / 3)
    assert not summary.failures


def test_a_benchmark_that_is_not_known_here_has_no_groups(tmp_path: Path) -> None:
    assert groups_of("my own") == ()
    assert results_of(a_run(tmp_path, [a_row()], benchmark="my own")).summary.n == 1


def test_groups_come_from_the_benchmarks_card(tmp_path: Path) -> None:
    summary = results_of(a_run(tmp_path, [a_row("1", type="CW"), a_row("2", type="TC")], benchmark="nextqa")).summary
    assert [part.n for part in summary.parts if part.by == "group"] == [1, 1]


def test_two_runs_on_other_data_are_compared_with_a_warning(tmp_path: Path) -> None:
    a = a_run(tmp_path / "a", [a_row("1")], data_hash="x")
    b = a_run(tmp_path / "b", [a_row("1")], data_hash="y")
    made = compare_runs(a, b)
    assert made.shared == 1
    assert len(made.warnings) == 1


def test_what_is_no_run_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="holds no run"):
        results_of(tmp_path)
