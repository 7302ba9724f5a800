from __future__ import annotations

import gc
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import count, islice
from pathlib import Path

import numpy as np
import pytest

from tests.support.clips import make_clip, number_in
from videohv.errors import DecodeError, InputError
from videohv.video import Frame, PyAVDecoder, Video
from videohv.video.parallel import in_parallel, ranges

Clip = Callable[[str], Path]


def running() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name == "videohv-frames"]


@pytest.mark.parametrize("name", ["h264.mp4", "open_groups.ts", "hevc.mkv", "vp9.webm", "one_group.mkv", "mpeg4.avi"])
@pytest.mark.parametrize("mode", ["exact", "near", "key"])
def test_threads_give_the_same_frames(clip: Clip, name: str, mode: str) -> None:
    video = Video(clip(name))
    alone = list(video.sample(3, mode=mode))  # type: ignore[arg-type]
    frames = list(video.sample(3, mode=mode, workers=3))  # type: ignore[arg-type]
    assert [(f.wanted, f.time, number_in(f.rgb)) for f in frames] == [
        (f.wanted, f.time, number_in(f.rgb)) for f in alone
    ]
    assert not running()


def test_the_work_is_shared(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    busy: dict[str, int] = {}
    read = PyAVDecoder.frames

    def watched(self: PyAVDecoder, path: Path, times: Iterable[float], *rest: object) -> Iterator[Frame]:
        for frame in read(self, path, times, *rest):  # type: ignore[arg-type]
            me = str(threading.get_ident())
            busy[me] = busy.get(me, 0) + 1
            yield frame

    monkeypatch.setattr(PyAVDecoder, "frames", watched)
    assert len(list(Video(plain).sample(4, workers=2))) == 160
    assert len(busy) == 2
    assert min(busy.values()) >= 40


def test_leaving_early_ends_the_threads(plain: Path) -> None:
    frames = Video(plain).sample(4, workers=3)
    assert [number_in(f.rgb) for f in islice(frames, 3)] == [0, 2, 5]
    assert len(running()) == 3
    frames.close()  # type: ignore[attr-defined]
    assert not running()
    for frame in Video(plain).sample(4, workers=2):
        assert frame.wanted == 0
        break
    gc.collect()
    assert not running()


def test_nothing_starts_before_a_frame_is_taken(plain: Path) -> None:
    frames = Video(plain).sample(4, workers=2)
    assert not running()
    del frames


def shot(time: float) -> Frame:
    return Frame(time, time, np.zeros((1, 1, 3), np.uint8))


def test_only_a_few_frames_wait() -> None:
    made = 0

    def read(times: Iterable[float]) -> Iterator[Frame]:
        nonlocal made
        for time in times:
            made += 1
            yield shot(time)

    frames = in_parallel(read, lambda: (float(i) for i in range(100_000)), [50_000.0], 2)
    assert [f.wanted for f in islice(frames, 100)] == list(range(100))
    assert made < 100 + 2 * 15
    frames.close()  # type: ignore[attr-defined]
    assert not running()


def test_an_error_comes_after_the_frames_before_it() -> None:
    def read(times: Iterable[float]) -> Iterator[Frame]:
        for time in times:
            if time == 25:
                raise DecodeError("broken there")
            yield shot(time)

    frames = in_parallel(read, lambda: (float(i) for i in range(60)), [10.0, 20.0, 30.0], 2)
    assert [f.wanted for f in islice(frames, 25)] == list(range(25))
    with pytest.raises(DecodeError, match="broken there"):
        next(frames)
    assert not running()


def test_ranges_have_work_for_a_while() -> None:
    assert ranges([8.0, 16.0, 24.0], map(float, range(100))) == [8.0, 16.0, 24.0]
    assert ranges([8.0, 16.0, 24.0, 32.0, 40.0], (i * 2.0 for i in range(100))) == [16.0, 32.0]
    assert ranges([8.0, 16.0, 24.0], map(float, range(10))) == [8.0]
    assert ranges(iter([8.0]), (float(i) for i in count())) == [8.0]
    assert ranges([], [1.0]) == []


def test_a_short_video_needs_no_threads(tmp_path: Path) -> None:
    video = Video(make_clip(tmp_path / "short.mp4", frames=60))
    frames = video.sample(1, workers=8)
    assert [number_in(f.rgb) for f in islice(frames, 1)] == [0]
    assert not running()


def test_workers_are_checked(plain: Path) -> None:
    with pytest.raises(InputError, match="workers is 0"):
        Video(plain).sample(1, workers=0)
