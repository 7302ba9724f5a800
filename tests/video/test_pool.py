from __future__ import annotations

import multiprocessing
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.support.clips import make_clip, number_in
from videohv.video import PyAVDecoder, Video, pool
from videohv.video.identity import check_file
from videohv.video.pool import SourcePool
from videohv.video.source import Source

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="sources are not kept on Windows")


@pytest.fixture
def kept() -> Iterator[SourcePool]:
    made = SourcePool()
    yield made
    made.close()


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Path]]:
    """The files that were opened, with nothing kept from before."""
    pool.SOURCES.close()
    seen: list[Path] = []
    init = Source.__init__

    def watched(self: Source, path: Path, stream: int | None = None, wary: bool = True, whole: bool = False) -> None:
        seen.append(path)
        init(self, path, stream, wary, whole)

    monkeypatch.setattr(Source, "__init__", watched)
    yield seen
    pool.SOURCES.close()


def five(start: float) -> list[float]:
    return [start + i / 10 for i in range(5)]


def closed(source: Source) -> bool:
    try:
        source.seek(0)
    except (AssertionError, ValueError):
        return True
    return False


def test_one_source_serves_the_scan_and_window_after_window(plain: Path, tmp_path: Path, opened: list[Path]) -> None:
    path = Path(shutil.copy(plain, tmp_path / "a.mp4"))
    video = Video(path)
    for start in (30.02, 3.02, 17.02, 0.02):
        assert [number_in(f.rgb) for f in video.frames_at(five(start))] == [int(start * 10) + i for i in range(5)]
    assert len(opened) == 1
    assert len(pool.SOURCES.idle) == 1


def test_nobody_waits_for_another(plain: Path, opened: list[Path]) -> None:
    readers = [iter(PyAVDecoder().frames(plain, [1.05, 2.05, 3.05], 448)) for _ in range(12)]
    for i in range(3):
        assert [number_in(next(reader).rgb) for reader in readers] == [10 * (i + 1)] * 12
    for reader in readers:
        next(reader, None)
    assert len(pool.SOURCES.idle) == pool.MOST


def test_threads_get_the_right_frames(plain: Path) -> None:
    video = Video(plain)

    def look(i: int) -> list[int]:
        start = (7 * i) % 38 + 0.05
        return [number_in(frame.rgb) - int(start * 10) for frame in video.frames_at(five(start))]

    with ThreadPoolExecutor(8) as threads:
        assert list(threads.map(look, range(80))) == [list(range(5))] * 80


def test_a_file_that_has_changed_is_opened_anew(tmp_path: Path, opened: list[Path]) -> None:
    path = make_clip(tmp_path / "a.mp4", frames=30, fps=10)
    before = Video(path)
    assert number_in(before.frames_at([1.05])[0].rgb) == 10
    old = pool.SOURCES.idle
    make_clip(tmp_path / "b.mp4", frames=30, fps=5)
    (tmp_path / "b.mp4").replace(path)
    assert number_in(Video(path).frames_at([1.05])[0].rgb) == 5
    assert len(opened) == 2
    assert closed(old[0])
    assert len(pool.SOURCES.idle) == 1


def test_a_reader_that_is_left_early_or_fails_keeps_nothing(plain: Path, kept: SourcePool) -> None:
    def read() -> Iterator[Source]:
        with kept.taken(plain, 0, True) as source:
            yield source

    reader = read()
    first = next(reader)
    reader.close()
    with pytest.raises(OSError, match="broken"), kept.taken(plain, 0, True) as second:
        raise OSError("broken")
    assert second is not first
    assert (closed(first), closed(second), kept.idle) == (True, True, ())


def test_python_ends_although_frames_are_still_wanted(plain: Path) -> None:
    code = (
        "import sys\n"
        "from videohv.video import Video\n"
        "video = Video(sys.argv[1])\n"
        "frames = [video.sample(4), video.sample(4, mode='key'), video.sample(4, workers=2)]\n"
        "for one in frames:\n"
        "    next(one)\n"
        "video.frames_at([1.0, 30.0])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code, str(plain)], timeout=60, capture_output=True, text=True)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_what_is_damaged_wary_otherwise_or_not_to_be_kept_is_not(plain: Path, kept: SourcePool) -> None:
    with kept.taken(plain, 0, True) as damaged:
        damaged.failures = 1
    assert kept.idle == ()
    with kept.taken(plain, 0, True, keep=False) as single:
        pass
    assert (closed(damaged), closed(single), kept.idle) == (True, True, ())
    with kept.taken(plain, 0, True) as wary, kept.taken(plain, 0, False) as bold:
        assert wary is not bold
    with kept.taken(plain, 0, False) as again:
        assert again is bold


def test_no_more_memory_than_allowed(plain: Path, kept: SourcePool, monkeypatch: pytest.MonkeyPatch) -> None:
    one = Source(plain)
    assert 1 << 20 < one.size < 4 << 20
    monkeypatch.setattr(pool, "MOST_BYTES", 2 * one.size)
    others = [one, Source(plain), Source(plain)]
    for source in others:
        kept.give(source, check_file(plain))
    assert kept.idle == tuple(others[1:])
    assert closed(one)
    monkeypatch.setattr(pool, "MOST_BYTES", one.size - 1)
    with kept.taken(plain, 0, True) as large:
        pass
    assert closed(large)


def test_what_nobody_uses_is_closed(plain: Path, kept: SourcePool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "IDLE_SECONDS", 0.05)
    with kept.taken(plain, 0, True):
        pass
    (source,) = kept.idle
    for _ in range(200):
        if not kept.idle:
            break
        time.sleep(0.01)
    assert closed(source)
    assert not any(thread.name == "videohv-video-sweep" and thread.is_alive() for thread in threading.enumerate())


def test_closing_leaves_no_thread(plain: Path, kept: SourcePool) -> None:
    with kept.taken(plain, 0, True):
        pass
    kept.close()
    assert not any(thread.name == "videohv-video-sweep" for thread in threading.enumerate())


def _in_child(path: Path, answers: multiprocessing.SimpleQueue[object]) -> None:
    answers.put(len(pool.SOURCES.idle))
    answers.put([number_in(frame.rgb) for frame in Video(path).frames_at([12.05, 30.05])])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_a_fork_reads_with_sources_of_its_own(plain: Path) -> None:
    video = Video(plain)
    assert number_in(video.frames_at([5.05])[0].rgb) == 50
    assert pool.SOURCES.idle
    there = multiprocessing.get_context("fork")
    answers: multiprocessing.SimpleQueue[object] = there.SimpleQueue()
    child = there.Process(target=_in_child, args=(plain, answers))
    child.start()
    here = [number_in(frame.rgb) for frame in video.frames_at([6.05, 35.05])]
    assert (answers.get(), answers.get(), here) == (0, [120, 300], [60, 350])
    child.join(30)
    assert child.exitcode == 0
