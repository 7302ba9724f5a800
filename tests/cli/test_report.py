from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import make_clip
from tests.support.engine import FakeEngine, fake_lm
from tests.support.html import Read
from tests.support.reported import a_large_run
from tests.support.traces import a_trace
from videohv.cli import run
from videohv.lm import team

Capture = pytest.CaptureFixture[str]
QUESTION = ["-q", "What is held?", "-o", "a ball", "-o", "a cube"]


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeEngine]:
    def start(**options: Any) -> FakeEngine:
        lm, engine = fake_lm(None, **options)
        monkeypatch.setattr(team, "make_lm", lambda spec, seed=None: lm)
        return engine

    return start


def test_ask_writes_a_report_with_pictures(tmp_path: Path, play: Callable[..., FakeEngine], capsys: Capture) -> None:
    play()
    clip = make_clip(tmp_path / "my clip.mp4", frames=60, fps=10.0)
    out, trace = tmp_path / "out.html", tmp_path / "trace.json"
    assert run(["ask", str(clip), *QUESTION, "--report", str(out), "--trace", str(trace)]) == 0
    read = Read(out.read_text(encoding="utf-8"))
    assert "What is held?" in read.text
    assert read.all("img")
    assert read.of("player")[0].attributes["data-src"] == "./my%20clip.mp4"
    capsys.readouterr()
    # A trace that lies beside its video makes the same report.
    assert run(["report", str(trace)]) == 0
    assert capsys.readouterr().out == f"{tmp_path / 'trace.html'}\n"
    assert (tmp_path / "trace.html").read_bytes() == out.read_bytes()


def test_ask_refuses_a_report_that_could_not_be_written_before_it_spends_anything(
    tmp_path: Path, play: Callable[..., FakeEngine], capsys: Capture
) -> None:
    engine = play()
    clip = make_clip(tmp_path / "clip.mp4", frames=60, fps=10.0)
    assert run(["ask", str(clip), *QUESTION, "--report", str(tmp_path / "absent" / "out.html")]) == 2
    assert "--report" in capsys.readouterr().err
    assert not engine.roles


def test_report_of_a_run_lies_in_it(tmp_path: Path, capsys: Capture) -> None:
    folder = a_large_run(tmp_path / "run", 5)
    assert run(["report", str(folder)]) == 0
    assert capsys.readouterr().out == f"{folder / 'report.html'}\n"
    assert len(Read((folder / "report.html").read_text(encoding="utf-8")).data()["rows"]) == 5


def test_report_of_two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    monkeypatch.chdir(tmp_path)
    a, b = a_large_run(tmp_path / "a", 5, 1), a_large_run(tmp_path / "b", 5, 2)
    assert run(["report", str(a), str(b), "--details-mb", "0"]) == 0
    assert capsys.readouterr().out == "a-b.html\n"
    assert not Read(Path("a-b.html").read_text(encoding="utf-8")).details()


def test_what_it_cannot_take(tmp_path: Path, capsys: Capture) -> None:
    folder = a_large_run(tmp_path / "run", 2)
    trace = tmp_path / "trace.json"
    trace.write_text(a_trace().model_dump_json(), encoding="utf-8")
    for given, said in (
        ([str(folder)] * 3, "3 runs given"),
        ([str(folder), "--video", "x.mp4"], "--video goes with"),
        ([str(folder), str(tmp_path)], "holds no run"),
        ([str(tmp_path / "absent.json")], "cannot be read"),
    ):
        assert run(["report", *given]) == 2
        assert said in capsys.readouterr().err
