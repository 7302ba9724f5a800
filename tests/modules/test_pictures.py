"""How large the frames are that a model is shown."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import dspy
import numpy as np
import pytest
import simplejpeg

from tests.support.clips import make_clip
from tests.support.engine import fake_lm
from videohv import Video, VideoHV, make_method
from videohv.lm.frames import SETTING, limiting
from videohv.modules.captioner import Captioner, LMCaptioner
from videohv.modules.observe import frame_inputs
from videohv.modules.recorder import Recorder, recording
from videohv.modules.settings import MethodSettings
from videohv.types import FrameLimits, Outcome, Question, Window
from videohv.video import Frame

ASKED: dict[str, Any] = {"question": "what?", "options": ["a", "b"]}


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clips") / "clip.mp4", frames=60, fps=10.0, size=(640, 480))


def noise(count: int) -> list[Frame]:
    random = np.random.default_rng(0)
    return [Frame(i, i, random.integers(0, 256, (240, 320, 3), dtype=np.uint8)) for i in range(count)]


def sent(frames: list[Frame], lm: dspy.BaseLM | None, most: int = 5) -> tuple[list[str], tuple[str, ...]]:
    recorder = Recorder(Question(text="q", options=("a", "b")), MethodSettings())
    with recording(recorder):
        images: Any = frame_inputs(frames, lm, most)["frames"]
    return [image.url for image in images], recorder.trace(Outcome.ANSWERED).warnings


def test_a_request_that_would_be_too_large_has_smaller_frames_and_says_so() -> None:
    uris, warnings = sent(noise(5), None)
    assert not warnings
    with dspy.context(**{SETTING: FrameLimits(request_bytes=50_000)}):
        smaller, warnings = sent(noise(5), None)
    assert len(smaller) == 5
    assert sum(map(len, smaller)) <= 50_000 < sum(map(len, uris))
    assert "frames are sent smaller than usual: 5 at once would be more than the 50000 bytes" in warnings[0]


def test_more_frames_than_a_provider_is_known_to_take_are_sent_and_spoken_of() -> None:
    uris, warnings = sent(noise(9), dspy.LM("mistral/pixtral"), most=9)
    assert len(uris) == 9
    assert warnings == ("9 frames in one request: of this provider 8 are known to be taken",)


def sizes(lm_images: list[str]) -> set[tuple[int, int]]:
    return {simplejpeg.decode_jpeg_header(base64.b64decode(uri.partition(",")[2]))[:2] for uri in lm_images}


def test_frames_have_the_size_that_is_set_from_the_decoder_on(clip: Path) -> None:
    frames = list(Video(clip).window(Window(start=0, end=2)))
    assert sizes(sent(frames, None)[0]) == {(448, 597)}
    with dspy.context(**{SETTING: FrameLimits(short_side=120)}):
        assert sizes(sent(frames, None)[0]) == {(120, 160)}


def test_captions_of_another_size_are_other_captions(clip: Path) -> None:
    lm, _ = fake_lm()
    usual = LMCaptioner(Captioner(), lm).identity
    with limiting(896):
        assert LMCaptioner(Captioner(), lm).identity != usual
    with limiting(448):
        assert LMCaptioner(Captioner(), lm).identity == usual


@pytest.mark.parametrize("method", ["videohv", "direct"])
def test_every_method_goes_by_it(clip: Path, method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[FrameLimits] = []
    within = Frame.within
    monkeypatch.setattr(Frame, "within", lambda self, limits: seen.append(limits) or within(self, limits))
    lm, _ = fake_lm()
    limits = FrameLimits(short_side=100)
    with dspy.context(lm=lm, **{SETTING: limits}):
        program = VideoHV() if method == "videohv" else make_method(method)
        assert program(**ASKED, video=str(clip)).trace.outcome is Outcome.ANSWERED
    assert set(seen) == {limits}
