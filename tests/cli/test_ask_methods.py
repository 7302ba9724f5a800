"""`videohv ask` with another method, or with parts of the loop switched off."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import make_clip
from tests.support.engine import FakeEngine, fake_lm
from videohv import make_method
from videohv.cli import run
from videohv.lm import team

QUESTION = ["-q", "What is held?", "-o", "a ball", "-o", "a cube"]


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """Every spec names this one."""
    lm, engine = fake_lm()
    monkeypatch.setattr(team, "make_lm", lambda spec, seed=None: lm)
    return engine


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return make_clip(tmp_path / "clip.mp4", frames=60, fps=10.0)


def asked(clip: Path, *options: str, capsys: pytest.CaptureFixture[str]) -> Any:
    assert run(["ask", str(clip), *QUESTION, "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)["trace"]


@pytest.mark.parametrize(
    ("method", "roles"),
    [
        ("captions", ["captioner", "captioner", "captions.answer"]),
        ("retrieval", ["captioner", "captioner", "retrieval.answer"]),
        ("direct", ["direct.answer"]),
    ],
)
def test_a_rival_answers(
    method: str, roles: list[str], clip: Path, engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = asked(clip, "--method", method, capsys=capsys)
    assert (trace["method"], trace["outcome"]) == (method, "answered")
    assert engine.roles == roles


def test_every_method_is_shown_step_by_step(clip: Path, engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    for method in ("captions", "retrieval", "direct"):
        assert run(["ask", str(clip), *QUESTION, "--method", method]) == 0
        assert "Answer: A. a ball" in capsys.readouterr().out


def test_parts_are_switched_off(clip: Path, engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    trace = asked(clip, "--ablate", "clue, hypotheses,frames", capsys=capsys)
    assert trace["settings"]["without"] == ["hypotheses", "clue", "frames"]
    assert not {"thinker", "judge", "look"} & set(engine.roles)


def test_settings_that_were_not_asked_for_have_the_methods_own_defaults(
    clip: Path, engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    for method in ("videohv", "retrieval", "direct"):
        trace = asked(clip, "--method", method, capsys=capsys)
        assert trace["settings"] == make_method(method).settings.model_dump(mode="json")
    assert asked(clip, "--method", "retrieval", "--rounds", "5", capsys=capsys)["settings"]["rounds"] == 5


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--method", "llovi"], "no method is called 'llovi'; known methods: captions, direct, retrieval, videohv"),
        (["--method", "direct", "--looks", "2"], "method 'direct' has no setting 'looks'"),
        (["--method", "captions", "--ablate", "clue"], "method 'captions' has no setting 'without'"),
        (["--ablate", "thinking"], "'hypotheses', 'clue', 'status', 'refinement' or 'frames'"),
    ],
)
def test_what_a_method_does_not_have_is_a_usage_error(
    options: list[str], message: str, clip: Path, engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["ask", str(clip), *QUESTION, *options]) == 2
    assert message in " ".join(capsys.readouterr().err.split())
    assert not engine.requests


def test_a_program_of_another_method_is_refused_by_name(
    clip: Path, engine: FakeEngine, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    make_method("captions").save(tmp_path / "mine.json")
    assert run(["ask", str(clip), *QUESTION, "--method", "captions", "--program", str(tmp_path / "mine.json")]) == 0
    capsys.readouterr()
    assert run(["ask", str(clip), *QUESTION, "--program", str(tmp_path / "mine.json")]) == 1
    assert "differ from those of method 'videohv'" in " ".join(capsys.readouterr().err.split())


def test_no_more_is_spent_than_allowed(
    clip: Path, engine: FakeEngine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    trace = tmp_path / "trace.json"
    assert run(["ask", str(clip), *QUESTION, "--limits", "calls=3", "--trace", str(trace)]) == 1
    kept = json.loads(trace.read_text())
    assert (kept["outcome"], kept["answer"]) == ("over_budget", None)
    assert len(engine.requests) == 3
    assert run(["ask", str(clip), *QUESTION, "--limits", "cost=0.1"]) == 2
    assert "the price of" in capsys.readouterr().err
    assert run(["ask", str(clip), *QUESTION, "--limits", "dollars=0.1"]) == 2
    assert len(engine.requests) == 3
