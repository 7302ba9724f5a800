from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import make_clip
from tests.support.engine import FakeEngine, answer_reply, fake_lm
from videohv import Trace, VideoHV, cli
from videohv.cli import run
from videohv.lm import fetch, team

QUESTION = ["-q", "What is held?", "-o", "a ball", "-o", "a cube"]


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return make_clip(tmp_path / "my clip.mp4", frames=60, fps=10.0)


@pytest.fixture
def play(monkeypatch: pytest.MonkeyPatch) -> Callable[..., FakeEngine]:
    """Have every spec name one scripted engine."""

    def start(scripts: dict[str, Any] | None = None, **options: Any) -> FakeEngine:
        lm, engine = fake_lm(scripts, **options)
        monkeypatch.setattr(team, "make_lm", lambda spec, seed=None: lm)
        return engine

    return start


def test_ask_prints_each_step_and_then_the_answer_with_its_evidence(
    clip: Path, play: Callable[..., FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    play()
    assert run(["ask", str(clip), *QUESTION]) == 0
    out, err = capsys.readouterr()
    for step in ("model", "captions", "summary", "round 1", "hypotheses", "clue", "looking at", "seen", "status"):
        assert step in err, step
    assert "Answer: A. a ball  (confidence 80%)" in out
    assert "Evidence 0:01–0:04 (frames):" in out
    assert "9 LM calls" in out


def test_json_is_all_that_stdout_gets(
    clip: Path, play: Callable[..., FakeEngine], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    play()
    assert run(["ask", str(clip), *QUESTION, "--json", "--trace", str(tmp_path / "trace.json")]) == 0
    out, err = capsys.readouterr()
    result = json.loads(out)
    assert (result["answer"], result["answer_index"], result["outcome"]) == ("a ball", 0, "answered")
    assert result["evidence"][0]["window"] == {"start": 1.0, "end": 4.0}
    trace = Trace.model_validate_json((tmp_path / "trace.json").read_text())
    assert trace == Trace.model_validate(result["trace"])
    assert trace.question.video == "my clip.mp4"
    assert not err


def test_abstaining_exits_with_3_and_failing_with_1(
    clip: Path, play: Callable[..., FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    play({"answer": answer_reply("ABSTAIN")})
    assert run(["ask", str(clip), *QUESTION, "--abstain"]) == 3
    assert "Abstained" in capsys.readouterr().out
    play({"answer": "garbage"})
    assert run(["ask", str(clip), *QUESTION]) == 1
    assert "No answer (parse_failed)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["ask"], "Missing"),
        (["ask", "x.mp4", "-q", "what?", "-o", "only one"], "1 options given; 2 to 26"),
        (["ask", "x.mp4", "-q", " ", "-o", "a", "-o", "b"], "the question is empty"),
        (["ask", "x.mp4", *QUESTION, "--rounds", "0"], "rounds"),
        (["ask", "x.mp4", *QUESTION, "--nonsense"], "nonsense"),
        (["ask", "x.mp4", *QUESTION, "--captioner", "poet"], "no captioner is called 'poet'; known: auto, lm, tags"),
        (["ask", "x.mp4", *QUESTION, "--trace", "not/there/trace.json"], "its folder is not there"),
        (["fly"], "fly"),
    ],
)
def test_usage_errors_exit_with_2(arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(arguments) == 2
    assert message in capsys.readouterr().err


def test_a_file_that_is_not_there_is_one_line_and_1(
    play: Callable[..., FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    engine = play()
    assert run(["ask", "not there.mp4", *QUESTION]) == 1
    err = capsys.readouterr().err
    assert "not there.mp4" in err
    assert "Traceback" not in err
    assert not engine.requests


def test_captions_stand_in_for_a_video(
    play: Callable[..., FakeEngine], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    engine = play()
    file = tmp_path / "captions.json"
    file.write_text(json.dumps({"v1": ["C holds a ball"] * 9, "v2": ["x"]}))
    assert run(["ask", "v1", *QUESTION, "--captions", str(file), "--rounds", "1", "--looks", "1"]) == 0
    assert "C holds a ball" in engine.of("summary")[0].inputs["captions"]
    assert "(captions)" in capsys.readouterr().out
    assert run(["ask", "v3", *QUESTION, "--captions", str(file)]) == 2
    assert "v3" in capsys.readouterr().err


def test_a_program_is_loaded(
    clip: Path, play: Callable[..., FakeEngine], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    engine = play()
    program = VideoHV()
    program.judge.predict.signature = program.judge.predict.signature.with_instructions("Judge by colour alone.")
    program.save(tmp_path / "mine.json")
    assert run(["ask", str(clip), *QUESTION, "--program", str(tmp_path / "mine.json")]) == 0
    assert "Judge by colour alone." in engine.of("judge")[0].system
    assert run(["ask", str(clip), *QUESTION, "--program", "no-such"]) == 1
    assert "no-such" in capsys.readouterr().err


def test_caption_writes_what_ask_reads(
    clip: Path, play: Callable[..., FakeEngine], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    engine = play()
    file = tmp_path / "captions.json"
    assert run(["caption", str(clip), "--out", str(file)]) == 0
    assert run(["caption", str(clip)]) == 0
    assert "0:05  the scene at 5" in capsys.readouterr().out
    assert len(engine.of("captioner")) == 2, "the second time they came from the store"
    assert run(["ask", str(clip), *QUESTION, "--captions", str(file)]) == 0
    assert "[5s] the scene at 5" in engine.of("summary")[0].inputs["captions"]


def test_what_a_model_or_a_caption_says_cannot_steer_the_terminal(
    play: Callable[..., FakeEngine], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    evil = "\x1b]0;owned\x07\x1b[2J[bold]not markup[/bold]"
    play({"answer": answer_reply("A", "AB", reasoning=evil)})
    file = tmp_path / "captions.json"
    file.write_text(json.dumps([evil] * 5))
    assert run(["ask", "v", "-q", "q", "-o", evil, "-o", "b", "--captions", str(file)]) == 0
    out, err = capsys.readouterr()
    assert "\x1b" not in out + err
    assert "\x07" not in out + err
    assert "[bold]not markup[/bold]" in out


def test_an_interrupt_says_how_to_go_on(
    clip: Path, play: Callable[..., FakeEngine], capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupt(seen: object) -> Any:
        raise KeyboardInterrupt

    play({"thinker": interrupt})
    assert run(["ask", str(clip), *QUESTION]) == 130
    assert "run the same command to go on" in capsys.readouterr().err


def test_the_model_that_is_used_is_printed_and_a_key_changes_nothing(
    clip: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked_for = []
    lm, _ = fake_lm()
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    monkeypatch.setattr(team, "make_lm", lambda spec, seed=None: (asked_for.append((str(spec), seed)), lm)[1])
    assert run(["ask", str(clip), *QUESTION, "--seed", "7"]) == 0
    out, err = capsys.readouterr()
    assert asked_for == [("embedded", 7)]
    assert "fake/model" in err
    assert "the default: no --lm was given" in err
    assert "sk-planted" not in out + err


def test_models_can_be_listed_and_are_named_when_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["models", "list"]) == 0
    out = capsys.readouterr().out
    assert "qwen2.5-coder-1.5b (default)" in out
    assert out.count("not fetched") == 2
    assert run(["models", "path"]) == 1
    assert "videohv models pull qwen2.5-coder-1.5b" in capsys.readouterr().err
    assert run(["models", "remove", "qwen2.5-coder-0.5b"]) == 1
    assert run(["models", "pull", "gpt-17"]) == 2
    assert "qwen2.5-coder-0.5b" in capsys.readouterr().err


def test_models_pull_prints_the_path(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def pull(name: str, on_progress: Any) -> Path:
        on_progress(1, 2, "fetching")
        return tmp_path / name

    monkeypatch.setattr(fetch, "pull", pull)
    assert run(["models", "pull"]) == 0
    assert capsys.readouterr().out.strip().endswith("qwen2.5-coder-1.5b")


@pytest.mark.parametrize("name", cli._COMMANDS)
def test_each_command_is_found_by_itself(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run([name, "--help"]) == 0
    assert re.match(rf"Usage: [\w -]+ {name} ", capsys.readouterr().out)
