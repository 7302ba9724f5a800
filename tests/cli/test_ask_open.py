"""`videohv ask` without -o: the options are proposed, and it is said that they are."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import make_clip
from tests.support.engine import FakeEngine, answer_reply, fake_lm
from tests.support.html import Read
from videohv.cli import run
from videohv.lm import team

QUESTION = ["-q", "What is held?"]


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return make_clip(tmp_path / "clip.mp4", frames=60, fps=10.0)


def played(monkeypatch: pytest.MonkeyPatch, scripts: dict[str, Any] | None = None) -> FakeEngine:
    """Have every spec name one scripted engine."""
    lm, engine = fake_lm(scripts)
    monkeypatch.setattr(team, "make_lm", lambda spec, seed=None: lm)
    return engine


def test_proposed_options_are_shown_as_a_step_and_with_the_answer(
    clip: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    played(monkeypatch)
    assert run(["ask", str(clip), *QUESTION, "--report", str(tmp_path / "report.html")]) == 0
    out, err = capsys.readouterr()
    assert "options       A. a ball" in err
    assert "B. a cube" in err
    assert "(proposed)" in err
    assert err.index("summary") < err.index("options") < err.index("hypotheses")
    assert "Answer: A. a ball" in out
    assert "none were given; proposed: a ball / a cube" in out
    assert "No options were given: these were proposed" in Read((tmp_path / "report.html").read_text()).text


def test_json_tells_that_they_were_proposed(
    clip: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played(monkeypatch)
    assert run(["ask", str(clip), *QUESTION, "--json"]) == 0
    question = json.loads(capsys.readouterr().out)["trace"]["question"]
    assert (question["options"], question["proposed"]) == (["a ball", "a cube"], True)
    assert run(["ask", str(clip), *QUESTION, "-o", "a ball", "-o", "a cube", "--json"]) == 0
    assert "proposed" not in json.loads(capsys.readouterr().out)["trace"]["question"]


def test_without_abstain_it_may_decline_all_the_same(
    clip: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played(monkeypatch, {"answer": lambda seen: answer_reply("ABSTAIN", reasoning="neither is to be seen")})
    assert run(["ask", str(clip), *QUESTION]) == 3
    out = capsys.readouterr().out
    assert "Abstained" in out
    assert "Because: neither is to be seen" in out


def test_a_failed_proposal_is_said_and_is_no_answer(
    clip: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    played(monkeypatch, {"options": {"options": []}})
    assert run(["ask", str(clip), *QUESTION, "--report", str(tmp_path / "report.html")]) == 1
    out = capsys.readouterr().out
    assert "No answer (parse_failed): options: " in out
    assert "proposed:" not in out
    assert "none could be proposed" in Read((tmp_path / "report.html").read_text()).text


def test_markup_and_escapes_in_a_proposal_stay_text(
    clip: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    played(monkeypatch, {"options": {"options": ["[red]a ball[/red]", "\x1b[31ma cube"]}})
    assert run(["ask", str(clip), *QUESTION]) == 0
    out, err = capsys.readouterr()
    assert "[red]a ball[/red]" in out
    assert "[red]a ball[/red]" in err
    assert "\x1b" not in out + err


def test_a_method_without_captions_and_a_single_option_are_usage_errors(
    clip: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = played(monkeypatch)
    assert run(["ask", str(clip), *QUESTION, "--method", "direct"]) == 2
    assert "from which options could be proposed" in " ".join(capsys.readouterr().err.split())
    assert run(["ask", str(clip), *QUESTION, "-o", "a ball"]) == 2
    assert "1 options given" in " ".join(capsys.readouterr().err.split())
    assert not engine.requests


def test_the_role_may_have_a_model_of_its_own(
    clip: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    general, _ = fake_lm()
    named, engine = fake_lm()
    monkeypatch.setattr(team, "make_lm", lambda spec, seed=None: named if spec.model == "own" else general)
    assert run(["ask", str(clip), *QUESTION, "--lm", "fake/all", "--role", "options=fake/own"]) == 0
    assert engine.roles == ["options"]
    assert "--role options" in capsys.readouterr().err
