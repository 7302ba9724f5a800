"""What is said in a video, among the captions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.clips import make_clip
from tests.support.engine import fake_lm
from tests.support.published import put
from tests.support.subtitled import Track, make_subtitled
from videohv import VideoHV, make_method
from videohv.errors import InputError
from videohv.modules.recorder import Event, EventKind, listening
from videohv.modules.speech import Speech, find_speech, speech_in
from videohv.types import Caption

SRT = "1\n00:00:01,000 --> 00:00:02,000\nhello\n\n2\n00:00:03,000 --> 00:00:04,000\ngoodbye\n"
SAID = (Caption(time=1, text='Speech: "hello"'), Caption(time=3, text='Speech: "goodbye"'))


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    return make_clip(tmp_path / "party.mp4", frames=60, fps=10.0)


def test_a_file_beside_the_video(clip: Path) -> None:
    put(clip.with_name("party.en.srt"), SRT)
    assert find_speech(clip) == Speech(origin="party.en.srt", captions=SAID)


def test_of_several_one_is_used_and_the_others_are_named(clip: Path) -> None:
    put(clip.with_name("party.srt"), SRT)
    put(clip.with_name("party.fr.srt"), SRT.replace("hello", "bonjour"))
    found = find_speech(clip)
    assert (found.origin, found.captions) == ("party.srt", SAID)
    assert found.notes == ("subtitles: party.srt is used of 2; the others are party.fr.srt",)


def test_what_cannot_be_used_is_passed_over_and_named(clip: Path) -> None:
    put(clip.with_name("party.srt"), "once upon a time")
    put(clip.with_name("party.vtt"), "")
    found = find_speech(clip)
    assert found.captions == ()
    assert "party.srt has no subtitles in it" in found.notes[0]
    assert "party.vtt has none in it" in found.notes[1]
    put(clip.with_name("party.en.srt"), SRT)
    assert find_speech(clip).origin == "party.en.srt"


def test_subtitles_inside_the_video(tmp_path: Path) -> None:
    lines = [(1.0, 2.0, "hello"), (3.0, 4.0, "{\\i1}goodbye{\\i0}")]
    german = Track([(1.0, 2.0, "hallo")], language="ger")
    path = make_subtitled(tmp_path / "a.mkv", german, Track(lines))
    found = find_speech(path)
    assert (found.origin, found.captions) == ("subtitle stream 2 (eng, srt) of the video", SAID)
    assert found.notes == ("subtitles: stream 2 (eng, srt) is used of 2; the others are stream 1 (ger, srt)",)
    put(tmp_path / "a.srt", SRT)
    assert find_speech(path).origin == "a.srt"


def test_pictures_are_named_and_left(tmp_path: Path) -> None:
    found = find_speech(make_subtitled(tmp_path / "a.mkv", Track((), "dvdsub")))
    assert found == Speech(notes=("subtitles: left out, because they are pictures: stream 1 (eng, dvdsub, pictures)",))


def test_nothing_said_and_no_video(clip: Path, tmp_path: Path) -> None:
    assert find_speech(clip) == Speech()
    assert find_speech(tmp_path / "nothing.mp4") == Speech()
    assert speech_in(put(tmp_path / "x.srt", "")).notes == (f"subtitles: there are none in {tmp_path / 'x.srt'}",)
    with pytest.raises(InputError, match="cannot read the subtitles"):
        speech_in(tmp_path / "y.srt")


def test_speech_is_seen_with_the_captions_and_kept_in_the_trace(clip: Path) -> None:
    put(clip.with_name("party.srt"), SRT)
    lm, engine = fake_lm()
    events: list[Event] = []
    asked: dict[str, Any] = {"question": "what?", "options": ["a", "b"], "video": clip}
    with dspy.context(lm=lm), listening(events.append):
        trace = VideoHV()(**asked, speech=find_speech(clip).model_copy(update={"notes": ("a note",)})).trace
    assert trace.speech is not None
    assert (trace.speech.captioner, trace.speech.count) == ("party.srt", 2)
    assert "a note" in trace.warnings
    assert trace.captions is not None
    assert trace.captions.count == 6, "speech is not counted among what was captioned"
    for role in ("summary", "locate"):
        assert 'Speech: "hello"' in engine.of(role)[0].inputs["captions"]
    kinds = [event.kind for event in events]
    assert kinds.index(EventKind.SPEECH) < kinds.index(EventKind.CAPTIONS)
    with dspy.context(lm=lm):
        assert VideoHV()(**asked).trace.speech is None
        said = VideoHV()(**asked, speech=SAID).trace.speech
    assert said is not None
    assert (said.captioner, said.count, said.content_hash) == ("given", 2, trace.speech.content_hash)


def test_a_method_without_captions_hears_nothing(clip: Path) -> None:
    lm, _ = fake_lm()
    with dspy.context(lm=lm):
        trace = make_method("direct")(question="what?", options=["a", "b"], video=clip, speech=SAID).trace
    assert trace.speech is None
