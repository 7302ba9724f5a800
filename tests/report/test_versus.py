from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.hostile import a_hostile_trace
from tests.support.html import Read, dangers
from tests.support.reported import a_large_run
from tests.support.rows import a_row
from videohv.errors import InputError
from videohv.evaluate.journal import read_rows
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.row import Row
from videohv.report import report_comparison
from videohv.report.versus import Pair, Side, comparison_html, flip

MADE = Manifest(benchmark="egoschema")


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    home = tmp_path_factory.mktemp("runs")
    first = a_large_run(home / "first", 150, 1, 0.3)
    return first, a_large_run(home / "second", 150, 2, 0.9, settings={"rounds": 1})


@pytest.fixture(scope="module")
def read(runs: tuple[Path, Path]) -> Read:
    return Read(report_comparison(*runs, runs[0] / "cmp.html").read_text(encoding="utf-8"))


def test_it_says_which_is_better_and_by_how_much(read: Read) -> None:
    assert "Run B is better by" in read.text
    for said in ("McNemar", "both right", "only run B right", "150 questions in both", "settings.rounds"):
        assert said in read.text, said


def test_flips_come_first_with_both_answers_and_reasons(runs: tuple[Path, Path], read: Read) -> None:
    a, b = ({row.id: row for row in read_rows(folder)} for folder in runs)
    flipped = {i for i in a if a[i].right != b[i].right}
    rows, places = read.data()["rows"], read.data()["places"]
    assert {row[1] for row in rows[: len(flipped)]} == flipped
    assert {row[1] for row in rows} == set(a)
    details = read.details()
    for row, place in zip(rows[:5], places, strict=False):
        fragment = Read(details[place[0]][place[1]])
        assert row[0] in fragment.text
        for said in ("Run A", "Run B", "Reasoning", "What the check said"):
            assert said in fragment.text
        assert len(fragment.of("told")) >= 4


def test_planted_text_is_text_on_both_sides() -> None:
    trace = a_hostile_trace()
    side = Side(trace.question.text, MADE, [Row.of(trace)])
    read = Read(comparison_html(side, side, lambda pair: (trace, trace)))
    assert not dangers(read)
    fragment = Read(read.details()[0][0])
    assert not dangers(fragment)
    assert "reasoning-here <script>" in fragment.text


@pytest.mark.parametrize(
    ("a", "b", "said"),
    [
        (True, True, "both"),
        (False, False, "neither"),
        (True, False, "only run A"),
        (False, True, "only run B"),
        (None, True, "not known"),
    ],
)
def test_what_flipped(a: bool | None, b: bool | None, said: str) -> None:
    assert flip(Pair(a_row(right=a), a_row(right=b))) == said


def test_runs_that_share_nothing_are_not_compared() -> None:
    trace = a_hostile_trace()
    with pytest.raises(InputError, match="share no question"):
        comparison_html(Side("a", MADE, [a_row("x")]), Side("b", MADE, [a_row("y")]), lambda pair: (trace, trace))
