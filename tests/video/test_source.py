from __future__ import annotations

import os
import random
from collections.abc import Callable
from pathlib import Path

import av
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.clips import make_clip, picture
from videohv.errors import NotVideo, VideoError
from videohv.video import Frame, Video

NOT_MEDIA: dict[str, bytes] = {
    "html": b"<!DOCTYPE html><html><body>404 Not Found</body></html>",
    "text": b"this is no video\n" * 500,
    "random": random.Random(5).randbytes(50_000),
    "json": b'{"error": "login required"}',
    "ftyp only": b"\0\0\0\x18ftypisom\0\0\2\0isomiso2",
}


@pytest.mark.parametrize("what", NOT_MEDIA)
def test_what_is_no_media_file(tmp_path: Path, what: str) -> None:
    path = tmp_path / "clip.mp4"
    path.write_bytes(NOT_MEDIA[what])
    with pytest.raises(NotVideo, match=r"clip\.mp4: is not a video file") as caught:
        Video(path)
    assert "\n" not in str(caught.value)


def test_zero_bytes(tmp_path: Path) -> None:
    path = tmp_path / "empty.webm"
    path.touch()
    with pytest.raises(NotVideo, match=r"empty\.webm: is empty"):
        Video(path)


def test_missing_directory_and_pipe(tmp_path: Path) -> None:
    with pytest.raises(NotVideo, match="no such file"):
        Video(tmp_path / "missing.mp4")
    with pytest.raises(NotVideo, match="is a directory"):
        Video(tmp_path)
    with pytest.raises(NotVideo, match="cannot be looked at"):
        Video("zero\0byte.mp4")
    if hasattr(os, "mkfifo"):
        os.mkfifo(tmp_path / "pipe.mp4")
        with pytest.raises(NotVideo, match="not an ordinary file"):
            Video(tmp_path / "pipe.mp4")


def test_no_permission(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda *_: False)
    with pytest.raises(NotVideo, match="may not be read"):
        Video(plain)


@pytest.mark.parametrize(
    "script",
    [
        "#EXTM3U\n#EXT-X-TARGETDURATION:40\n#EXTINF:40,\n{name}\n#EXT-X-ENDLIST\n",
        "ffconcat version 1.0\nfile '{name}'\n",
        '<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"><Period><AdaptationSet><Representation>'
        "<BaseURL>{name}</BaseURL></Representation></AdaptationSet></Period></MPD>",
        "v=0\nm=video 5004 RTP/AVP 96\n",
    ],
    ids=["hls", "concat", "dash", "sdp"],
)
@pytest.mark.parametrize("suffix", ["mp4", "m3u8"])
def test_files_that_name_other_files_are_refused(clip: Callable[[str], Path], script: str, suffix: str) -> None:
    other = clip("open_groups.ts")
    path = other.with_name(f"script.{suffix}")
    path.write_text(script.format(name=other.name), encoding="utf-8")
    with pytest.raises(NotVideo):
        Video(path)


def test_single_pictures_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "frame001.jpg"
    frame = av.VideoFrame.from_ndarray(picture(1, 64, 48), format="rgb24")
    frame.save(path)
    with pytest.raises(NotVideo):
        Video(path)
    path.rename(tmp_path / "frame.mp4")
    with pytest.raises(NotVideo):
        Video(tmp_path / "frame.mp4")


def test_only_sound(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "song.mp4", codec="none", audio=True)
    with pytest.raises(NotVideo, match=r"song\.mp4: has no moving picture \(audio only\)"):
        Video(path)


def test_only_sound_and_a_cover(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "song.mp4", codec="none", audio=True, cover=True)
    with pytest.raises(NotVideo, match=r"no moving picture \(audio, cover picture only\)"):
        Video(path)


def test_the_same_stream_is_read_as_players_choose(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "covered.mp4", frames=10, cover=True, size=(96, 64))
    assert Video(path).info.codec == "h264"


@settings(max_examples=30, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(
    st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.binary(min_size=1, max_size=40)), max_size=6), st.data()
)
def test_damage_never_raises_anything_untyped(
    tmp_path_factory: pytest.TempPathFactory, plain: Path, hits: list[tuple[float, bytes]], data: st.DataObject
) -> None:
    content = bytearray(plain.read_bytes())
    for place, junk in hits:
        at = int(place * len(content))
        content[at : at + len(junk)] = junk
    size = data.draw(st.integers(0, len(content)))
    path = tmp_path_factory.mktemp("damaged") / "clip.mp4"
    path.write_bytes(content[:size] if data.draw(st.booleans()) else content)
    said = "clip.mp4"
    frames: list[Frame] = []
    try:
        frames = list(Video(path).sample(0.5))
    except VideoError as error:
        said = str(error)
    assert "clip.mp4" in said
    assert "\n" not in said
    assert all(frame.time <= frame.wanted + 1e-6 for frame in frames)
