from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import av
import pytest
from av import Packet
from av.video.stream import VideoStream

from tests.support.clips import make_clip, number_in
from tests.video.conftest import FRAMES
from videohv.errors import InputError
from videohv.video import PyAVDecoder, Video, gop
from videohv.video.source import Source

Clip = Callable[[str], Path]
GROUPED = ["h264.mp4", "no_b_frames.mp4", "one_group.mkv", "open_groups.mp4", "open_groups.ts", "hevc.mkv", "vp9.webm"]


def keys_of(path: Path) -> list[float]:
    with av.open(str(path)) as container:
        found = [float(p.pts * p.time_base) for p in container.demux(video=0) if p.is_keyframe and p.pts is not None]
    return [time - found[0] for time in found]


@pytest.fixture
def decoded(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Whether each packet that a decoder had to decode was a key frame."""
    seen: list[bool] = []
    decode = Source.decode

    def watched(self: Source, packet: Packet[VideoStream] | None, needed: bool = True) -> list[av.VideoFrame]:
        if packet is not None and needed:
            seen.append(packet.is_keyframe)
        return decode(self, packet, needed)

    monkeypatch.setattr(Source, "decode", watched)
    return seen


@pytest.mark.parametrize("name", [*GROUPED, "refresh.mp4", "fragmented.mp4", "mpeg2.ts"])
@pytest.mark.parametrize("fps", [0.4, 1, 7])
def test_near_gives_a_frame_inside_its_step(clip: Clip, name: str, fps: float) -> None:
    video = Video(clip(name))
    frames = list(video.sample(fps, mode="near"))
    assert [f.wanted for f in frames] == [f.wanted for f in video.sample(fps)]
    for frame in frames:
        assert frame.wanted - 1e-3 <= frame.time < frame.wanted + 1 / fps
        assert number_in(frame.rgb) == round(frame.time * video.info.fps)


@pytest.mark.parametrize("name", GROUPED)
def test_near_takes_key_frames_and_decodes_less(clip: Clip, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    video = Video(clip(name))
    given = 0
    decode = Source.decode

    def watched(self: Source, packet: Packet[VideoStream] | None, needed: bool = True) -> list[av.VideoFrame]:
        nonlocal given
        frames = decode(self, packet, needed)
        given += len(frames)
        return frames

    monkeypatch.setattr(Source, "decode", watched)
    list(video.sample(1))
    exact, given = given, 0
    times = {round(f.time, 2) for f in video.sample(1, mode="near")}
    assert given < exact
    keys = {round(time, 2) for time in keys_of(clip(name))}
    # Of two key frames in one second, either will do.
    assert {int(time) for time in keys} == {int(time) for time in times & keys}


def test_near_where_nothing_is_shown_inside_the_step_is_exact(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "gap.mp4", times=[0, 0.5, 1, 6, 6.5, 7], gop=100)
    found = [(f.wanted, number_in(f.rgb)) for f in Video(path).sample(1, mode="near")]
    assert [n for _, n in found][:1] + [n for _, n in found][2:6] == [0, 2, 2, 2, 2]
    assert [n for _, n in found][6] in (3, 4)


def test_near_in_long_groups_read_in_parts(clip: Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gop, "MAX_PACKETS", 7)
    for name in ("h264.mp4", "one_group.mkv", "open_groups.mp4"):
        for frame in Video(clip(name)).sample(1, mode="near"):
            assert frame.wanted <= frame.time < frame.wanted + 1
            assert number_in(frame.rgb) == round(frame.time * 10)


@pytest.mark.parametrize("name", GROUPED)
def test_key_frames_alone(clip: Clip, name: str, decoded: list[bool]) -> None:
    video = Video(clip(name))
    keys = keys_of(clip(name))
    del decoded[:]
    frames = list(video.sample(1, mode="key"))
    assert all(decoded)
    assert len(decoded) <= len(keys)
    assert [f.time for f in frames] == pytest.approx(
        [max(k for k in keys if k <= f.wanted + 1e-6) for f in frames], abs=0.002
    )
    assert [number_in(f.rgb) for f in frames] == [round(f.time * 10) for f in frames]
    assert len(frames) == FRAMES // 10


def test_frames_of_one_key_frame_share_its_picture_and_its_jpeg(plain: Path) -> None:
    first, second = list(Video(plain).sample(1, mode="key"))[:2]
    assert (first.wanted, second.wanted) == (0, 1)
    assert first.rgb is second.rgb
    assert first.jpeg is second.jpeg


def test_key_frames_far_apart_are_sought(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_clip(tmp_path / "long.mp4", times=[2.0 * i for i in range(600)], gop=5, size=(64, 48))
    video = Video(path)
    frames = list(PyAVDecoder().frames(path, [1.0, 505.0, 1101.0], 448, "key"))
    assert [number_in(f.rgb) for f in frames] == [0, 250, 550]
    assert video.info.largest_gop == pytest.approx(10)


def test_a_gradual_refresh_has_no_key_frames_to_show_but_whole_pictures(clip: Clip) -> None:
    frames = list(Video(clip("refresh.mp4")).sample(0.5, mode="key"))
    assert len(frames) == 20
    assert all(f.time <= f.wanted + 1e-6 for f in frames)
    assert [number_in(f.rgb) for f in frames] == [round(f.time * 10) for f in frames]


@pytest.mark.parametrize("mode", ["near", "key"])
def test_frames_hidden_by_an_edit_list_stay_hidden(tmp_path: Path, plain: Path, mode: str) -> None:
    path = tmp_path / "cut.mp4"
    with av.open(str(plain)) as old, av.open(str(path), "w") as new:
        source = old.streams.video[0]
        copy = new.add_stream_from_template(source)
        assert source.time_base is not None
        cut = int(6.2 / source.time_base)
        old.seek(cut, stream=source)
        for packet in old.demux(source):
            if packet.pts is not None and packet.dts is not None:
                packet.pts, packet.dts, packet.stream = packet.pts - cut, packet.dts - cut, copy
                new.mux(packet)
    frames = list(Video(path).sample(1, mode=mode))  # type: ignore[arg-type]
    assert len(frames) == 34
    assert all(f.time >= 0 for f in frames)
    assert [number_in(f.rgb) for f in frames] == [62 + round(f.time * 10) for f in frames]


@pytest.mark.parametrize("mode", ["near", "key"])
def test_without_times_every_mode_is_exact(clip: Clip, mode: str) -> None:
    video = Video(clip("mpeg4.avi"))
    assert video.info.largest_gop is None
    frames = list(video.sample(1, mode=mode))  # type: ignore[arg-type]
    assert [number_in(f.rgb) for f in frames] == [10 * i for i in range(40)]
    assert [f.time for f in frames] == pytest.approx(range(40))


def test_there_are_three_modes(plain: Path) -> None:
    with pytest.raises(InputError, match="mode is 'fast'; it is one of exact, near, key"):
        Video(plain).sample(1, mode="fast")  # type: ignore[arg-type]
