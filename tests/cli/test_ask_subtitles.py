"""`videohv ask` with what is said in the video."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.clips import make_clip
from tests.support.engine import FakeEngine, fake_lm
from tests.support.published import put
from tests.support.subtitled import Track, make_subtitled
from videohv.cli import run
from videohv.lm import team

QUESTION = ["-q", "What is held?", "-o", "a ball", "-o", "a cube"]
SRT = "1\n00:00:01,000 --> 00:00:02,000\nhello\n"


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    """Every spec names this one."""
    lm, engine = fake_lm()
    monkeypatch.setattr(team, "make_lm", lambda spec, seed=None: lm)
    return engine


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return make_clip(tmp_path / "party.mp4", frames=60, fps=10.0)


def asked(clip: Path, *options: str, capsys: pytest.CaptureFixture[str]) -> Any:
    assert run(["ask", str(clip), *QUESTION, "--json", *options]) == 0
    return json.loads(capsys.readouterr().out)["trace"]


def test_subtitles_are_used_where_they_are_found_and_it_is_said(
    clip: Path, engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    assert asked(clip, capsys=capsys)["speech"] is None
    put(clip.with_name("party.srt"), SRT)
    put(clip.with_name("party.fr.srt"), SRT)
    assert run(["ask", str(clip), *QUESTION]) == 0
    err = capsys.readouterr().err
    assert "speech        1 from party.srt" in err
    assert err.index("speech  ") < err.index("captions  ")
    assert "party.srt is used of 2; the others are party.fr.srt" in " ".join(err.split())
    assert any('Speech: "hello"' in seen.inputs["captions"] for seen in engine.of("summary"))
    trace = asked(clip, capsys=capsys)
    assert (trace["speech"]["captioner"], trace["speech"]["count"]) == ("party.srt", 1)


def test_subtitles_can_be_named_or_done_without(
    clip: Path, engine: FakeEngine, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    put(clip.with_name("party.srt"), SRT)
    mine = put(tmp_path / "mine.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\nmine\n")
    assert asked(clip, "--subtitles", str(mine), capsys=capsys)["speech"]["captioner"] == "mine.vtt"
    assert asked(clip, "--no-subtitles", capsys=capsys)["speech"] is None
    assert asked(clip, "--method", "direct", capsys=capsys)["speech"] is None
    for options, message in (
        (["--subtitles", str(mine), "--no-subtitles"], "give one or the other"),
        (["--subtitles", str(tmp_path / "none.srt")], "cannot read the subtitles"),
        (["--subtitles", str(clip)], "is not a subtitle file"),
    ):
        assert run(["ask", str(clip), *QUESTION, *options]) == 2
        assert message in " ".join(capsys.readouterr().err.split())


def test_subtitles_inside_the_video(tmp_path: Path, engine: FakeEngine, capsys: pytest.CaptureFixture[str]) -> None:
    path = make_subtitled(tmp_path / "a.mp4", Track([(1.0, 2.0, "hello")], "mov_text"))
    assert asked(path, capsys=capsys)["speech"]["captioner"] == "subtitle stream 1 (eng, mov_text) of the video"


def test_broken_subtitles_that_nobody_named_stop_nothing(
    clip: Path, engine: FakeEngine, capsys: pytest.CaptureFixture[str]
) -> None:
    put(clip.with_name("party.srt"), "once upon a time")
    trace = asked(clip, capsys=capsys)
    assert trace["speech"] is None
    assert any("party.srt has no subtitles in it" in warning for warning in trace["warnings"])


def test_the_size_of_frames_can_be_set(
    clip: Path, engine: FakeEngine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from videohv.video import Frame

    seen: set[int] = set()
    within = Frame.within
    monkeypatch.setattr(Frame, "within", lambda self, limits: seen.add(min(self.rgb.shape[:2])) or within(self, limits))
    asked(clip, "--short-side", "48", capsys=capsys)
    assert seen == {48}
