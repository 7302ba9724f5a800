"""kill -9 at the worst moments: the server kills its client, before or after a call had its effect; then it resumes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.batch_server import FakeBatchServer, Plan
from tests.support.batches import Rig, describe, make_clips

CHILD = Path(__file__).with_name("child.py")
ROOT = CHILD.parent.parent.parent

MOMENTS = [
    ("POST /v1/files", 1, False),
    ("POST /v1/files", 2, True),
    ("POST /v1/batches", 1, True),
    ("POST /v1/batches", 2, False),
    ("POST /v1/batches", 2, True),
    ("GET /v1/batches/ID", 2, True),
    ("GET /v1/files/ID/content", 1, True),
    ("GET /v1/files/ID/content", 2, False),
    ("DELETE /v1/files/ID", 1, True),
]
"""The call, the how many-eth of its kind, and whether it had its effect."""


def start(server: FakeBatchServer, folder: Path, clips: list[Path]) -> subprocess.Popen[bytes]:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, str(CHILD), server.address, str(folder), *map(str, clips)]
    return subprocess.Popen(command, cwd=ROOT, env=environment)


def killed_at(server: FakeBatchServer, child: list[subprocess.Popen[bytes]], call: str, nth: int, after: bool) -> None:
    def hook(made: str, done: bool) -> int | None:
        if (made, done) == (call, after) and server.calls(call) == nth and child[0].poll() is None:
            os.kill(child[0].pid, signal.SIGKILL)
            child[0].wait()
        return None

    server.hook = hook


def run_killed_and_resumed(tmp_path: Path, moments: list[tuple[str, int, bool]]) -> None:
    clips = make_clips(tmp_path / "clips", [12, 3, 7])
    # One batch expires in part and one line fails, so that there is something to send again, too.
    plans = {0: Plan("expired", polls=1, silent=frozenset({1})), 1: Plan(polls=2)}
    with FakeBatchServer(describe, plan=lambda number, lines: plans.get(number, Plan())) as server:
        for call, nth, after in moments:
            child: list[subprocess.Popen[bytes]] = []
            killed_at(server, child, call, server.calls(call) + nth, after)
            child.append(start(server, tmp_path, clips))
            assert child[0].wait() == -signal.SIGKILL, (call, nth, after)
        server.hook = lambda call, after: None
        rig = Rig(tmp_path, clips, server)
        report = rig.run(requests=2)
        assert (report.in_flight, report.waiting, report.lost) == (0, 0, 0)
        assert rig.counts == [12, 3, 7]
        rig.check_once()
        assert len(server.shelf.captioned) == 22
        assert sum(len(made.lines) for made in server.shelf.batches) == 7, "six requests, and the one that expired"


def test_killed_between_creation_and_its_answer(tmp_path: Path) -> None:
    run_killed_and_resumed(tmp_path, [("POST /v1/batches", 2, True)])


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS, ids=lambda m: f"{m[0]}-{m[1]}-{'after' if m[2] else 'before'}")
def test_killed_once(tmp_path: Path, moment: tuple[str, int, bool]) -> None:
    run_killed_and_resumed(tmp_path, [moment])


@pytest.mark.slow
def test_killed_again_and_again(tmp_path: Path) -> None:
    run_killed_and_resumed(
        tmp_path,
        [
            ("POST /v1/files", 1, True),
            ("POST /v1/batches", 1, True),
            ("POST /v1/files", 1, False),
            ("POST /v1/batches", 1, False),
            ("GET /v1/files/ID/content", 1, True),
            ("GET /v1/files/ID/content", 2, True),
        ],
    )
