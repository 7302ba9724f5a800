"""Files whose times are missing, made up, begun anew or far from zero."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import numpy as np
import pytest

from tests.support.clips import make_clip, number_in
from videohv.video import Video
from videohv.video.scan import scan
from videohv.video.source import Source

SIZE = {"size": (128, 96), "gop": 30}


@pytest.mark.parametrize("fps", [10, 30, 50])
def test_a_bare_stream_runs_at_the_rate_in_its_own_header(tmp_path: Path, fps: float) -> None:
    path = make_clip(tmp_path / "bare.h264", frames=200, fps=fps, format="h264")
    video = Video(path)
    assert video.info.fps == pytest.approx(fps)
    assert video.info.duration == pytest.approx(200 / fps)
    frames = list(video.sample(fps / 5, start=0.5 / fps))
    assert [number_in(f.rgb) for f in frames] == list(range(0, 200, 5))
    assert [f.time for f in frames] == pytest.approx([i / fps for i in range(0, 200, 5)])


def packed(path: Path, plain: Path) -> Path:
    """An AVI in which every B picture is in one packet with the picture that it refers to, as DivX once wrote them."""
    said = b"\x00\x00\x01\xb2DivX503b1393p"
    nothing = b"\x00\x00\x01\xb6\x7f\x00"
    with av.open(str(plain)) as old, av.open(str(path), "w") as new:
        source = old.streams.video[0]
        copy = new.add_stream_from_template(source)
        chunks: list[tuple[bytes, bool]] = []
        for packet in old.demux(source):
            if not packet.size:
                continue
            data = bytes(packet)
            start = data.index(b"\x00\x00\x01\xb6")
            if data[start + 4] >> 6 == 2:
                held, key = chunks[-1]
                chunks[-1] = (held + data, key)
                chunks.append((nothing, False))
            else:
                chunks.append((data[:start] + said + data[start:], packet.is_keyframe))
        for turn, (data, key) in enumerate(chunks):
            made: Any = av.Packet(data)
            made.stream, made.pts, made.dts, made.time_base = copy, turn, turn, Fraction(1, 30)
            made.is_keyframe = key
            new.mux(made)
    return path


def test_packed_b_pictures(tmp_path: Path) -> None:
    plain = make_clip(tmp_path / "plain.avi", frames=150, codec="mpeg4", b_frames=1, **SIZE)  # type: ignore[arg-type]
    path = packed(tmp_path / "packed.avi", plain)
    with av.open(str(path)) as opened:
        assert sum(packet.size == 6 for packet in opened.demux(video=0)) > 50
    for source in (plain, path):
        video = Video(source)
        assert video.info.duration == pytest.approx(5, abs=0.05)
        frames = list(video.sample(30, start=0.01))
        assert [number_in(f.rgb) for f in frames] == list(range(150))
        assert [f.time for f in frames] == pytest.approx([i / 30 for i in range(150)])


def test_an_avi_of_key_frames_alone_is_sought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_clip(tmp_path / "all.avi", frames=1000, fps=10, codec="mjpeg", size=(64, 48))
    video = Video(path)
    given = 0
    decode = Source.decode

    def watched(self: Source, packet: Any, needed: bool = True) -> list[av.VideoFrame]:
        nonlocal given
        given += packet is not None
        return decode(self, packet, needed)

    monkeypatch.setattr(Source, "decode", watched)
    assert [number_in(f.rgb) for f in video.frames_at([0.05, 55.05, 99.95])] == [0, 550, 999]
    assert given == 3


@pytest.mark.parametrize("name", ["joined.ts", "joined.mpg"])
def test_a_recording_glued_to_another_goes_on(tmp_path: Path, name: str) -> None:
    codec = "libx264" if name.endswith("ts") else "mpeg2video"
    path = make_clip(tmp_path / name, frames=200, fps=25, codec=codec, **SIZE)  # type: ignore[arg-type]
    path.write_bytes(path.read_bytes() * 2)
    video = Video(path)
    assert video.info.duration == pytest.approx(16, abs=0.1)
    if name.endswith("ts"):
        assert video.info.warnings == ("timestamps begin anew 1 times: the stretches are read one after the other",)
    frames = list(video.sample(5, start=0.02))
    assert [number_in(f.rgb) for f in frames] == [*range(0, 200, 5), *range(0, 200, 5)]
    assert [f.time for f in frames] == pytest.approx([i / 5 for i in range(80)], abs=0.05)


def test_the_size_changes_on_the_way(tmp_path: Path) -> None:
    small = make_clip(tmp_path / "a.ts", times=[i / 10 for i in range(50)], size=(128, 96), gop=20, b_frames=0)
    large = make_clip(tmp_path / "b.ts", times=[5 + i / 10 for i in range(50)], size=(256, 192), gop=20, b_frames=0)
    path = tmp_path / "both.ts"
    path.write_bytes(small.read_bytes() + large.read_bytes())
    video = Video(path)
    assert video.info.duration == pytest.approx(10, abs=0.1)
    expected = [(10 * (i % 5) + 0, 128 if i < 5 else 256) for i in range(10)]
    for found in (list(video.sample(1, start=0.05)), [f for i in range(10) for f in video.frames_at([i + 0.05])]):
        assert [(number_in(f.rgb), f.width) for f in found] == expected


@pytest.mark.parametrize("suffix", ["mkv", "mp4", "ts", "webm"])
def test_a_late_start_is_no_lack(tmp_path: Path, suffix: str) -> None:
    codec = "libvpx" if suffix == "webm" else "libx264"
    path = make_clip(tmp_path / f"late.{suffix}", times=[20 + i / 10 for i in range(50)], codec=codec, size=(96, 64))
    video = Video(path)
    assert video.info.duration == pytest.approx(5, abs=0.11)
    assert video.info.warnings == ()
    assert [number_in(f.rgb) for f in video.sample(1, start=0.05)] == [0, 10, 20, 30, 40]


def test_sound_that_goes_on_longer_is_no_lack(tmp_path: Path) -> None:
    path = tmp_path / "long_sound.mkv"
    with av.open(str(path), "w") as out:
        video: Any = out.add_stream("libx264", rate=10)
        video.width, video.height, video.pix_fmt = 96, 64, "yuv420p"
        sound: Any = out.add_stream("aac", rate=16_000, layout="mono")
        for i in range(30):
            frame = av.VideoFrame(96, 64, "yuv420p")
            frame.pts = i
            out.mux(video.encode(frame))
        out.mux(video.encode(None))
        for start in range(0, 16_000 * 20, 1024):
            silence = av.AudioFrame.from_ndarray(np.zeros((1, 1024), np.float32), format="fltp", layout="mono")
            silence.pts, silence.sample_rate, silence.time_base = start, 16_000, Fraction(1, 16_000)
            out.mux(sound.encode(silence))
        out.mux(sound.encode(None))
    info = Video(path).info
    assert info.duration == pytest.approx(3)
    assert info.warnings == ()


def test_what_a_scan_keeps_does_not_grow_with_the_video(tmp_path: Path) -> None:
    times = [i / 4 for i in range(1000)]
    index = scan(make_clip(tmp_path / "keys.mkv", times=times, gop=1, size=(64, 48), codec="libx264"))
    assert index.frames == 1000
    assert index.largest_gop == pytest.approx(0.25, abs=0.01)
    assert len(index.marks) == pytest.approx(250 / 8, abs=2)
    assert [b - a >= 8 / index.tick for a, b in zip(index.marks, index.marks[1:], strict=False)].count(False) == 0
