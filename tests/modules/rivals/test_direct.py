"""A vision model, frames of the whole video, one call."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.asking import CAPTIONS, run_method
from tests.support.clips import make_clip
from tests.support.engine import fake_lm
from videohv import make_method
from videohv.errors import DecodeError
from videohv.lm import team
from videohv.lm.roles import using
from videohv.modules.ask import ATTEMPTS
from videohv.types import Outcome, Source
from videohv.video import Video

ASKED: dict[str, Any] = {"question": "q", "options": ["a", "b"]}


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clips") / "clip.mp4", frames=200, fps=10.0)


@pytest.mark.parametrize("frames", [1, 8, 16])
def test_so_many_images_at_even_distances_go_into_one_call(clip: Path, frames: int) -> None:
    trace, engine = run_method("direct", video=clip, frames=frames)
    (asked,) = engine.requests
    assert (asked.role, asked.images) == ("direct.answer", frames)
    times = [float(t) for t in re.findall(r"([\d.]+)s", asked.inputs["times"])]
    assert times == pytest.approx([20 * (i + 0.5) / frames for i in range(frames)], abs=0.11)
    assert (trace.outcome, trace.answer.option_index) == (Outcome.ANSWERED, 0)
    (evidence,) = trace.evidence
    assert (evidence.source, len(evidence.times)) == (Source.FRAMES, frames)
    assert (evidence.window.start, round(evidence.window.end)) == (0, 20)
    assert [(u.role, u.calls, u.images) for u in trace.usage] == [("direct.answer", 1, frames)]
    assert trace.captions is None


def test_a_video_with_fewer_frames_shows_each_once(tmp_path: Path) -> None:
    clip = make_clip(tmp_path / "short.mp4", frames=3, fps=10.0)
    _, engine = run_method("direct", video=clip)
    assert engine.requests[0].images == 3


def test_captions_are_not_read(clip: Path) -> None:
    _, engine = run_method("direct", video=clip, captions=CAPTIONS)
    assert not any("holds thing" in value for value in engine.requests[0].inputs.values())


@pytest.mark.parametrize("captions", [CAPTIONS, [], None])
def test_without_a_video_the_input_is_missing_and_it_is_said_what_is_needed(captions: list[str] | None) -> None:
    lm, engine = fake_lm()
    with dspy.context(lm=lm):
        trace = make_method("direct")(**ASKED, captions=captions).trace
    assert trace.outcome is Outcome.MISSING_INPUT
    assert "needs the video file (--videos)" in trace.error
    assert not engine.requests


def test_without_a_model_that_sees_the_input_is_missing_and_no_model_is_fetched(
    clip: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fetched() -> Any:
        raise AssertionError("a model that cannot see was fetched")

    monkeypatch.setattr(team, "default_lm", fetched)
    trace = make_method("direct")(**ASKED, video=clip).trace
    assert trace.outcome is Outcome.MISSING_INPUT
    assert "--vision-lm" in trace.error
    trace, engine = run_method("direct", video=clip, engine={"supports_images": False})
    assert trace.outcome is Outcome.MISSING_INPUT
    assert not engine.requests


def test_a_vision_model_alone_is_enough(clip: Path) -> None:
    seeing, engine = fake_lm()
    with using(None, vision_lm=seeing):
        assert make_method("direct")(**ASKED, video=clip).outcome is Outcome.ANSWERED
    assert len(engine.requests) == 1


def test_a_vision_model_that_the_environment_names_is_found(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDEOHV_VISION_LM", "openai-compatible/x?api_base=http://127.0.0.1:9&retries=0")
    trace = make_method("direct")(**ASKED, video=clip).trace
    assert trace.outcome is Outcome.LM_FAILED
    assert [u.model for u in trace.usage] == ["openai-compatible/x"]


def test_a_video_without_any_frame_is_missing_input(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Video, "frames_at", lambda self, times: ())
    trace, engine = run_method("direct", video=clip)
    assert trace.outcome is Outcome.MISSING_INPUT
    assert "clip.mp4" in trace.error
    assert not engine.requests


def test_frames_that_cannot_be_had_are_missing_input(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(self: Video, times: Any) -> Any:
        raise DecodeError("the file is cut off")

    monkeypatch.setattr(Video, "frames_at", broken)
    trace, engine = run_method("direct", video=clip, captions=CAPTIONS)
    assert (trace.outcome, trace.error) == (Outcome.MISSING_INPUT, "the file is cut off")
    assert not engine.requests


def test_a_file_that_is_no_video_is_missing_input_whatever_captions_there_are(tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"not a video" * 50)
    trace, _ = run_method("direct", video=broken, captions=CAPTIONS)
    assert trace.outcome is Outcome.MISSING_INPUT
    assert "broken.mp4" in trace.error


def test_a_reply_that_names_no_option_is_asked_for_again_and_then_fails(clip: Path) -> None:
    reply = {"reasoning": "r", "answer": "Q", "confidence": 1}
    trace, engine = run_method("direct", {"direct.answer": reply}, video=clip)
    assert trace.outcome is Outcome.PARSE_FAILED
    assert [seen.images for seen in engine.requests] == [8] * ATTEMPTS
    assert trace.rounds, "which frames were shown is kept"
