from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from itertools import count, islice
from pathlib import Path

import av
import pytest
from av import Packet
from av.video.stream import VideoStream
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.clips import make_clip, number_in
from tests.video.conftest import FRAMES, KINDS
from videohv.errors import InputError
from videohv.video import PyAVDecoder, Video, gop
from videohv.video.source import Source

Clip = Callable[[str], Path]
BY_HYPOTHESIS = settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True
)


def numbers(path: Path, times: list[float], short_side: int = 448) -> list[int]:
    return [number_in(frame.rgb) for frame in PyAVDecoder().frames(path, times, short_side)]


@pytest.mark.parametrize("name", KINDS)
def test_every_kind_of_file_gives_the_frame_on_screen(clip: Clip, name: str) -> None:
    video = Video(clip(name))
    fps = float(str(KINDS[name].get("fps", 10)))
    assert video.info.duration == pytest.approx(FRAMES / fps, abs=0.002)
    assert video.info.fps == pytest.approx(fps, rel=0.001)
    assert (video.info.width, video.info.height) == KINDS[name].get("size", (96, 64))
    # From the start, from the middle (so that it must seek), and one frame at a time.
    for start, step in ((0.07, 0.5), (21.33, 0.3), (FRAMES / fps - 1.37, 0.1)):
        times = [t for t in (start + step * i for i in range(8)) if t < FRAMES / fps]
        frames = list(PyAVDecoder().frames(clip(name), times, 448))
        if fps == 10 and name != "mpeg4.avi":
            assert [f.time for f in frames] == pytest.approx([int(t * fps) / fps for t in times], abs=0.0011)
        assert [f.wanted for f in frames] == times
        assert [number_in(f.rgb) for f in frames] == [int(t * fps) for t in times]


def test_a_gradual_refresh_is_given_its_run_up(clip: Clip) -> None:
    # Such a file marks the beginning of a refresh as a key frame, which alone does not give a whole picture.
    for i in range(90, FRAMES, 4):
        assert numbers(clip("refresh.mp4"), [i / 10 + 0.05]) == [i]


@pytest.mark.parametrize("name", ["h264.mp4", "one_group.mkv", "open_groups.mp4", "hevc.mkv"])
def test_long_groups_read_in_parts(clip: Clip, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(gop, "MAX_PACKETS", 7)
    assert numbers(clip(name), [i / 10 + 0.05 for i in range(0, FRAMES, 3)]) == list(range(0, FRAMES, 3))
    assert numbers(clip(name), [20.05, 31.05, 31.15]) == [200, 310, 311]


@pytest.mark.parametrize(
    "name",
    ["h264.mp4", "no_b_frames.mp4", "one_group.mkv", "open_groups.mp4", "open_groups.ts", "hevc.mkv", "vp9.webm"],
)
def test_sound_files_are_decoded_once_and_sparingly(clip: Clip, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    list(PyAVDecoder().frames(clip(name), [0.0], 448))
    opened, given, skippable = 0, 0, 0
    init, decode = Source.__init__, Source.decode

    def counted_init(self: Source, path: Path, stream: int | None = None, wary: bool = True) -> None:
        nonlocal opened
        opened += 1
        init(self, path, stream, wary)

    def counted_decode(self: Source, packet: Packet[VideoStream] | None, needed: bool = True) -> list[av.VideoFrame]:
        nonlocal given, skippable
        given += packet is not None
        skippable += not needed
        return decode(self, packet, needed)

    monkeypatch.setattr(Source, "__init__", counted_init)
    monkeypatch.setattr(Source, "decode", counted_decode)
    times = [i / 10 + 0.05 for i in range(0, FRAMES, 13)]
    assert numbers(clip(name), times) == list(range(0, FRAMES, 13))
    assert opened <= 1, "what the decoder holds back was looked for a second time"
    assert given <= FRAMES
    assert given - skippable <= len(times) + 10
    opened = given = 0
    assert numbers(clip(name), [20.05, 20.25]) == [200, 202]
    assert opened <= 1
    assert given <= (210 if name == "one_group.mkv" else 100)


@BY_HYPOTHESIS
@given(st.lists(st.integers(0, FRAMES * 100 - 1), min_size=1, max_size=8))
def test_any_times_in_any_kind(clip: Clip, hundredths: list[int]) -> None:
    # Times are kept off the frames' own edges, where containers with coarse ticks round either way.
    times = sorted((h // 100 + 0.1 + 0.8 * (h % 100) / 100) / 10 for h in hundredths)
    for name in ("h264.mp4", "open_groups.mp4", "hevc.mkv", "one_group.mkv", "refresh.mp4"):
        assert numbers(clip(name), times) == [int(t * 10) for t in times], name


@BY_HYPOTHESIS
@given(st.data())
def test_variable_rate(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject) -> None:
    gaps = data.draw(st.lists(st.integers(1, 3000), min_size=1, max_size=15))
    shown = [sum(gaps[:i]) / 100 for i in range(len(gaps) + 1)]
    path = make_clip(tmp_path_factory.mktemp("vfr") / "clip.mkv", times=shown, gop=4, size=(96, 64))
    times = sorted(data.draw(st.lists(st.floats(0, shown[-1]), min_size=1, max_size=10)))
    frames = list(PyAVDecoder().frames(path, times, 448))
    assert [f.wanted for f in frames] == times
    for frame in frames:
        at = number_in(frame.rgb)
        assert frame.time == pytest.approx(shown[at], abs=0.0006)
        assert frame.time <= frame.wanted + 1e-6
        assert at == len(shown) - 1 or frame.wanted < shown[at + 1] + 0.0006


def test_a_frames_own_time_gives_that_frame(plain: Path) -> None:
    video = Video(plain)
    times = [f.time for f in video.sample(10)]
    assert len(times) == FRAMES
    assert [f.time for f in video.frames_at(times)] == times


@pytest.mark.parametrize("rotation", [0, 90, 180, -90])
@pytest.mark.parametrize("hflip", [False, True])
def test_pictures_are_upright(tmp_path: Path, rotation: int, hflip: bool) -> None:
    path = make_clip(tmp_path / "turned.mp4", frames=12, size=(128, 64), rotation=rotation, hflip=hflip)
    video = Video(path)
    assert (video.info.width, video.info.height) == (128, 64)
    (frame,) = video.frames_at([11 / 30])
    assert (frame.width, frame.height) == (128, 64)
    assert number_in(frame.rgb) == 11
    assert frame.rgb[40:60, :32].mean() + 40 < frame.rgb[40:60, -32:].mean()


def test_an_edit_list_hides_frames(tmp_path: Path, plain: Path) -> None:
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
    video = Video(path)
    assert video.info.duration == pytest.approx(40 - 6.2)
    assert [number_in(f.rgb) for f in video.sample(1)] == [62 + 10 * i for i in range(34)]


def test_timestamps_that_start_late_count_from_the_first_frame(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "late.ts", times=[100 + i / 10 for i in range(200)], gop=30, size=(96, 64))
    video = Video(path)
    assert video.info.duration == pytest.approx(20, abs=0.2)
    assert [number_in(f.rgb) for f in video.frames_at([0.0, 3.05, 15.55])] == [0, 30, 155]


def test_many_threads_share_one_video(plain: Path) -> None:
    video = Video(plain)

    def look(i: int) -> list[int]:
        return [number_in(f.rgb) for f in video.frames_at([i + 0.05, i + 9.05])]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(look, range(30)))
    assert found == [[10 * i, 10 * i + 90] for i in range(30)]


def test_frames_are_streamed_and_let_go(clip: Clip, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    packets = Source.packets

    def counted(self: Source):  # type: ignore[no-untyped-def]
        nonlocal read
        for packet in packets(self):
            read += 1
            yield packet

    path = clip("h264.mp4")
    video = Video(path)
    monkeypatch.setattr(Source, "packets", counted)
    frames = video.sample(10)
    seen: list[weakref.ref[object]] = []
    most = 0
    for n, frame in enumerate(frames):
        if n == 0:
            assert read <= 3 * 45, "the first frame came before the file was read through"
        seen.append(weakref.ref(frame.rgb))
        del frame
        gc.collect(0)
        most = max(most, sum(ref() is not None for ref in seen[-50:]))
    assert len(seen) == FRAMES
    assert most <= 3


def test_times_are_read_no_further_than_the_video(plain: Path) -> None:
    # An endless iterator would never come back if it were gathered first.
    frames = list(PyAVDecoder().frames(plain, (i * 10.0 for i in count()), 448))
    assert [number_in(f.rgb) for f in frames] == [0, 100, 200, 300]
    first = list(islice(PyAVDecoder().frames(plain, (i * 0.1 for i in count()), 448), 3))
    assert [number_in(f.rgb) for f in first] == [0, 1, 2]


def test_several_times_on_one_frame_share_its_picture(plain: Path) -> None:
    a, b, c = PyAVDecoder().frames(plain, [1.01, 1.05, 1.12], 448)
    assert a.rgb is b.rgb
    assert (a.wanted, a.time, b.wanted, b.time) == (1.01, 1.0, 1.05, 1.0)
    assert number_in(c.rgb) == 11


@pytest.mark.parametrize("times", [[1.0, 0.5], [-1.0], [float("nan")], [float("inf")]])
def test_times_that_make_no_sense(plain: Path, times: list[float]) -> None:
    with pytest.raises(InputError, match="wanted at"):
        list(PyAVDecoder().frames(plain, times, 448))


def test_frames_far_apart_are_sought_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = make_clip(tmp_path / "long.mp4", times=[2.0 * i for i in range(600)], gop=5, size=(64, 48))
    read = 0
    packets = Source.packets

    def counted(self: Source):  # type: ignore[no-untyped-def]
        nonlocal read
        for packet in packets(self):
            read += 1
            yield packet

    video = Video(path)
    monkeypatch.setattr(Source, "packets", counted)
    assert [number_in(f.rgb) for f in video.frames_at([1.0, 501.0, 1101.0])] == [0, 250, 550]
    assert read < 100
