from __future__ import annotations

import importlib.util
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.clips import number_in
from videohv.types import Window
from videohv.video import Video, decord_child, decord_pool
from videohv.video.decord_child import Request, Watch, resident
from videohv.video.decord_pool import POOL, Pool
from videohv.video.decord_process import Deadlines, DecordProcess
from videohv.video.identity import check_file

pytestmark = pytest.mark.skipif(importlib.util.find_spec("decord") is None, reason="decord is not installed")
PATIENT = Deadlines(open=60, frame=60)


@pytest.fixture
def pool() -> Iterator[Pool]:
    """A pool of its own."""
    made = Pool()
    yield made
    made.close()


def request(path: Path, *times: float) -> Request:
    return Request(check_file(path), times or (1.0,), 64)


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def wait_for(what: Callable[[], bool]) -> bool:
    for _ in range(3000):
        if what():
            return True
        time.sleep(0.01)
    return False


def test_windows_of_one_video_share_a_process(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    POOL.close()
    started: list[DecordProcess] = []
    begin = DecordProcess.__init__

    def counted(self: DecordProcess) -> None:
        started.append(self)
        begin(self)

    monkeypatch.setattr(DecordProcess, "__init__", counted)
    video = Video(plain, decoder="decord")
    for start in range(0, 30, 3):
        frames = video.window(Window(start=start, end=start + 10))
        assert [number_in(f.rgb) for f in frames] == [10 * start + offset for offset in (10, 30, 50, 70, 90)]
    assert len(started) == 1
    POOL.close()
    assert gone(started[0].pid)


def test_a_process_serves_one_file_after_another(pool: Pool, plain: Path, clip: Callable[[str], Path]) -> None:
    pool._most = 1
    for path in (plain, clip("vp9.webm"), plain):
        answer = pool.ask(request(path, 10.05, 20.05), PATIENT)
        assert answer.failure == ""
        assert [number_in(shot.rgb) for shot in answer.shots] == [100, 200]
        assert len({p.pid for p in pool.idle}) == 1


def test_there_are_never_more_processes_than_allowed(pool: Pool, plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool._most = 2
    seen: list[int] = []
    ask = DecordProcess.ask

    def counted(self: DecordProcess, *arguments: object) -> object:
        seen.append(pool.busy)
        return ask(self, *arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(DecordProcess, "ask", counted)
    threads = [threading.Thread(target=pool.ask, args=(request(plain), PATIENT)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seen) == 8
    assert max(seen) <= 2
    assert 1 <= len(pool.idle) <= 2
    assert pool.busy == 0


def test_an_idle_process_is_ended(pool: Pool, plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decord_pool, "IDLE_SECONDS", 0.2)
    pool.ask(request(plain), PATIENT)
    pids = [p.pid for p in pool.idle]
    assert wait_for(lambda: not pool.idle)
    assert all(wait_for(lambda pid=pid: gone(pid)) for pid in pids)
    assert wait_for(lambda: not any(t.name == "videohv-decord-sweep" for t in threading.enumerate()))
    assert pool.ask(request(plain), PATIENT).failure == ""


def test_a_process_that_let_go_is_replaced_and_nobody_is_blamed(pool: Pool, plain: Path) -> None:
    pool.ask(request(plain), PATIENT)
    (process,) = pool.idle
    # As it does when its memory has grown while nobody asked.
    process._connection.close()
    process._process.wait(60)
    process._connection, other = multiprocessing.Pipe()
    other.close()
    answer = pool.ask(request(plain, 3.0), PATIENT)
    assert answer.failure == ""
    assert [number_in(shot.rgb) for shot in answer.shots] == [30]
    assert [p.pid for p in pool.idle] != [process.pid]


def test_an_interrupted_request_costs_its_process(pool: Pool, plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pool.ask(request(plain), PATIENT)
    (process,) = pool.idle

    def interrupted(deadline: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(process, "_receive", interrupted)
    with pytest.raises(KeyboardInterrupt):
        pool.ask(request(plain), PATIENT)
    assert (pool.idle, pool.busy) == ((), 0)
    assert gone(process.pid)


def test_a_process_that_cannot_start_is_a_failure(pool: Pool, plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", str(plain.with_name("no python")))
    answer = pool.ask(request(plain), PATIENT)
    assert (answer.opened, answer.shots) == (None, ())
    assert answer.failure.startswith("cannot be started")
    assert pool.busy == 0


def test_big_processes_are_recycled(monkeypatch: pytest.MonkeyPatch) -> None:
    watch = Watch()
    monkeypatch.setattr(decord_child, "resident", lambda: decord_child.IDLE_BYTES - 1)
    assert not any(watch.answered() for _ in range(500))
    monkeypatch.setattr(decord_child, "resident", lambda: decord_child.IDLE_BYTES + 1)
    assert watch.answered()


def test_where_memory_cannot_be_seen_requests_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decord_child, "resident", lambda: None)
    watch = Watch()
    assert [watch.answered() for _ in range(decord_child.UNSEEN_REQUESTS)] == [False] * 199 + [True]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="this system tells otherwise")
def test_memory_is_seen() -> None:
    before = resident()
    held = bytearray(os.urandom(1 << 20) * 64)
    after = resident()
    assert before is not None
    assert after is not None
    assert after - before > 32 << 20
    assert len(held) == 64 << 20


SCRIPT = """
import sys
from pathlib import Path
print("begun")
from videohv.video import Video
video = Video(sys.argv[1], decoder="decord")
print(video.info.decoder, len(video.frames_at([1.0, 2.0])), video.warnings)
from videohv.video.decord_pool import POOL
print(*(p.pid for p in POOL.idle))
"""


def run(script: str, *arguments: str) -> list[str]:
    command = [sys.executable, script, *arguments]
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True, env=environment)
    return done.stdout.splitlines()


def test_a_plain_script_runs_once_and_leaves_nothing(tmp_path: Path, plain: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(SCRIPT)
    begun, read, pids = run(str(script), str(plain))
    assert (begun, read) == ("begun", "decord 2 ()")
    assert pids
    assert all(wait_for(lambda pid=pid: gone(int(pid))) for pid in pids.split())


def _in_worker(path: str, results: object) -> None:
    video = Video(path, decoder="decord")
    numbers = [number_in(f.rgb) for f in video.frames_at([1.0, 2.0])]
    results.send((video.info.decoder, numbers, video.warnings))  # type: ignore[attr-defined]


@pytest.mark.parametrize("method", [m for m in ("spawn", "fork") if m in multiprocessing.get_all_start_methods()])
def test_daemonic_workers_have_processes_of_their_own(plain: Path, method: str) -> None:
    POOL.ask(request(plain), PATIENT)
    before = {p.pid for p in POOL.idle}
    context = multiprocessing.get_context(method)
    ours, theirs = context.Pipe()
    worker = context.Process(target=_in_worker, args=(str(plain), theirs), daemon=True)
    worker.start()
    assert ours.poll(120)
    assert ours.recv() == ("decord", [10, 20], ())
    worker.join(60)
    assert {p.pid for p in POOL.idle} == before
    assert POOL.ask(request(plain, 5.0), PATIENT).failure == ""


@pytest.mark.skipif(not hasattr(os, "getppid") or sys.platform == "win32", reason="seen by the parent's number")
def test_a_process_does_not_outlive_a_killed_parent(tmp_path: Path, plain: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        SCRIPT
        + textwrap.dedent("""
        import os, signal
        sys.stdout.flush()
        os.kill(os.getpid(), signal.SIGKILL)
    """)
    )
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parent.parent.parent)}
    command = [sys.executable, str(script), str(plain)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env=environment)
    pids = done.stdout.splitlines()[-1].split()
    assert done.returncode == -signal.SIGKILL
    assert pids
    assert all(wait_for(lambda pid=pid: gone(int(pid))) for pid in pids)
