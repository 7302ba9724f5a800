from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import signal
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest

from tests.support.clips import make_clip, number_in
from videohv.errors import InputError, MissingExtra, NotVideo
from videohv.types import Window
from videohv.video import DecordDecoder, Video
from videohv.video.decord_decoder import _has_look_alike
from videohv.video.decord_pool import POOL
from videohv.video.decord_process import Deadlines
from videohv.video.decord_trust import TRUST

needs_decord = pytest.mark.skipif(importlib.util.find_spec("decord") is None, reason="decord is not installed")
PATIENT = Deadlines(open=60, frame=60)


@pytest.fixture(autouse=True)
def no_process_is_held() -> Iterator[None]:
    yield
    assert POOL.busy == 0


@pytest.fixture
def alone() -> Iterator[None]:
    """The pool is empty before and after."""
    POOL.close()
    yield
    POOL.close()


@pytest.fixture
def own(tmp_path: Path, plain: Path) -> Path:
    """A copy of the plain clip with which decord may fail: failures are remembered by file."""
    path = tmp_path / "own.mp4"
    path.write_bytes(plain.read_bytes())
    return path


def trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets decord have files that it would not be given, unless it has failed at them."""
    monkeypatch.setattr(TRUST, "_judged", lambda path: "")


@needs_decord
def test_the_same_frames_as_pyav(plain: Path) -> None:
    video = Video(plain, decoder="decord")
    assert video.info.decoder == "decord"
    assert video.warnings == video.info.warnings == ()
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
    frames = video.frames_at([0.4999, 0.51, 2.9999, 3.005, 8.9999, 9.05])
    assert [number_in(f.rgb) for f in frames] == [0, 1, 2, 3, 4, 5]
    assert {(f.width, f.height) for f in frames} == {(64, 96)}


@needs_decord
@pytest.mark.parametrize("name", ["open_groups.ts", "open_groups.mp4", "refresh.mp4", "mpeg4.avi"])
def test_pyav_takes_the_files_that_decord_gets_wrong(clip: Callable[[str], Path], name: str) -> None:
    video = Video(clip(name), decoder="decord")
    assert video.info.decoder == "pyav"
    assert len(video.info.warnings) == 1
    assert "because decord finds wrong frames" in video.info.warnings[0]
    assert [number_in(f.rgb) for f in video.frames_at([33.35])] == [333]


@needs_decord
def test_pyav_takes_the_files_whose_pictures_decord_shows_otherwise(tmp_path: Path) -> None:
    # Decord turns pictures, but does not mirror them.
    video = Video(make_clip(tmp_path / "mirrored.mp4", frames=30, hflip=True), decoder="decord")
    assert video.info.decoder == "pyav"
    assert "because decord shows another picture than PyAV at" in video.info.warnings[0]
    assert [number_in(f.rgb) for f in video.frames_at([0.51])] == [15]


@needs_decord
def test_pyav_takes_the_files_that_decord_refuses(tmp_path: Path) -> None:
    path = make_clip(tmp_path / "live.webm", codec="libvpx-vp9", container_options={"live": "1"})
    video = Video(path, decoder="decord")
    assert video.info.decoder == "pyav"
    assert "because decord cannot read it (Failed to measure" in video.info.warnings[0]
    assert [number_in(f.rgb) for f in video.sample()] == [0, 30, 60]
    # Also where nobody probed the file before.
    assert [number_in(f.rgb) for f in DecordDecoder().frames(path, [0.0, 1.0], 448)] == [0, 30]


@needs_decord
def test_what_is_no_video_is_refused_before_decord_sees_it(tmp_path: Path) -> None:
    path = tmp_path / "list.mp4"
    path.write_text("#EXTM3U\n#EXTINF:10,\nother.ts\n")
    with pytest.raises(NotVideo):
        Video(path, decoder="decord")


@needs_decord
@pytest.mark.parametrize("limits", [Deadlines(open=0, frame=60), Deadlines(open=60, frame=0)])
def test_a_missed_deadline_hands_the_file_over_for_good(own: Path, limits: Deadlines) -> None:
    video = Video(own, decoder="decord")
    assert video.info.decoder == "decord"
    frames = list(DecordDecoder(limits).frames(own, [1.0, 2.0, 30.05], 448))
    assert [(f.wanted, number_in(f.rgb)) for f in frames] == [(1.0, 10), (2.0, 20), (30.05, 300)]
    reason = "decoder: PyAV reads this file, because decord gave nothing for 0 s and was ended"
    assert (video.info.warnings, video.warnings) == ((), (reason,))
    asked: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(POOL, "ask", asked.append)
        assert [number_in(f.rgb) for f in video.frames_at([5.0])] == [50]
        again = Video(own, decoder="decord")
    assert asked == []
    assert (again.info.decoder, again.warnings) == ("pyav", (reason,))


@needs_decord
@pytest.mark.parametrize("taken", [1, 15, 16, 17, 40])
def test_after_a_child_was_killed_no_frame_is_lost_or_doubled(own: Path, taken: int) -> None:
    POOL.close()
    video = Video(own, decoder="decord")
    frames = DecordDecoder(PATIENT).frames(own, (i / 10 for i in count()), 448)
    seen = [next(frames) for _ in range(taken)]
    for process in POOL.idle:
        os.kill(process.pid, signal.SIGKILL)
    seen += list(frames)
    assert [f.wanted for f in seen] == [i / 10 for i in range(400)]
    assert [number_in(f.rgb) for f in seen] == list(range(400))
    (reason,) = video.warnings
    assert "ended by itself (exit code -9)" in reason


@needs_decord
def test_damage_on_the_way_hands_over_in_the_middle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    trusted(monkeypatch)
    path = make_clip(tmp_path / "cut.mp4", frames=400, fps=10, gop=10, container_options={"movflags": "faststart"})
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) * 7 // 10])
    video = Video(path, decoder="decord")
    assert video.info.decoder == "decord"
    frames = list(video.sample(10))
    assert [f.wanted for f in frames] == [i / 10 for i in range(len(frames))]
    good = int(video.info.duration * 10) - 10
    assert good > 200
    assert [number_in(f.rgb) for f in frames[:good]] == list(range(good))
    assert any("because decord" in warning for warning in video.warnings)


@needs_decord
@pytest.mark.skipif(sys.platform == "win32", reason="processes cannot be stopped there")
def test_a_hang_in_the_middle_is_ended(own: Path, alone: None) -> None:
    video = Video(own, decoder="decord")
    frames = DecordDecoder(Deadlines(open=0.5, frame=0.5)).frames(own, (i / 2 for i in count()), 448)
    seen = [next(frames)]
    (process,) = POOL.idle
    os.kill(process.pid, signal.SIGSTOP)
    seen += list(frames)
    assert [f.wanted for f in seen] == [i / 2 for i in range(80)]
    assert [number_in(f.rgb) for f in seen] == [5 * i for i in range(80)]
    assert "because decord gave nothing for 0.5 s and was ended" in video.warnings[0]
    assert POOL.idle == ()


@needs_decord
def test_times_that_make_no_sense(plain: Path) -> None:
    with pytest.raises(InputError, match="sort the times"):
        list(DecordDecoder().frames(plain, [2.0, 1.0], 448))
    assert list(DecordDecoder().frames(plain, [], 448)) == []
    assert list(DecordDecoder().frames(plain, [40.0], 448)) == []


@needs_decord
def test_many_threads_share_one_video(plain: Path) -> None:
    video = Video(plain, decoder="decord")

    def look(i: int) -> list[int]:
        return [number_in(f.rgb) for f in video.frames_at([i + 0.05, i + 9.05])]

    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(look, range(30)))
    assert found == [[10 * i, 10 * i + 90] for i in range(30)]
    assert video.warnings == ()


def test_without_decord(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(MissingExtra, match=r"videohv\[decord\]"):
        Video(plain, decoder="decord")
    with pytest.raises(MissingExtra):
        DecordDecoder()
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    with pytest.raises(InputError, match=r"decord is not published for linux aarch64; choose the decoder 'pyav'"):
        Video(plain, decoder="decord")


@needs_decord
def test_a_package_under_decords_name(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: name)
    _has_look_alike.cache_clear()
    try:
        with pytest.raises(InputError, match="decord2, which gives wrong frames"):
            Video(plain, decoder="decord")
    finally:
        _has_look_alike.cache_clear()
