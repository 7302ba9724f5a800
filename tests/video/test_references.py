from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from av import Packet
from av.video.stream import VideoStream
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.clips import picture
from videohv.video import Video
from videohv.video.h264 import Headers
from videohv.video.references import References
from videohv.video.source import Source

LENGTH = 240
FPS = 30

MADE: dict[str, dict[str, str]] = {
    "ultrafast": {"preset": "ultrafast"},
    "veryfast": {"preset": "veryfast"},
    "medium": {"preset": "medium"},
    "slower": {"preset": "slower", "x264-params": "ref=5:bframes=8:b-adapt=2"},
    "pyramid": {"preset": "fast", "x264-params": "ref=1:bframes=7:b-adapt=0:b-pyramid=normal:weightp=0"},
    "strict pyramid": {"preset": "fast", "x264-params": "ref=2:bframes=5:b-adapt=0:b-pyramid=strict"},
    "weighted": {"preset": "fast", "x264-params": "ref=1:weightp=2:weightb=1:bframes=3:b-adapt=0"},
    "slices": {"preset": "fast", "x264-params": "slices=3:ref=1:bframes=3:b-adapt=0"},
    "open groups": {"preset": "fast", "x264-params": "open-gop=1:ref=1:bframes=3:b-adapt=0"},
    "refresh": {"preset": "fast", "x264-params": "intra-refresh=1:ref=1"},
    "baseline": {"preset": "fast", "profile": "baseline"},
    "spatial": {"preset": "fast", "x264-params": "direct=spatial:ref=1:bframes=5:b-adapt=0"},
    "temporal": {"preset": "fast", "x264-params": "direct=temporal:ref=1:bframes=5:b-adapt=0"},
    "long wait": {"preset": "fast", "x264-params": "ref=16:bframes=16:b-adapt=0:b-pyramid=normal"},
    "cavlc": {"preset": "fast", "x264-params": "cabac=0:ref=1:bframes=3:b-adapt=0"},
    "interlaced": {"preset": "fast", "x264-params": "interlaced=1:ref=2:bframes=3"},
}


def moving(path: Path, options: dict[str, str], gop: int) -> Path:
    """A clip in which everything moves, so that a picture from a wrong reference differs somewhere."""
    dice = np.random.default_rng(1)
    ground = dice.integers(0, 255, (96, 192, 3), np.uint8)
    with av.open(str(path), "w") as out:
        stream = out.add_stream("libx264", rate=FPS, options={"crf": "24", **options})
        stream.width, stream.height, stream.pix_fmt, stream.gop_size = 128, 96, "yuv420p", gop
        for number in range(LENGTH):
            rgb = np.roll(ground, (number // 3, 3 * number), (0, 1))[:, :128].copy()
            rgb[24:72] = rgb[24:72] // 2 + picture(number, 128, 96)[24:72] // 2
            out.mux(stream.encode(av.VideoFrame.from_ndarray(rgb, format="rgb24")))
        out.mux(stream.encode(None))
    return path


def all_of(path: Path) -> list[np.ndarray]:
    with av.open(str(path)) as container:
        return [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]


@pytest.mark.parametrize("suffix", ["mp4", "mkv"])
@pytest.mark.parametrize("name", MADE)
def test_every_picture_is_the_same_to_the_bit(tmp_path: Path, name: str, suffix: str) -> None:
    path = moving(tmp_path / f"a.{suffix}", MADE[name], gop=80)
    every = all_of(path)
    video = Video(path)
    for step, first in ((30, 0), (11, 5), (4, 1), (1, 60)):
        wanted = list(range(first, LENGTH if step > 1 else first + 40, step))
        frames = video.frames_at([(i + 0.5) / FPS for i in wanted])
        for i, frame in zip(wanted, frames, strict=True):
            assert np.array_equal(frame.rgb, every[i]), f"frame {i} of every {step}th"


@pytest.fixture
def given_packets(monkeypatch: pytest.MonkeyPatch) -> list[int | None]:
    seen: list[int | None] = []
    decode = Source.decode

    def watched(self: Source, packet: Packet[VideoStream] | None, needed: bool = True) -> list[av.VideoFrame]:
        if packet is not None:
            seen.append(packet.pts)
        return decode(self, packet, needed)

    monkeypatch.setattr(Source, "decode", watched)
    return seen


def test_what_none_of_the_wanted_refers_to_is_not_decoded(tmp_path: Path, given_packets: list[int | None]) -> None:
    options = {"preset": "fast", "x264-params": "ref=1:bframes=7:b-adapt=0:b-pyramid=normal:scenecut=0:weightp=0"}
    path = moving(tmp_path / "a.mp4", options, gop=80)
    video = Video(path)
    assert video.info.duration == LENGTH / FPS
    given_packets.clear()
    assert len(video.frames_at([i + 0.01 for i in range(8)])) == 8
    # Of eight pictures one is a P picture, and one of the B pictures may be referred to by others.
    assert len(given_packets) < 0.35 * LENGTH


def test_where_it_saves_nothing_it_is_given_up(tmp_path: Path) -> None:
    path = moving(tmp_path / "a.mp4", MADE["medium"], gop=40)
    with Source(path) as source:
        references = References(source.codec.extradata)
        packets = list(source.packets())
    groups = [packets[i : i + 40] for i in range(0, LENGTH, 40)]
    assert all(group[0].is_keyframe for group in groups)
    every = range(40)
    assert [references.plan(group, every) for group in groups[:2]] == [None, None]
    assert references.plan(groups[2], {0}) is not None, "a group in which it saves something begins the count anew"
    assert [references.plan(group, every) for group in groups[3:]] == [None] * 3
    assert references.plan(groups[2], {0}) is None


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.binary(max_size=80), st.booleans())
def test_headers_of_anything(data: bytes, begun: bool) -> None:
    try:
        headers = Headers(b"\1\x64\0\x1f\xff\xe1" + data if begun else data)
    except ValueError:
        return
    assert headers.picture(memoryview(data)) is None or headers.references >= 1


@pytest.fixture(scope="module")
def stream(tmp_path_factory: pytest.TempPathFactory) -> tuple[bytes, list[bytes]]:
    """The decoder configuration and the packets of a stream."""
    path = moving(tmp_path_factory.mktemp("headers") / "a.mp4", MADE["medium"], gop=80)
    with av.open(str(path)) as container:
        extradata = container.streams.video[0].codec_context.extradata
        return bytes(extradata or b""), [bytes(p) for p in container.demux(video=0) if p.size]


@settings(max_examples=300, deadline=None, derandomize=True)
@given(st.data())
def test_damaged_headers_are_read_or_not_followed(stream: tuple[bytes, list[bytes]], data: st.DataObject) -> None:
    extradata, packets = bytearray(stream[0]), [bytearray(packet) for packet in stream[1][:20]]
    for target in (extradata, packets[data.draw(st.integers(0, 19))]):
        for _ in range(data.draw(st.integers(0, 3))):
            target[data.draw(st.integers(0, min(len(target), 40) - 1))] = data.draw(st.integers(0, 255))
    try:
        headers = Headers(bytes(extradata))
    except ValueError:
        return
    for packet in packets:
        read = headers.picture(memoryview(packet))
        assert read is None or 0 <= read.number < headers.numbers
