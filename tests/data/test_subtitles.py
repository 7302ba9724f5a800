from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.published import HUB, hub_of, mme_videos, put
from videohv.data import load_questions
from videohv.data.subtitles import MAX_BYTES, Line, merge, read_subtitles, spoken
from videohv.errors import InputError
from videohv.types import Caption

SRT = """1
00:00:01,500 --> 00:00:03,000
<i>Hello</i>
there

2
00:00:03,000 --> 00:00:04,000
there
and here

3
01:00:00,250 --> 01:00:02,000


4
01:00:00,500 --> 01:00:02,000
the end
"""
VTT = """WEBVTT

NOTE a comment

00:01.500 --> 00:03.000 align:start
<v Ann>Hello there

00:03.500 --> 00:04.000
and <b>here</b>
"""


def test_srt(tmp_path: Path) -> None:
    assert read_subtitles(put(tmp_path / "a.srt", "\ufeff" + SRT)) == (
        Caption(time=1.5, text='Speech: "Hello there"'),
        Caption(time=3, text='Speech: "and here"'),
        Caption(time=3600.5, text='Speech: "the end"'),
    )


def test_vtt(tmp_path: Path) -> None:
    captions = read_subtitles(put(tmp_path / "a.vtt", VTT))
    assert [caption.time for caption in captions] == [1.5, 3.5]
    assert captions[1].text == 'Speech: "and here"'
    assert "Hello there" in captions[0].text


def test_files_that_are_no_subtitles(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read the subtitles"):
        read_subtitles(tmp_path / "none.srt")
    with pytest.raises(InputError, match=r"\.srt, \.vtt, \.ass, \.ssa was expected"):
        read_subtitles(put(tmp_path / "a.txt", SRT))
    with pytest.raises(InputError, match="has no subtitles in it"):
        read_subtitles(put(tmp_path / "b.srt", "once upon a time"))
    (tmp_path / "c.srt").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="is not text"):
        read_subtitles(tmp_path / "c.srt")
    assert read_subtitles(put(tmp_path / "d.srt", "")) == ()


ASS = r"""[Script Info]
ScriptType: v4.00+

[V4+ Styles]
Format: Name, Fontname
Style: Default,Arial

[Events]
Format: Layer, Start, End, Style, Name, MarginL, MarginR, MarginV, Effect, Text
Comment: 0,0:00:00.50,0:00:01.00,Default,,0,0,0,,not shown
Dialogue: 0,0:00:03.00,0:00:04.00,Default,,0,0,0,,{\an8}second\Nline
Dialogue: 0,0:00:01.50,0:00:02.00,Default,Ann,0,0,0,,{\i1}first{\i0}, with a comma
Dialogue: 1,0:00:02.00,0:00:03.00,Default,,0,0,0,,{\p1}m 0 0 l 100 0 100 100{\p0}
"""


@pytest.mark.parametrize("suffix", [".ass", ".ssa", ".ASS"])
def test_substation_alpha(tmp_path: Path, suffix: str) -> None:
    assert read_subtitles(put(tmp_path / f"a{suffix}", ASS)) == (
        Caption(time=1.5, text='Speech: "first, with a comma"'),
        Caption(time=3, text='Speech: "second line"'),
    )


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "cp1252"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.srt"
    path.write_bytes("1\n00:00:01,000 --> 00:00:02,000\ncafé “là”\n".encode(encoding))
    assert read_subtitles(path) == (Caption(time=1, text='Speech: "café “là”"'),)


def test_marks_are_taken_off(tmp_path: Path) -> None:
    text = "WEBVTT\n\n00:01.000 --> 00:02.000\n<v Ann>a &lt; b &amp; c</v> <c.red>d</c>\n"
    assert read_subtitles(put(tmp_path / "a.vtt", text))[0].text == 'Speech: "a < b & c d"'
    line = "1\n00:00:01,000 --> 00:00:02,000\n{\\an8}<font color=red>x</font> 1 < 2\n"
    assert read_subtitles(put(tmp_path / "a.srt", line))[0].text == 'Speech: "x 1 < 2"'
    assert spoken([Line(2.0, "{\\b1}b"), Line(1.0, "<i>a</i>\nc")]) == (
        Caption(time=1, text='Speech: "a c"'),
        Caption(time=2, text='Speech: "b"'),
    )


def test_files_without_anything_said(tmp_path: Path) -> None:
    for text in ("", "\ufeff", " \r\n\n"):
        assert read_subtitles(put(tmp_path / "a.srt", text)) == ()
    assert read_subtitles(put(tmp_path / "a.vtt", "WEBVTT\n\n")) == ()


def test_what_is_too_large_is_refused_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with (tmp_path / "film.srt").open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(InputError, match=r"film\.srt has more than 8 MiB"):
        read_subtitles(tmp_path / "film.srt")
    (tmp_path / "folder.srt").mkdir()
    with pytest.raises(InputError, match="is not an ordinary file"):
        read_subtitles(tmp_path / "folder.srt")
    long = "1\n00:00:01,000 --> 00:00:02,000\n" + "word " * 5000
    assert len(read_subtitles(put(tmp_path / "long.srt", long))[0].text) < 1100


@given(st.binary(max_size=200), st.sampled_from([".srt", ".vtt", ".ass", ".ssa"]))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=150)
def test_any_bytes_give_captions_or_an_input_error(tmp_path: Path, data: bytes, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    path.write_bytes(data)
    with suppress(InputError):
        read_subtitles(path)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100)
@given(
    text=st.text(st.sampled_from("0123:,->\n{}\\ab<i>&; \t\x00é"), max_size=60) | st.just(SRT[:70]),
    suffix=st.sampled_from([".srt", ".vtt"]),
)
def test_any_file_gives_captions_or_an_input_error(tmp_path: Path, text: str, suffix: str) -> None:
    try:
        captions = read_subtitles(put(tmp_path / f"a{suffix}", text))
    except InputError:
        return
    assert list(captions) == sorted(captions, key=lambda caption: caption.time)


def test_captions_and_speech_together_in_the_order_of_time() -> None:
    seen = [Caption(time=0, text="a"), Caption(time=2, text="b")]
    said = [Caption(time=1, text="x"), Caption(time=2, text="y")]
    assert [caption.text for caption in merge(seen, said)] == ["a", "x", "b", "y"]
    assert merge(seen, ()) == tuple(seen)


def test_videomme_with_subtitles(tmp_path: Path) -> None:
    put(tmp_path / "videomme/videomme_annotations.json", mme_videos())
    put(tmp_path / "videomme/subtitle/603.srt", SRT)
    plain = load_questions("videomme:long", data_root=tmp_path)
    data = load_questions("videomme:long+subtitles", data_root=tmp_path)
    assert data.name == "videomme:long+subtitles"
    assert data.questions == plain.questions
    assert data.content_hash != plain.content_hash
    assert plain.extra_captions(plain.questions[0]) == ()
    assert [caption.time for caption in data.extra_captions(data.questions[0])] == [1.5, 3, 3600.5]
    every = load_questions("videomme:all+subtitles", data_root=tmp_path)
    assert every.extra_captions(every.questions[0]) == ()
    assert "1 of 3 videos have subtitles" in every.notes


def test_subtitles_that_change_after_the_questions_were_loaded(tmp_path: Path) -> None:
    put(tmp_path / "videomme/videomme_annotations.json", mme_videos())
    path = put(tmp_path / "videomme/subtitle/603.srt", SRT)
    data = load_questions("videomme:long+subtitles", data_root=tmp_path)
    put(path, SRT.replace("the end", "another end"))
    with pytest.raises(InputError, match="changed since the questions were loaded"):
        data.extra_captions(data.questions[0])


def test_subtitles_under_the_name_that_the_hub_has_for_the_video(tmp_path: Path) -> None:
    put(tmp_path / "videomme/subtitle/tube603.srt", SRT)
    data = load_questions("videomme:long+subtitles", data_root=tmp_path, hub=True, loader=hub_of(HUB))
    assert len(data.extra_captions(data.questions[0])) == 3


def test_subtitles_that_are_not_there_are_said_to_be_missing(tmp_path: Path) -> None:
    put(tmp_path / "videomme/videomme_annotations.json", mme_videos())
    with pytest.raises(InputError, match=r"videomme/subtitle/VIDEO\.srt or .*subtitle\.zip"):
        load_questions("videomme:long+subtitles", data_root=tmp_path)
