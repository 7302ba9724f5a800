"""Workers in child processes: the same results, and no child that outlives its parent."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support.setups import EchoSetup
from videohv.errors import VideoHVError
from videohv.evaluate.jobs import Job
from videohv.evaluate.processes import ProcessWorkers
from videohv.types import Question

ROOT = Path(__file__).parent.parent.parent


def jobs(*ids: str) -> list[Job]:
    return [Job(Question(id=name, text="Which?", options=("a", "b"), answer_index=0)) for name in ids]


def test_all_jobs_are_done_by_several_processes() -> None:
    asked = jobs(*(f"q{i}" for i in range(40)), "crash1")
    done = list(ProcessWorkers(EchoSetup(seconds=0.02), 2, 4).run(asked))
    assert sorted(d.job.question.id for d in done) == sorted(job.question.id for job in asked)
    crashed = [d for d in done if d.row is None]
    assert [d.crash for d in crashed] == ["RuntimeError: a bug"]
    pids = {json.loads(d.trace_json)["warnings"][0] for d in done if d.row is not None}
    assert len(pids) == 2
    assert f"process {os.getpid()}" not in pids


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_setup_that_cannot_be_opened_is_said(processes: int) -> None:
    with pytest.raises(VideoHVError, match="no such model"):
        list(ProcessWorkers(EchoSetup(broken=True), processes, processes).run(jobs("q0")))


def test_a_child_that_dies_is_said() -> None:
    with pytest.raises(VideoHVError, match=r"a worker process died \(exit code 9\)"):
        list(ProcessWorkers(EchoSetup(dies_at="q3"), 1, 1).run(jobs(*(f"q{i}" for i in range(9)))))


@pytest.mark.parametrize("processes", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_children_end_when_their_parent_is_killed(processes: int) -> None:
    code = (
        "import multiprocessing, time\n"
        "from tests.evaluate.test_processes import jobs\n"
        "from tests.support.setups import EchoSetup\n"
        "from videohv.evaluate.processes import ProcessWorkers\n"
        "if __name__ == '__main__':\n"
        f"    results = ProcessWorkers(EchoSetup(seconds=60), {processes}, 2).run(jobs('crash', 'q1', 'q2'))\n"
        "    next(results)\n"
        "    print(*(child.pid for child in multiprocessing.active_children()), flush=True)\n"
        "    time.sleep(60)\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        children = [int(pid) for pid in parent.stdout.readline().split()]
        parent.send_signal(signal.SIGKILL)
    assert len(children) == processes
    for _ in range(100):
        if not any(alive(pid) for pid in children):
            return
        time.sleep(0.1)
    pytest.fail("a child outlived its parent by 10 s")


def alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except OSError:
        return False
    stat = Path(f"/proc/{pid}/stat")
    # A zombie has ended; whoever adopted it has not looked yet.
    return not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] != "Z"
