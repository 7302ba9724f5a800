from __future__ import annotations

import shutil
import struct
from fractions import Fraction
from pathlib import Path

import av
import numpy as np
import pytest
from av.stream import Disposition
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.clips import make_clip, number_in, picture
from videohv.errors import VideoHVError
from videohv.video import Video
from videohv.video.contents import streams_of
from videohv.video.scan import scan
from videohv.video.source import Source
from videohv.video.tracks import alone


@pytest.fixture(scope="module")
def sounding(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three seconds with sound."""
    return make_clip(tmp_path_factory.mktemp("sounding") / "a.mp4", audio=True)


def numbers(path: Path) -> list[int]:
    return [number_in(frame.rgb) for frame in Video(path).sample(10, start=0.01)]


def streams(path: Path) -> int:
    with Source(path) as source:
        return len(source.container.streams)


def test_sound_is_not_indexed(sounding: Path) -> None:
    assert streams(sounding) == 1
    with Source(sounding, whole=True) as source:
        assert len(source.container.streams) == 2
    assert numbers(sounding) == list(range(0, 90, 3))
    assert [stream.kind for stream in streams_of(sounding)] == ["video", "audio"]


@pytest.mark.parametrize(
    "name", ["with spaces.mp4", "a,,:b.mp4", "%03d.mp4", "-dash.mp4", "ünïcödé 影.mp4", "a'b\".mp4"]
)
def test_any_name(sounding: Path, tmp_path: Path, name: str) -> None:
    path = Path(shutil.copy(sounding, tmp_path / name))
    assert alone(str(path)) is not None
    assert streams(path) == 1
    assert numbers(path) == list(range(0, 90, 3))


def test_a_name_that_cannot_be_said_is_read_whole(sounding: Path, tmp_path: Path) -> None:
    path = Path(shutil.copy(sounding, tmp_path / "a|b.mp4"))
    assert alone(str(path)) is None
    assert streams(path) == 2
    assert numbers(path) == list(range(0, 90, 3))


def test_there_is_nothing_to_leave_out(tmp_path: Path) -> None:
    assert alone(str(make_clip(tmp_path / "silent.mp4", frames=10))) is None
    assert alone(str(make_clip(tmp_path / "other.mkv", frames=10, audio=True))) is None
    assert alone(str(tmp_path / "missing.mp4")) is None


def two_videos(path: Path) -> Path:
    """Sound, a small video, more sound and a large video, which is the one to be read."""
    with av.open(str(path), "w") as out:
        sounds, videos = [], []
        for width in (64, 128):
            sounds.append(out.add_stream("aac", rate=16_000, layout="mono"))
            video = out.add_stream("libx264", rate=10)
            video.width, video.height, video.pix_fmt = width, width // 2, "yuv420p"
            video.disposition = Disposition.default if width == 128 else Disposition(0)
            videos.append(video)
        for i in range(30):
            for plus, video in zip((500, 0), videos, strict=True):
                rgb = picture(i + plus, video.width, video.height)
                out.mux(video.encode(av.VideoFrame.from_ndarray(rgb, format="rgb24")))
        for i in range(47):
            for sound in sounds:
                frame = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
                frame.pts, frame.sample_rate, frame.time_base = 1024 * i, 16_000, Fraction(1, 16_000)
                out.mux(sound.encode(frame))
        for stream in (*videos, *sounds):
            out.mux(stream.encode(None))
    return path


def test_streams_keep_their_numbers(tmp_path: Path) -> None:
    path = two_videos(tmp_path / "a.mp4")
    assert streams(path) == 2
    assert scan(path).stream == 3
    assert numbers(path) == list(range(30))
    with Source(path, 1) as source:
        assert (source.index, source.stream.width) == (1, 64)
    assert [stream.read for stream in streams_of(path)] == [False, False, False, True]


def test_a_long_head_is_read_rightly(sounding: Path, tmp_path: Path) -> None:
    """Sound whose box has its length in 64 bits, as the standard allows."""
    data = bytearray(sounding.read_bytes())
    moov = data.index(b"moov") - 4
    tracks = [i - 4 for i in range(len(data)) if data[i : i + 4] == b"trak"]
    sound = next(at for at in tracks if b"soun" in data[at : at + struct.unpack_from(">I", data, at)[0]])
    assert moov > data.index(b"mdat"), "no offset into the media changes"
    (size,) = struct.unpack_from(">I", data, sound)
    data[sound : sound + 8] = struct.pack(">I4sQ", 1, b"trak", size + 8)
    struct.pack_into(">I", data, moov, struct.unpack_from(">I", data, moov)[0] + 8)
    path = tmp_path / "long.mp4"
    path.write_bytes(data)
    assert streams(path) == 1
    assert numbers(path) == list(range(0, 90, 3))


@settings(max_examples=60, deadline=None, derandomize=True)
@given(st.binary(min_size=1, max_size=20), st.floats(0, 1, exclude_max=True), st.integers(0, 2000))
def test_damage_raises_nothing_but_what_is_said(
    tmp_path_factory: pytest.TempPathFactory, sounding: Path, junk: bytes, place: float, cut: int
) -> None:
    data = bytearray(sounding.read_bytes())
    start = data.index(b"moov")
    at = start + int(place * (len(data) - start))
    data[at : at + len(junk)] = junk
    path = tmp_path_factory.getbasetemp() / "tracks.mp4"
    path.write_bytes(data[: len(data) - cut])
    try:
        frames = list(Video(path).sample(1))
    except VideoHVError:
        return
    assert all(frame.rgb.ndim == 3 for frame in frames)
