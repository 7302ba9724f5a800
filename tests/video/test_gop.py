from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import av
import pytest
from av import Packet
from av.video.stream import VideoStream

from videohv.video import gop
from videohv.video.gop import segments


def packets(path: Path) -> Iterator[Packet[VideoStream]]:
    with av.open(str(path)) as container:
        yield from (p for p in container.demux(container.streams.video[0]) if p.size)


@pytest.mark.parametrize("name", ["h264.mp4", "open_groups.mp4", "no_b_frames.mp4"])
def test_segments_begin_at_key_frames_and_lose_nothing(clip: Callable[[str], Path], name: str) -> None:
    path = clip(name)
    found = list(segments(packets(path), origin=0))
    assert len(found) in (9, 10)
    assert all(s.packets[0].is_keyframe and not s.continues for s in found)
    assert [p.pts for s in found for p in s.packets] == [p.pts for p in packets(path)]
    assert sorted(pts for s in found for pts in s.shown) == [pts for s in found for pts in s.shown]


def test_open_groups_have_leading_frames(clip: Callable[[str], Path]) -> None:
    leading = [sum(s.leads(p) for p in s.packets) for s in segments(packets(clip("open_groups.mp4")), origin=0)]
    assert leading[0] == 0
    assert all(leading[1:])
    assert not any(s.leads(p) for s in segments(packets(clip("h264.mp4")), origin=0) for p in s.packets)


def test_long_groups_come_in_parts(clip: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gop, "MAX_PACKETS", 20)
    parts = list(segments(packets(clip("one_group.mkv")), origin=0))
    assert len(parts) > 10
    assert [p.continues for p in parts] == [False] + [True] * (len(parts) - 1)
    assert all(len(p.packets) <= 40 for p in parts)
    # No frame of a later part is shown before one of an earlier part, so each wanted time falls to one part.
    assert all(a.last < b.first for a, b in pairwise(parts))


def test_heavy_groups_come_in_parts(clip: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gop, "MAX_BYTES", 1000)
    sizes = [sum(p.size for p in s.packets) for s in segments(packets(clip("one_group.mkv")), origin=0)]
    biggest = max(p.size for p in packets(clip("one_group.mkv")))
    assert max(sizes) < 2000 + biggest


def test_frames_before_the_origin_are_not_shown(plain: Path) -> None:
    first = next(segments(packets(plain), origin=10 * 1024))
    assert first.first == 10 * 1024
    assert first.key == 0
    assert not first.shows_key


def test_the_frame_on_screen(plain: Path) -> None:
    first = next(segments(packets(plain), origin=0))
    step = first.shown[1]
    assert first.on_screen(step) == step
    assert first.on_screen(2 * step - 1) == step
    assert first.on_screen(10**9) == first.last
