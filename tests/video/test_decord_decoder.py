from __future__ import annotations

import importlib.util
import multiprocessing
import os
import signal
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

import pytest

from tests.support.clips import make_clip, number_in
from videohv.errors import DecodeError, MissingExtra, NotVideo
from videohv.types import Window
from videohv.video import DecordDecoder, Video

needs_decord = pytest.mark.skipif(importlib.util.find_spec("decord") is None, reason="decord is not installed")


@pytest.fixture(autouse=True)
def no_child_is_left() -> Iterator[None]:
    yield
    assert children() == []


def children() -> list[int]:
    return [p.pid for p in multiprocessing.active_children() if p.name == "videohv-decord" and p.pid]


@needs_decord
def test_the_same_frames_as_pyav(plain: Path) -> None:
    video = Video(plain, decoder="decord")
    assert video.info.decoder == "decord"
    assert video.info.warnings == ()
    frames = video.window(Window(start=10, end=20))
    assert [number_in(f.rgb) for f in frames] == [110, 130, 150, 170, 190]
    assert [f.time for f in frames] == pytest.approx([11, 13, 15, 17, 19])
    assert not frames[0].rgb.flags.writeable
    assert "decord" not in sys.modules


@needs_decord
def test_sampling_in_batches(plain: Path) -> None:
    frames = list(Video(plain, decoder="decord", short_side=32).sample(1))
    assert [number_in(f.rgb) for f in frames] == [10 * i for i in range(40)]
    assert {(f.width, f.height) for f in frames} == {(48, 32)}


@needs_decord
def test_frames_of_a_variable_rate_and_turned(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "turned.mp4", times=[0, 0.5, 0.7, 3, 3.01, 9], rotation=-90, size=(64, 96))
    video = Video(path, decoder="decord")
    assert video.info.decoder == "decord"
    frames = video.frames_at([0.49, 0.51, 2.9, 3.005, 8.9, 9.05])
    assert [number_in(f.rgb) for f in frames] == [0, 1, 2, 3, 4, 5]
    assert {(f.width, f.height) for f in frames} == {(64, 96)}


@needs_decord
@pytest.mark.parametrize("name", ["open_groups.ts", "open_groups.mp4", "mpeg4.avi"])
def test_pyav_takes_the_files_that_decord_gets_wrong(clip: Callable[[str], Path], name: str) -> None:
    video = Video(clip(name), decoder="decord")
    assert video.info.decoder == "pyav"
    assert len(video.info.warnings) == 1
    assert "because decord finds wrong frames" in video.info.warnings[0]
    assert [number_in(f.rgb) for f in video.frames_at([33.35])] == [333]


@needs_decord
def test_pyav_takes_the_files_that_decord_refuses(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "live.webm", codec="libvpx-vp9", container_options={"live": "1"})
    video = Video(path, decoder="decord")
    assert video.info.decoder == "pyav"
    assert "because decord cannot read it" in video.info.warnings[0]
    assert [number_in(f.rgb) for f in video.sample()] == [0, 30, 60]
    with pytest.raises(DecodeError, match=r"live\.webm: decord cannot read it .*use the decoder 'pyav'"):
        list(DecordDecoder().frames(path, [0.0], 448))


@needs_decord
def test_what_is_no_video_is_refused_before_decord_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "list.mp4"
    path.write_text("#EXTM3U\n#EXTINF:10,\nother.ts\n")
    with pytest.raises(NotVideo):
        Video(path, decoder="decord")


@needs_decord
@pytest.mark.parametrize("deadlines", [(0.0, 30.0), (60.0, 0.0)])
def test_a_missed_deadline_ends_the_child(plain: Path, deadlines: tuple[float, float]) -> None:
    decoder = DecordDecoder(*deadlines)
    with pytest.raises(DecodeError, match=r"decord gave nothing for 0 s and was ended; use the decoder 'pyav'"):
        list(decoder.frames(plain, [1.0], 448))
    assert children() == []
    assert decoder.probe(plain).decoder == "pyav"


@needs_decord
def test_a_child_that_dies_is_an_error(plain: Path) -> None:
    frames = DecordDecoder().frames(plain, (i / 10 for i in count()), 448)
    next(frames)
    (pid,) = children()
    os.kill(pid, signal.SIGKILL)
    with pytest.raises(DecodeError, match="ended by itself"):
        list(frames)


@needs_decord
@pytest.mark.parametrize("how", ["closed", "dropped"])
def test_no_child_outlives_its_frames(plain: Path, how: str) -> None:
    frames = DecordDecoder().frames(plain, (i / 10 for i in count()), 448)
    assert children() == []
    assert number_in(next(frames).rgb) == 0
    assert len(children()) == 1
    if how == "closed":
        frames.close()  # type: ignore[attr-defined]
    else:
        del frames
    assert children() == []


def test_without_decord(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(MissingExtra, match=r"videohv\[decord\]"):
        Video(plain, decoder="decord")
    with pytest.raises(MissingExtra):
        list(DecordDecoder().frames(plain, [0.0], 448))
