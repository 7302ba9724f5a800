from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest

from tests.captioners.child import Numbers
from tests.support.clips import make_clip
from videohv.captioners import caption_video
from videohv.data import CaptionStore, Key
from videohv.errors import InputError, VideoHVError
from videohv.types import Caption
from videohv.video import Frame, Video

ROOT = Path(__file__).parents[2]
FRAMES = 60  # six seconds of ten frames, each with its number in its pixels


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clip") / "clip.mp4", frames=FRAMES, fps=10, gop=10)


@pytest.fixture
def log(tmp_path: Path) -> Path:
    return tmp_path / "log"


def logged(log: Path) -> list[float]:
    return [float(line.split()[1]) for line in log.read_text().splitlines()] if log.exists() else []


def start(clip: Path, store: Path, log: Path, seconds: float) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.captioners.child", str(clip), str(store), str(log), str(seconds)]
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    return subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    )


EVERY = tuple(Caption(time=i / 10, text=f"number {i}") for i in range(FRAMES))
MOMENTS = [i / 10 for i in range(FRAMES)]


@pytest.mark.parametrize("stored", [False, True])
def test_one_caption_per_moment_under_its_own_time(clip: Path, log: Path, tmp_path: Path, stored: bool) -> None:
    store = CaptionStore(tmp_path / "c.sqlite3") if stored else None
    assert caption_video(Video(clip), Numbers(log), fps=10, store=store) == EVERY
    assert caption_video(Video(clip), Numbers(log), fps=2, store=store) == EVERY[::5]
    assert logged(log) == MOMENTS + MOMENTS[::5]


def test_more_moments_than_frames_repeat_the_picture(clip: Path, log: Path) -> None:
    captions = caption_video(Video(clip), Numbers(log), fps=20)
    assert [caption.time for caption in captions] == [i / 20 for i in range(2 * FRAMES)]
    assert [caption.text for caption in captions] == [f"number {i // 2}" for i in range(2 * FRAMES)]


def test_nothing_is_captioned_twice(clip: Path, log: Path, tmp_path: Path) -> None:
    store = CaptionStore(tmp_path / "c.sqlite3")
    moved = tmp_path / "moved.mp4"
    moved.write_bytes(clip.read_bytes())
    first = caption_video(Video(clip), Numbers(log), fps=3, store=store)
    assert caption_video(Video(moved), Numbers(log), fps=3, store=store) == first
    assert len(logged(log)) == len(first) == 18


def test_only_what_is_missing_is_made(clip: Path, log: Path, tmp_path: Path) -> None:
    store = CaptionStore(tmp_path / "c.sqlite3")
    video = Video(clip)
    key = Key(video.info.content_hash, Numbers.identity, 10.0)
    there = [*range(7), 20, 21, 59]
    store.write(key, [EVERY[i] for i in there])
    assert caption_video(video, Numbers(log), fps=10, store=store) == EVERY
    assert logged(log) == [t for i, t in enumerate(MOMENTS) if i not in there]
    assert store.complete(key)


def test_a_captioner_that_breaks_loses_nothing(clip: Path, log: Path, tmp_path: Path) -> None:
    store = CaptionStore(tmp_path / "c.sqlite3")

    class Breaks(Numbers):
        def caption(self, frames: Iterable[Frame]) -> Iterator[Caption]:
            for caption in super().caption(frames):
                yield caption
                if caption.text == "number 30":
                    raise RuntimeError("out of memory")

    with pytest.raises(RuntimeError, match="out of memory"):
        caption_video(Video(clip), Breaks(log), fps=10, store=store)
    assert caption_video(Video(clip), Numbers(log), fps=10, store=store) == EVERY
    assert logged(log) == MOMENTS


def test_after_a_kill_only_the_rest_is_made(clip: Path, log: Path, tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite3"
    store = CaptionStore(path)
    key = Key(Video(clip).info.content_hash, Numbers.identity, 10.0)
    with start(clip, path, log, 0.05) as child:
        _until(lambda: len(store.times(key)) >= 20)
        child.kill()
    there = store.times(key)
    assert 20 <= len(there) < FRAMES
    assert not store.complete(key)
    before = len(logged(log))
    assert before - len(there) <= 17  # a batch, and the one in hand
    assert caption_video(Video(clip), Numbers(log), fps=10, store=store) == EVERY
    assert logged(log)[before:] == [t for t in MOMENTS if t not in there]


def test_two_processes_at_once_caption_each_frame_once(clip: Path, log: Path, tmp_path: Path) -> None:
    with start(clip, tmp_path / "c.sqlite3", log, 0.02) as one, start(clip, tmp_path / "c.sqlite3", log, 0.02) as two:
        assert [child.communicate(timeout=60)[0].strip() for child in (one, two)] == [str(FRAMES)] * 2
    assert sorted(logged(log)) == MOMENTS


def test_threads_at_once_caption_each_frame_once(clip: Path, log: Path, tmp_path: Path) -> None:
    store = CaptionStore(tmp_path / "c.sqlite3")
    got: list[tuple[Caption, ...]] = []
    work = [
        threading.Thread(target=lambda: got.append(caption_video(Video(clip), Numbers(log), fps=10, store=store)))
        for _ in range(4)
    ]
    for thread in work:
        thread.start()
    for thread in work:
        thread.join()
    assert got == [EVERY] * 4
    assert sorted(logged(log)) == MOMENTS


def test_progress_counts_from_what_is_there_to_all(clip: Path, log: Path, tmp_path: Path) -> None:
    store = CaptionStore(tmp_path / "c.sqlite3")
    video = Video(clip)
    store.write(Key(video.info.content_hash, Numbers.identity, 1.0), [Caption(time=0, text="number 0")])
    told: list[tuple[int, int]] = []
    caption_video(video, Numbers(log), store=store, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(1, 6), (2, 6), (3, 6), (4, 6), (5, 6), (6, 6), (6, 6)]
    told.clear()
    caption_video(video, Numbers(log), store=store, on_progress=lambda done, total: told.append((done, total)))
    assert told == [(6, 6)]


def test_captioners_are_held_to_one_caption_a_frame(clip: Path, tmp_path: Path) -> None:
    class Wrong:
        identity = "wrong"

        def __init__(self, change: int) -> None:
            self.change = change

        def caption(self, frames: Iterable[Frame]) -> Iterator[Caption]:
            number = len(list(frames))
            return (Caption(time=0, text="x") for _ in range(number + self.change))

    with pytest.raises(VideoHVError, match=r"'wrong' gave no caption for the frame at 5.0 s"):
        caption_video(Video(clip), Wrong(-1))
    with pytest.raises(VideoHVError, match=r"'wrong' gave more captions than frames"):
        caption_video(Video(clip), Wrong(1), store=CaptionStore(tmp_path / "c.sqlite3"))
    assert len(caption_video(Video(clip), Wrong(0))) == 6


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan"), float("inf")])
@pytest.mark.parametrize("stored", [False, True])
def test_rates_that_make_no_sense(clip: Path, log: Path, tmp_path: Path, fps: float, stored: bool) -> None:
    with pytest.raises(InputError, match="fps"):
        caption_video(
            Video(clip), Numbers(log), fps=fps, store=CaptionStore(tmp_path / "c.sqlite3") if stored else None
        )


def _until(done: Callable[[], bool], seconds: float = 60.0) -> None:
    end = time.monotonic() + seconds
    while not done():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)
