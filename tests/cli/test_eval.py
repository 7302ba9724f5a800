"""`videohv eval` end to end: a benchmark in its published form, a real HTTP server, a run directory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.benchmark import make_benchmark, number_of, steady
from tests.support.server import Failure, FakeServer, Fault, Request
from videohv.cli import run
from videohv.evaluate.journal import NAME, read_rows, read_traces
from videohv.evaluate.manifest import read_manifest
from videohv.types import Outcome


def evaluate(folder: Path, server: FakeServer, *more: str) -> int:
    root, captions = folder / "data", folder / "data" / "captions.json"
    if not root.exists():
        make_benchmark(root, 6)
    return run(
        [
            *("eval", "egoschema:subset", "--data-root", str(root), "--captions", str(captions)),
            *("--lm", server.spec(), "--out", str(folder / "run"), "--no-cache", *more),
        ]
    )


def test_a_run_is_on_disk_and_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with FakeServer(steady) as server:
        # As in a shell, where the command line is there for everybody to copy the address from.
        monkeypatch.setattr("sys.argv", ["videohv", "eval", "--lm", server.spec()])
        assert evaluate(tmp_path, server, "--concurrency", "4") == 0
    said = capsys.readouterr()
    assert "6 of egoschema:subset, 6 with a known answer" in said.err
    assert "6/6 done" in said.err
    rows = read_rows(tmp_path / "run")
    assert [row.outcome for row in rows] == [Outcome.ANSWERED] * 6
    assert sum(row.calls for row in rows) == len(server.requests)
    assert {row.recording for row in rows} == {"r0", "r1", "r2"}
    for row, trace in read_traces(tmp_path / "run"):
        assert row.id == trace.question.id
        assert trace.answer is not None
    manifest = read_manifest(tmp_path / "run")
    assert (manifest.benchmark, manifest.split, manifest.labelled, manifest.method) == (
        "egoschema",
        "subset",
        6,
        "videohv",
    )
    assert manifest.captions == "captions.json"
    assert len({model.role for model in manifest.models}) >= 6
    for path in (tmp_path / "run").iterdir():
        assert server.address.encode() not in path.read_bytes(), path


def test_a_finished_run_is_printed_again_without_a_call(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(steady) as server:
        evaluate(tmp_path, server)
        first, asked = capsys.readouterr().out, len(server.requests)
        assert evaluate(tmp_path, server) == 0
        assert len(server.requests) == asked
    assert capsys.readouterr().out == first


def test_what_a_run_is_may_not_change(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(steady) as server:
        evaluate(tmp_path, server)
        before = (tmp_path / "run" / NAME).read_bytes()
        assert evaluate(tmp_path, server, "--set", "rounds=1", "--seed", "7") == 2
    said = capsys.readouterr().err
    assert "settings.rounds: 3 then, 1 now" in said
    assert "seed: 0 then, 7 now" in said
    assert (tmp_path / "run" / NAME).read_bytes() == before


def test_a_failed_question_is_no_guess_and_can_be_asked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    down = True

    def answer(request: Request) -> str | Fault:
        if down and number_of(request) == 2:
            return Fault(Failure.REFUSAL)
        return steady(request)

    with FakeServer(answer) as server:
        assert evaluate(tmp_path, server) == 0
        failed = [row for row in read_rows(tmp_path / "run") if row.failed]
        assert [(row.id, row.outcome, row.answer_index, row.right) for row in failed] == [
            ("q0002", Outcome.CONTENT_FILTERED, None, False)
        ]
        assert "1 failed: ask them again with --retry-failed" in capsys.readouterr().err
        down = False
        assert evaluate(tmp_path, server, "--retry-failed") == 0
    assert [row.outcome for row in read_rows(tmp_path / "run")] == [Outcome.ANSWERED] * 6


def test_the_figures_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(steady) as server:
        assert evaluate(tmp_path, server, "--json") == 0
    figures = json.loads(capsys.readouterr().out)
    assert figures["questions"] == 6


def test_a_question_without_captions_is_missing_input(tmp_path: Path) -> None:
    captions = make_benchmark(tmp_path / "data", 6)[1]
    some = {name: texts for name, texts in json.loads(captions.read_text()).items() if name != "q0003"}
    captions.write_text(json.dumps(some))
    with FakeServer(steady) as server:
        evaluate(tmp_path, server)
    row = next(row for row in read_rows(tmp_path / "run") if row.outcome is not Outcome.ANSWERED)
    assert (row.id, row.outcome, row.calls) == ("q0003", Outcome.MISSING_INPUT, 0)
    assert "--captions has nothing of it" in row.error


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--limit", "2", "--ids", "nowhere"], "1 of the ids are not in the benchmark: 'nowhere'"),
        (["--set", "rounds"], "expected NAME=VALUE"),
        (["--set", "roundz=1"], "no setting 'roundz'"),
        (["--method", "guess"], "no method is called 'guess'"),
        (["--ablate", "everything"], "should be 'hypotheses', 'clue', 'status'"),
        (["--program", "nobody"], "nobody"),
    ],
)
def test_what_cannot_be_run_is_said_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], told: str
) -> None:
    with FakeServer(steady) as server:
        assert evaluate(tmp_path, server, *more) in (1, 2)
        assert server.requests == []
    assert told in capsys.readouterr().err
    assert not (tmp_path / "run" / NAME).exists()


def test_no_report_is_made_that_nobody_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("videohv.track.runs.report_run", lambda *_: pytest.fail("it takes longer than the run itself"))
    with FakeServer(steady) as server:
        assert evaluate(tmp_path, server) == 0
