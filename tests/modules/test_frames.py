"""The loop on a real file: who looks, at what, and what happens when nobody can."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.clips import make_clip
from tests.support.engine import Script, Seen, check_reply, default_reply, fake_lm
from videohv import Trace, Video, VideoHV
from videohv.errors import DecodeError, MissingExtra
from videohv.lm.roles import eyes, using
from videohv.modules import observe
from videohv.types import Observation, Outcome, Source
from videohv.video.notes import NOTES

ASKED: dict[str, Any] = {"question": "what?", "options": ["a", "b"]}
CAPTIONS = [f"moment {i}" for i in range(20)]


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clips") / "clip.mp4", frames=200, fps=10.0)


def run(video: Path | Video, scripts: dict[str, Script] | None = None, **more: Any) -> tuple[Trace, Any]:
    lm, engine = fake_lm(scripts, **more.pop("engine", {}))
    inputs = {"captions": more.pop("captions")} if "captions" in more else {}
    with dspy.context(lm=lm):
        return VideoHV(**more)(**ASKED, video=video, **inputs).trace, engine


def test_a_vision_model_captions_and_looks_with_at_most_five_images_a_call(clip: Path) -> None:
    windows = {"windows": [{"start": 2, "end": 8}, {"start": 10, "end": 12}, {"start": 15, "end": 15}]}
    trace, engine = run(clip, {"locate": windows})
    assert trace.outcome is Outcome.ANSWERED
    assert trace.captions is not None
    assert trace.captions.count == 20
    assert trace.captions.captioner.startswith("lm:fake/model@")
    assert [seen.images for seen in engine.of("captioner")] == [5, 5, 5, 5]
    assert all(seen.images == 0 for seen in engine.requests if seen.role not in ("captioner", "look"))
    looks = engine.of("look")
    assert len(looks) == 3
    assert all(1 <= seen.images <= 5 for seen in looks)
    assert [e.source for e in trace.evidence] == [Source.FRAMES] * 3
    for evidence in trace.evidence:
        assert all(evidence.window.start - 0.11 <= t <= evidence.window.end + 0.11 for t in evidence.times)
        assert len(evidence.times) <= 5
    assert trace.video is not None
    assert trace.video.duration == pytest.approx(20, abs=0.11)


def test_no_frame_is_captioned_twice(clip: Path) -> None:
    _, first = run(clip)
    assert len(first.of("captioner")) == 4
    trace, second = run(clip)
    assert not second.of("captioner")
    assert trace.captions is not None
    assert trace.captions.count == 20


def test_captions_reach_summary_and_locate_only_and_no_image_goes_anywhere_else(clip: Path) -> None:
    replies = [check_reply("NOT_VERIFIED"), check_reply("PARTIAL", [(9, 12)]), check_reply("VERIFIED")]
    _, engine = run(clip, {"check": replies})
    for seen in engine.requests:
        assert ("captions" in seen.inputs) == (seen.role in ("summary", "locate"))
        assert ("summary" in seen.inputs) == (seen.role in ("thinker", "judge", "answer"))


def test_sights_are_booked_by_time_and_never_by_position(clip: Path) -> None:
    def merged(seen: Seen) -> dict[str, Any]:
        times = [float(t) for t in re.findall(r"([\d.]+)s", seen.inputs["times"])]
        return {"sights": [{"time": times[-1] + 0.2, "seen": "the last"}, {"time": times[0], "seen": "the\nfirst"}]}

    trace, _ = run(clip, {"look": merged})
    (evidence,) = trace.evidence
    assert len(evidence.times) == 5
    assert [(o.time, o.text) for o in evidence.observations] == [
        (evidence.times[0], "the first"),
        (evidence.times[-1], "the last"),
    ]


def test_without_a_vision_model_things_are_detected_in_the_frames(clip: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class Tags:
        def observe(self, frames: Any) -> tuple[Observation, ...]:
            return tuple(Observation(time=f.time, text="1 dog") for f in frames)

    monkeypatch.setattr(observe, "TagCaptioner", Tags)
    trace, engine = run(clip, captions=CAPTIONS, engine={"supports_images": False})
    assert [e.source for e in trace.evidence] == [Source.TAGS]
    assert "1 dog" in engine.of("check")[0].inputs["evidence"]
    assert not engine.of("look")
    assert any("no vision model" in warning for warning in trace.warnings)


def test_what_turns_up_about_the_file_on_the_way_is_in_the_trace(tmp_path: Path) -> None:
    video = Video(make_clip(tmp_path / "clip.mp4", frames=200, fps=10.0))

    def answer(seen: Seen) -> dict[str, Any]:
        NOTES.add(tmp_path / "clip.mp4", "decoder: PyAV reads this file, because decord stumbled")
        return default_reply(seen)

    trace, _ = run(video, {"look": answer}, captions=CAPTIONS)
    assert video.info.warnings == ()
    assert trace.warnings == ("decoder: PyAV reads this file, because decord stumbled",)


def test_a_look_that_fails_falls_back_on_the_captions_of_its_window_openly(clip: Path) -> None:
    trace, _ = run(clip, {"look": "no JSON at all"}, captions=CAPTIONS)
    assert [e.source for e in trace.evidence] == [Source.CAPTIONS]
    assert [o.text for o in trace.evidence[0].observations] == [f"moment {i}" for i in range(1, 5)]
    assert [d.step for d in trace.degraded] == ["verifier.look"]
    assert "captions of 0:01–0:04 used instead of frames" in trace.degraded[0].why


@pytest.mark.parametrize(
    "error", [DecodeError("the GOP at 2 s is broken"), MissingExtra("onnxruntime", "local", "tags")]
)
def test_frames_that_cannot_be_had_are_replaced_by_captions_openly(
    clip: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    def broken(self: Video, window: Any, n: int = 5) -> Any:
        raise error

    monkeypatch.setattr(Video, "window", broken)
    trace, _ = run(clip, captions=CAPTIONS)
    assert trace.outcome is Outcome.ANSWERED
    assert [e.source for e in trace.evidence] == [Source.CAPTIONS]
    assert str(error)[:20] in trace.degraded[0].why


def test_a_file_that_is_no_video_with_captions_goes_on_and_without_fails(tmp_path: Path) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"<html>not a video</html>" * 50)
    trace, _ = run(broken, captions=CAPTIONS)
    assert trace.outcome is Outcome.ANSWERED
    assert trace.degraded[0].step == "video"
    assert "broken.mp4" in trace.degraded[0].why
    trace, engine = run(broken)
    assert trace.outcome is Outcome.MISSING_INPUT
    assert "broken.mp4" in trace.error
    assert not engine.requests


def test_an_outage_while_captioning_is_a_typed_failure_and_keeps_what_was_captioned(clip: Path) -> None:
    from dspy.lm15 import ServerError

    calls = 0

    def fails_third(seen: Seen) -> Any:
        nonlocal calls
        calls += 1
        if calls == 3:
            raise ServerError("down")
        times = [float(t) for t in re.findall(r"([\d.]+)s", seen.inputs["times"])]
        return {"captions": [{"time": t, "seen": "x"} for t in times]}

    trace, _ = run(clip, {"captioner": fails_third}, workers=1)
    assert trace.outcome is Outcome.LM_FAILED
    assert "captioner" in trace.error
    trace, engine = run(clip)
    assert trace.outcome is Outcome.ANSWERED
    assert len(engine.of("captioner")) == 2, "ten of twenty captions were kept"


def test_who_looks() -> None:
    blind, _ = fake_lm(supports_images=False)
    seeing, _ = fake_lm(supports_images=True)
    unknown, _ = fake_lm(supports_images=None)
    with using(unknown):
        assert eyes(None) is None, "a model that may not see is not sent frames unasked"
        assert eyes(unknown) is unknown, "unless it was bound to the predictor"
    with using(blind):
        assert eyes(None) is None
        assert eyes(blind) is None
    with using(blind, vision_lm=unknown):
        assert eyes(None) is unknown
    with using(seeing):
        assert eyes(None) is seeing
        assert eyes(blind) is None


def test_an_open_video_can_be_asked_about_twice(clip: Path) -> None:
    video = Video(clip)
    assert run(video)[0].rounds == run(video)[0].rounds


def test_captions_that_a_model_could_not_make_are_missing_openly_and_asked_for_again(clip: Path) -> None:
    def garbled(seen: Seen) -> Any:
        times = [float(t) for t in re.findall(r"([\d.]+)s", seen.inputs["times"])]
        return "garbage" if times[0] == 5 else {"captions": [{"time": t, "seen": "x"} for t in times]}

    trace, _ = run(clip, {"captioner": garbled})
    assert trace.outcome is Outcome.ANSWERED
    assert trace.captions is not None
    assert trace.captions.count == 15
    assert "no captions from 5 s to 9 s" in trace.degraded[0].why
    trace, engine = run(clip)
    assert trace.captions is not None
    assert trace.captions.count == 20
    assert len(engine.of("captioner")) == 1


def test_a_sight_at_a_time_that_no_frame_has_is_no_evidence(clip: Path) -> None:
    sights = {"sights": [{"time": 9_999, "seen": "invented"}, {"time": 2.2, "seen": "real"}]}
    trace, _ = run(clip, {"look": sights})
    assert [o.text for o in trace.evidence[0].observations] == ["real"]
