from __future__ import annotations

from pathlib import Path

import pytest
from av.stream import Disposition

from tests.support.clips import make_clip
from tests.support.subtitled import Track, make_subtitled
from videohv.errors import NotVideo
from videohv.video.contents import streams_of
from videohv.video.subtitle_streams import SubtitleStream, best_subtitles, subtitle_lines, subtitle_streams

LINES = [(1.0, 2.0, "hello"), (3.0, 4.5, "you\\Nthere")]


@pytest.mark.parametrize(
    ("name", "codec", "decoder"),
    [
        ("a.mkv", "subrip", "srt"),
        ("a.mkv", "ass", "ssa"),
        ("a.mkv", "webvtt", "webvtt"),
        ("a.mp4", "mov_text", "mov_text"),
    ],
)
@pytest.mark.parametrize("delay", [0.0, 5.0])
def test_text_inside_a_video_at_its_own_time(tmp_path: Path, name: str, codec: str, decoder: str, delay: float) -> None:
    path = make_subtitled(tmp_path / name, Track(LINES, codec), delay=delay)
    (stream,) = subtitle_streams(path)
    assert (stream.index, stream.codec, stream.text, stream.language) == (1, decoder, True, "eng")
    lines = list(subtitle_lines(path, 1))
    assert [line.start for line in lines] == pytest.approx([1.0, 3.0], abs=0.002)
    assert [line.text for line in lines] == ["hello", "you\nthere"]


def test_pictures_are_told_from_text(tmp_path: Path) -> None:
    path = make_subtitled(tmp_path / "a.mkv", Track((), "dvdsub"), Track(LINES))
    pictures, text = subtitle_streams(path)
    assert (pictures.text, text.text) == (False, True)
    assert str(pictures) == "stream 1 (eng, dvdsub, pictures)"
    assert best_subtitles([pictures, text]) is text
    assert best_subtitles([pictures]) is None
    assert list(subtitle_lines(path, 1)) == []


def test_marks_and_languages_are_read(tmp_path: Path) -> None:
    path = make_subtitled(
        tmp_path / "a.mkv",
        Track(LINES, marks=Disposition.forced),
        Track(LINES, language="ger", marks=Disposition.default),
    )
    first, second = subtitle_streams(path)
    assert (first.forced, first.default, second.language, second.default) == (True, False, "ger", True)


def stream(index: int, **more: object) -> SubtitleStream:
    return SubtitleStream.model_validate({"index": index, "codec": "srt", "text": True, **more})


@pytest.mark.parametrize(
    ("streams", "best"),
    [
        ([], None),
        ([stream(1, forced=True), stream(2)], 2),
        ([stream(1, forced=True)], 1),
        ([stream(1, language="eng"), stream(2, language="fre", default=True)], 2),
        ([stream(1, language="fre"), stream(2, language="eng")], 2),
        ([stream(1, language="fre"), stream(2, language="und"), stream(3)], 2),
        ([stream(1, aside=True, default=True), stream(2, language="fre")], 2),
        ([stream(1, forced=True, default=True), stream(2)], 2),
    ],
)
def test_which_is_read(streams: list[SubtitleStream], best: int | None) -> None:
    chosen = best_subtitles(streams)
    assert (chosen.index if chosen is not None else None) == best


def test_videos_without_subtitles_and_files_that_are_no_videos(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "a.mp4", frames=5)
    assert subtitle_streams(path) == ()
    assert list(subtitle_lines(path, 7)) == []
    (tmp_path / "b.mp4").write_bytes(b"nothing")
    with pytest.raises(NotVideo):
        subtitle_streams(tmp_path / "b.mp4")


def test_everything_in_a_container(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "a.mp4", frames=90, fps=30, gop=45, audio=True, cover=True)
    streams = streams_of(path)
    assert {s.kind for s in streams} == {"video", "audio"}
    (read,) = [s for s in streams if s.read]
    assert (read.codec, read.form) == ("h264", "128x96")
    assert [s.form for s in streams if s.kind == "audio"] == ["16000 Hz, mono"]
    assert any("attached_pic" in s.marks for s in streams if not s.read)
