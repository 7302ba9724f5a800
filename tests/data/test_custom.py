"""Questions of one's own, in every form that is read."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support.published import put
from videohv.data import load_questions
from videohv.errors import InputError, MissingExtra
from videohv.types import Window

ROWS: list[dict[str, Any]] = [
    {
        "id": "q1",
        "video": "a.mp4",
        "question": "Which?",
        "options": ["x", "y"],
        "answer": "y",
        "type": "what",
        "level": 3,
    },
    {"id": "q2", "video": "b.mp4", "question": "Who?", "options": ["he", "she", "they"], "answer": "she", "level": 1},
]


def spread(row: dict[str, Any], pattern: str) -> dict[str, Any]:
    names = (pattern.format("ABC"[i] if pattern == "{}" else i) for i in range(3))
    options = [*row["options"], ""][:3]
    return {k: v for k, v in row.items() if k != "options"} | dict(zip(names, options, strict=True))


def test_json_lines_and_json(tmp_path: Path) -> None:
    data = load_questions(f"custom:{put(tmp_path / 'own.jsonl', ROWS)}", strict=True)
    assert data.name == "custom:own.jsonl"
    assert data.source == ("own.jsonl",)
    assert [q.answer_index for q in data.questions] == [1, 1]
    assert data.questions[0].facets == (("level", "3"),)
    assert data.questions[0].type == "what"
    other = load_questions(f"custom:{put(tmp_path / 'own.json', ROWS)}")
    assert other.questions == data.questions


@pytest.mark.parametrize("pattern", ["option_{}", "option {}", "option{}", "a{}", "{}"])
def test_csv_with_a_column_an_option(tmp_path: Path, pattern: str) -> None:
    rows = [{"type": ""} | spread(row, pattern) for row in ROWS]
    data = load_questions(f"custom:{put(tmp_path / 'own.csv', rows)}", strict=True)
    same = load_questions(f"custom:{put(tmp_path / 'own.jsonl', ROWS)}")
    assert data.questions == same.questions


def test_csv_with_a_json_list_and_tabs(tmp_path: Path) -> None:
    rows = [{"type": "", **row, "options": json.dumps(row["options"])} for row in ROWS]
    same = load_questions(f"custom:{put(tmp_path / 'own.jsonl', ROWS)}").questions
    path = put(tmp_path / "own.csv", rows)
    assert load_questions(f"custom:{path}").questions == same
    columns = ["question", "A", "B"]
    tabs = "\t".join(columns) + "\nWhich, then?\tx\ty\n"
    assert load_questions(f"custom:{put(tmp_path / 'own.tsv', tabs)}").questions[0].text == "Which, then?"


def test_parquet(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "own.parquet")
    data = load_questions(f"custom:{tmp_path / 'own.parquet'}", strict=True)
    assert data.questions == load_questions(f"custom:{put(tmp_path / 'own.jsonl', ROWS)}").questions
    put(tmp_path / "broken.parquet", "PAR1 nonsense")
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        load_questions(f"custom:{tmp_path / 'broken.parquet'}")


def test_parquet_without_its_package_names_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtra, match=r"videohv\[hub\]"):
        load_questions(f"custom:{put(tmp_path / 'own.parquet', 'x')}")


@pytest.mark.parametrize(
    ("options", "answer", "index"),
    [
        (["x", "y"], "y", 1),
        (["x", "y"], " Y ", 1),
        (["x", "y"], 1, 1),
        (["x", "y"], "1", 1),
        (["x", "y"], 1.0, 1),
        (["x", "y"], "B", 1),
        (["x", "y"], "(b)", 1),
        (["x", "y"], "", None),
        (["x", "y"], None, None),
        (["0", "1"], "1", 1),
        (["A", "B"], "B", 1),
    ],
)
def test_answers(tmp_path: Path, options: list[str], answer: Any, index: int | None) -> None:
    row = {"question": "Which?", "options": options, "answer": answer}
    data = load_questions(f"custom:{put(tmp_path / 'own.jsonl', [row])}", strict=True)
    assert data.questions[0].answer_index == index


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ({"options": ["1", "2"], "answer": "1"}, "'1' could mean several options: name the column"),
        ({"options": ["B", "A"], "answer": "A"}, "'A' could mean several options"),
        ({"options": ["x", "y"], "answer": "z"}, "'z' is neither the text nor the number nor the letter"),
        ({"options": ["x", "y"], "answer": True}, "True is neither"),
        ({"options": ["x", "y"], "answer_index": "B"}, "'B' is not the number of an option"),
        ({"options": ["x"]}, "1 options given"),
        ({"options": ["x"] * 27}, "27 options given"),
        ({"options": ["x", ""]}, "option B is empty"),
        ({"options": "x, y"}, "options is a text, not a list of texts"),
        ({"A": "x", "B": "", "C": "z"}, "option B is empty"),
        ({}, "options are missing"),
        ({"options": ["x", "y"], "spans": [[2, 1]]}, "ends before it starts"),
    ],
)
def test_rows_that_cannot_be_used(tmp_path: Path, row: dict[str, Any], why: str) -> None:
    good = {"question": "Which?", "options": ["x", "y"]}
    data = load_questions(f"custom:{put(tmp_path / 'own.jsonl', [good, {'question': 'Which?'} | row])}")
    assert len(data.questions) == 1
    assert why in str(data.problems[0])
    assert str(data.problems[0]).startswith("own.jsonl, line 2")


def test_a_named_column_settles_what_an_answer_means(tmp_path: Path) -> None:
    rows = [
        {"question": "Which?", "options": ["2", "1"], "answer_text": "1"},
        {"question": "Which?", "options": ["1", "2"], "answer_index": "1"},
        {"question": "Which?", "options": ["B", "A"], "answer_letter": "B"},
    ]
    data = load_questions(f"custom:{put(tmp_path / 'own.jsonl', rows)}", strict=True)
    assert [q.answer_index for q in data.questions] == [1, 1, 1]
    assert [q.id for q in data.questions] == ["1", "2", "3"]
    assert [q.facets for q in data.questions] == [(), (), ()]


def test_recordings_spans_and_parts(tmp_path: Path) -> None:
    rows = [
        {
            "question": f"Which, {i}?",
            "options": ["A. x", "B. y"],
            "origin": f"film{i // 2}",
            "spans": [[0, i]],
            "a": None,
        }
        for i in range(40)
    ]
    path = put(tmp_path / "own.jsonl", rows)
    data = load_questions(f"custom:{path}")
    assert data.questions[3].options == ("x", "y")
    assert data.questions[3].recording == "film1"
    assert data.questions[3].spans == (Window(start=0, end=3),)
    test = load_questions(f"custom:{path}/test")
    assert test.name == "custom:own.jsonl/test"
    assert 0 < len(test.questions) < 40


def test_it_comes_from_a_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="not from the Hub"):
        load_questions(f"custom:{put(tmp_path / 'own.jsonl', ROWS)}", hub=True)
