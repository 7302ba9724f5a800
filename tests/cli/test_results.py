from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.rows import a_failure, a_row, a_run
from tests.support.upload_server import Reply, UploadServer
from videohv.cli import run
from videohv.evaluate.compare import Comparison
from videohv.evaluate.export import egoschema
from videohv.evaluate.submit import Receipt
from videohv.evaluate.summary import RunSummary

Capture = pytest.CaptureFixture[str]

ROWS = [
    a_row("a", type="CW", facets=(("duration", "long"),)),
    a_row("b", right=False, type="TN"),
    a_failure("c", type="TN", error="no reply"),
]


def test_results_prints_tables_on_stdout_alone(tmp_path: Path, capsys: Capture) -> None:
    assert run(["results", str(a_run(tmp_path, ROWS))]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("egoschema:full, videohv\n3 of 3 finished")
    assert "strict    33.3 %" in out
    assert not err


def test_results_as_json_is_the_whole_summary(tmp_path: Path, capsys: Capture) -> None:
    folder = a_run(tmp_path, ROWS)
    assert run(["results", str(folder), "--json", "--by", "duration,type", "--policy", "answered"]) == 0
    summary = RunSummary.model_validate_json(capsys.readouterr().out)
    assert [a.policy for a in summary.accuracy] == ["answered"]
    assert [(p.by, p.name) for p in summary.parts] == [("duration", "long"), ("type", "CW"), ("type", "TN")]


@pytest.mark.parametrize(
    ("more", "message"),
    [(["--by", "weather"], "'weather'"), (["--policy", "kind"], "'kind'; known: strict, answered, chance")],
)
def test_results_names_what_there_is(tmp_path: Path, capsys: Capture, more: list[str], message: str) -> None:
    assert run(["results", str(a_run(tmp_path, ROWS)), *more]) == 2
    assert message in capsys.readouterr().err


def test_a_directory_without_a_run_is_one_line_and_2(tmp_path: Path, capsys: Capture) -> None:
    for command in (["results"], ["export", "--format", "kaggle"], ["submit"]):
        assert run([command[0], str(tmp_path), *command[1:]]) == 2
        assert "holds no run" in capsys.readouterr().err


def test_compare_prints_text_or_json(tmp_path: Path, capsys: Capture) -> None:
    a = a_run(tmp_path / "a", ROWS)
    b = a_run(tmp_path / "b", [a_row("a"), a_row("b"), a_row("d")], data_hash="other")
    assert run(["compare", str(a), str(b)]) == 0
    out = capsys.readouterr().out
    assert out.startswith("warning: the runs asked different sets of questions (3 and 3)")
    assert "2 questions in both; 1 only in A, 1 only in B" in out
    assert "only B is right (1): b" in out
    assert run(["compare", str(a), str(b), "--json"]) == 0
    made = Comparison.model_validate_json(capsys.readouterr().out)
    assert (made.gained, made.lost) == (("b",), ())


def test_compare_refuses_runs_that_share_nothing(tmp_path: Path, capsys: Capture) -> None:
    a, b = a_run(tmp_path / "a", ROWS), a_run(tmp_path / "b", [a_row("x")])
    assert run(["compare", str(a), str(b)]) == 2
    assert "share no question" in capsys.readouterr().err


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """An EgoSchema of three questions."""
    monkeypatch.setattr(egoschema, "QUESTIONS", 3)


def test_export_prints_where_the_file_is(tmp_path: Path, capsys: Capture, small: None) -> None:
    folder = a_run(tmp_path / "run", [*ROWS[:2], a_row("c", answer_index=4)])
    assert run(["export", str(folder), "--format", "egoschema"]) == 0
    assert capsys.readouterr().out.strip() == str(folder / "egoschema.json")
    assert json.loads((folder / "egoschema.json").read_text()) == {"a": 0, "b": 0, "c": 4}
    assert run(["export", str(folder), "--format", "kaggle", "--out", str(tmp_path / "mine.csv")]) == 0
    assert (tmp_path / "mine.csv").read_text() == "q_uid,answer\na,0\nb,0\nc,4\n"


def test_export_without_all_answers_writes_nothing(tmp_path: Path, capsys: Capture, small: None) -> None:
    folder = a_run(tmp_path / "run", ROWS)
    assert run(["export", str(folder), "--format", "egoschema"]) == 2
    assert "1 questions have no answer (1 parse_failed): c" in capsys.readouterr().err
    assert not (folder / "egoschema.json").exists()


def test_made_up_answers_are_said_loudly(tmp_path: Path, capsys: Capture, small: None) -> None:
    folder = a_run(tmp_path / "run", ROWS)
    assert run(["export", str(folder), "--format", "egoschema", "--fill", "1"]) == 0
    assert "1 of 3 answers are MADE UP: B was put in" in capsys.readouterr().err.replace("\n", " ")
    assert json.loads((folder / "egoschema.json.filled.json").read_text())["questions"] == {"c": "parse_failed"}


@pytest.fixture
def server() -> Iterator[UploadServer]:
    made = UploadServer(Reply(text="60 %\x1b[2J"))
    yield made
    made.close()


def test_submit_sends_nothing_without_yes(tmp_path: Path, capsys: Capture, small: None, server: UploadServer) -> None:
    folder = a_run(tmp_path / "run", [*ROWS[:2], a_row("c")])
    assert run(["submit", str(folder), "--url", server.url]) == 0
    out, err = capsys.readouterr()
    assert "3 answers" in out
    assert server.url in out
    assert "add --yes" in err
    assert not server.got


def test_submit_prints_and_keeps_what_the_server_says(
    tmp_path: Path, capsys: Capture, small: None, server: UploadServer
) -> None:
    folder = a_run(tmp_path / "run", [*ROWS[:2], a_row("c")])
    assert run(["submit", str(folder), "--yes", "--url", server.url]) == 0
    assert [json.loads(got["body"]) for got in server.got] == [{"a": 0, "b": 0, "c": 0}]
    out, err = capsys.readouterr()
    assert out.strip() == "60 %[2J"
    (kept,) = folder.glob("submission-*.json")
    assert kept.name in err
    receipt = Receipt.model_validate_json(kept.read_text())
    assert (receipt.answer, receipt.questions) == ("60 %\x1b[2J", 3)


def test_a_submission_that_is_refused_is_one_line_and_1(tmp_path: Path, capsys: Capture, small: None) -> None:
    server = UploadServer(Reply(400, "no such question"))
    folder = a_run(tmp_path / "run", [*ROWS[:2], a_row("c")])
    assert run(["submit", str(folder), "--yes", "--url", server.url]) == 1
    server.close()
    assert "refused the submission with status 400: no such question" in capsys.readouterr().err.replace("\n", " ")
