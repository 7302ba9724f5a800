"""A run on disk as a value and as a dataset."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from tests.support.reported import a_large_run
from videohv import Run, Trace
from videohv.errors import InputError, MissingExtra


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return Run(a_large_run(tmp_path / "run", 12))


def test_its_parts(run: Run) -> None:
    assert len(run.rows) == 12
    assert run.manifest.question_ids == tuple(row.id for row in run.rows)
    assert run.results.summary.n == 12
    assert [row.id for row, _ in run.traces()] == [row.id for row in run.rows]


def test_a_folder_without_a_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError):
        Run(tmp_path)


def test_a_dataset_has_every_question(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    made = run.to_dataset(tmp_path / "cache")
    assert made["id"][:] == [row.id for row in run.rows]
    for item, (row, trace) in zip(made, run.traces(), strict=True):
        assert (item["outcome"], item["answer_index"], item["right"]) == (str(row.outcome), row.answer_index, row.right)
        assert item["options"] == list(trace.question.options)
        assert item["answer"] == (trace.question.options[row.answer_index] if row.answer_index is not None else None)
        assert len(item["evidence"]) == sum(len(evidence.observations) for evidence in trace.evidence)
        assert Trace.model_validate_json(item["trace"]) == trace


def test_a_run_that_has_grown_is_another_dataset(run: Run, tmp_path: Path) -> None:
    pytest.importorskip("datasets")
    assert len(run.to_dataset(tmp_path / "cache")) == 12
    grown = Run(a_large_run(run.folder, 15))
    assert len(grown.to_dataset(tmp_path / "cache")) == 15


def test_without_the_package_the_extra_is_named(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "datasets", None)
    with pytest.raises(MissingExtra, match="hub"):
        run.to_dataset()
