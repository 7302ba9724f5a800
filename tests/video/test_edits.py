from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

import av
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.clips import make_clip, number_in
from videohv.video import Video
from videohv.video.edits import shows_all


def patched(path: Path, length: float = 1.0, start: int = 0, rate: int = 1 << 16) -> Path:
    """Rewrites the one edit of a clip: its length in shares of what it was, ticks added to its start, and its rate."""
    data = bytearray(path.read_bytes())
    at = data.index(b"elst") + 12
    was, begin, _ = struct.unpack_from(">Iii", data, at)
    struct.pack_into(">Iii", data, at, round(was * length), begin + start, rate)
    path.write_bytes(data)
    return path


@pytest.mark.parametrize("movflags", ["faststart", "prefer_icc"])
@pytest.mark.parametrize("b_frames", [0, 2])
def test_ordinary_files_show_all(tmp_path: Path, movflags: str, b_frames: int) -> None:
    path = make_clip(
        tmp_path / "a.mp4", frames=60, b_frames=b_frames, audio=True, container_options={"movflags": movflags}
    )
    assert shows_all(path)
    frames = list(Video(path).sample(30, start=0.01))
    assert [number_in(f.rgb) for f in frames] == list(range(60))
    assert [f.time for f in frames] == pytest.approx([i / 30 for i in range(60)])


@pytest.mark.parametrize("change", [{"length": 0.5}, {"start": 4096}, {"rate": 1 << 15}, {"start": -2000}])
def test_edits_that_hide_or_move_something_are_carried_out(tmp_path: Path, change: dict[str, Any]) -> None:
    path = make_clip(tmp_path / "a.mp4", frames=90, container_options={"movflags": "faststart"})
    assert shows_all(path)
    patched(path, **change)
    assert not shows_all(path)
    if change == {"length": 0.5}:
        assert [number_in(f.rgb) for f in Video(path).sample(10)] == list(range(0, 45, 3))


def test_what_is_no_ordinary_mp4(tmp_path: Path, plain: Path) -> None:
    fragments = {"movflags": "frag_keyframe+empty_moov"}
    assert not shows_all(make_clip(tmp_path / "f.mp4", frames=30, container_options=fragments))
    assert not shows_all(make_clip(tmp_path / "m.mkv", frames=30))
    assert not shows_all(tmp_path / "missing.mp4")
    for content in (b"", b"\0\0\0\1", b"\0\0\0\1moov", b"\0\0\0\x10moov\0\0\0\x08mvhd", bytes(1000)):
        (tmp_path / "odd.mp4").write_bytes(content)
        assert not shows_all(tmp_path / "odd.mp4")


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], derandomize=True)
@given(st.binary(min_size=1, max_size=30), st.floats(0, 1, exclude_max=True), st.integers(0, 3000))
def test_damage_raises_nothing(
    tmp_path_factory: pytest.TempPathFactory, plain: Path, junk: bytes, place: float, cut: int
) -> None:
    data = bytearray(plain.read_bytes())
    start = data.index(b"moov")
    at = start + int(place * (len(data) - start))
    data[at : at + len(junk)] = junk
    path = tmp_path_factory.mktemp("edits") / "a.mp4"
    path.write_bytes(data[: len(data) - cut])
    assert shows_all(path) in (True, False)


def test_a_file_read_either_way_has_the_same_times(plain: Path) -> None:
    times = []
    for settings_ in ({}, {"advanced_editlist": "0"}):
        with av.open(str(plain), container_options=settings_) as container:
            times.append([(p.pts, p.dts, p.duration, p.size) for p in container.demux(video=0)])
    assert times[0] == times[1]
