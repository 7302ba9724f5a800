from __future__ import annotations

import math
import shutil
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

import av
import pytest
from av.video.frame import PictureType

from tests.support.clips import make_clip, number_in
from videohv.video import Video
from videohv.video.damage import Damage
from videohv.video.scan import scan
from videohv.video.source import Source


class FakeFrame(NamedTuple):
    pts: int | None
    kind: PictureType = PictureType.P
    is_corrupt: bool = False

    @property
    def key_frame(self) -> bool:
        return self.kind == PictureType.I

    @property
    def pict_type(self) -> PictureType:
        return self.kind


class FakePacket(NamedTuple):
    pts: int | None
    is_keyframe: bool = False


def spoilt(damage: Damage, *frames: Any) -> list[int | None]:
    return [frame.pts for frame in frames if damage.spoils(frame)]


def row(start: int, end: int) -> list[FakeFrame]:
    return [FakeFrame(pts) for pts in range(start, end)]


def test_a_lost_packet_spoils_two_seconds() -> None:
    damage = Damage(Fraction(1, 10))
    failed: Any = FakePacket(13)
    damage.failed(failed)
    assert spoilt(damage, *row(10, 50)) == list(range(13, 34))


def test_a_whole_key_frame_ends_it() -> None:
    damage = Damage(Fraction(1, 10))
    failed: Any = FakePacket(13)
    damage.failed(failed)
    assert spoilt(damage, *row(12, 18), FakeFrame(18, PictureType.I), *row(19, 25)) == [13, 14, 15, 16, 17]


def test_behind_a_lost_key_frame_nothing_is_whole_before_the_next() -> None:
    damage = Damage(Fraction(1, 10))
    failed: Any = FakePacket(10, is_keyframe=True)
    damage.failed(failed)
    assert spoilt(damage, *row(8, 90), FakeFrame(90, PictureType.I), FakeFrame(91)) == list(range(10, 90))
    damage.failed(failed)
    damage.forget()
    assert spoilt(damage, *row(10, 20)) == []


def test_a_patched_picture_spoils_what_follows_and_a_b_picture_only_its_like() -> None:
    damage = Damage(Fraction(1, 10))
    assert spoilt(damage, FakeFrame(0), FakeFrame(1, is_corrupt=True), *row(2, 20)) == list(range(1, 12))
    b = PictureType.B
    frames = (FakeFrame(30), FakeFrame(31, b, is_corrupt=True), FakeFrame(32, b), FakeFrame(33), FakeFrame(34, b))
    assert spoilt(damage, *frames) == [31, 32]
    assert spoilt(damage, FakeFrame(None, is_corrupt=True), FakeFrame(None)) == [None]


def packets_of(path: Path) -> list[tuple[int, int, bool]]:
    """Place, size and kind of each packet of a file."""
    with av.open(str(path)) as container:
        return [(p.pos or 0, p.size, p.is_keyframe) for p in container.demux(video=0) if p.size]


@pytest.mark.parametrize("where", [0.2, 0.5, 0.8])
@pytest.mark.parametrize("wipe", [False, True])
def test_no_frame_shows_another_moment_than_it_says(tmp_path: Path, where: float, wipe: bool) -> None:
    path = make_clip(
        tmp_path / "hit.mp4",
        frames=300,
        gop=60,
        size=(192, 160),
        options={"preset": "medium"},
        container_options={"movflags": "faststart"},
    )
    data = bytearray(path.read_bytes())
    found = packets_of(path)
    first = int(len(found) * where)
    for place, size, _ in found[first : first + 12]:
        start = place + size // 3
        length = size - size // 3
        data[start : start + length] = bytes(length) if wipe else bytes((7 * i) % 251 for i in range(length))
    path.write_bytes(data)
    frames = list(Video(path).sample(30))
    assert len(frames) == 300
    assert [(round(f.time * 30), f.time) for f in frames if number_in(f.rgb) != round(f.time * 30)] == []
    assert all(f.time <= f.wanted + 1e-6 for f in frames)
    right = sum(round(f.time * 30) == round(f.wanted * 30) for f in frames)
    assert right >= 300 - 12 - 60 - 16


def test_frames_in_damage_are_found_one_at_a_time_too(tmp_path: Path) -> None:
    path = make_clip(
        tmp_path / "hole.mp4", frames=300, gop=30, size=(192, 160), container_options={"movflags": "faststart"}
    )
    data = bytearray(path.read_bytes())
    found = packets_of(path)
    for place, size, _ in found[110:205]:
        data[place : place + size] = bytes(size)
    path.write_bytes(data)
    video = Video(path)
    for number in (115, 160, 200, 209):
        (frame,) = video.frames_at([number / 30 + 0.01])
        assert number_in(frame.rgb) == round(frame.time * 30)
        assert 100 <= number_in(frame.rgb) < 115
    (frame,) = video.frames_at([220 / 30 + 0.01])
    assert number_in(frame.rgb) == 220


def test_where_every_frame_is_marked_the_marks_mean_nothing(
    tmp_path: Path, plain: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Damage, "spoils", lambda self, frame: True)
    path = Path(shutil.copy(plain, tmp_path / "marked.mp4"))
    assert not scan(path).whole
    assert [number_in(f.rgb) for f in Video(path).frames_at([1.0, 20.0])] == [10, 200]
    with Source(path) as source:
        assert not any(source.decode(packet) for packet in source.packets())
        assert source.withheld > 300


def test_a_frame_that_stays_for_hours_is_not_waited_for(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "long.mp4", frames=2, times=[0, 20_000])
    frames = Video(path).sample(1)
    assert [next(frames).wanted for _ in range(3)] == [0, 1, 2]
    later = list(Video(path).sample(1, end=10_000))
    assert [frame.wanted for frame in later] == list(range(10_000))
    assert {frame.time for frame in later} == {0}
    keys = Video(path).sample(1, "key")
    assert [next(keys).wanted for _ in range(3)] == [0, 1, 2]
    assert sum(1 for _ in keys) + 3 == math.ceil(Video(path).info.duration)
