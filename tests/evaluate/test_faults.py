"""A run at a server that fails all the time, killed again and again: the same table as an undisturbed one."""

from __future__ import annotations

import hashlib
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support.benchmark import faulty, make_benchmark, number_of, seen, steady
from tests.support.server import Failure, FakeServer, Fault, Request
from videohv.cli import run
from videohv.evaluate.journal import NAME, read_rows, read_traces
from videohv.evaluate.row import Row
from videohv.lm.faults import Patience, patient
from videohv.types import Outcome

SHARE = 0.3
IN_A_ROW = 2
"""A call that failed so often is answered the next time: a server that is never up has no table to compare."""

KINDS = (
    Failure.RATE_LIMIT,
    Failure.SERVER_ERROR,
    Failure.HANG,
    Failure.DROP,
    Failure.GARBAGE,
    Failure.TRUNCATED,
    Failure.EMPTY,
    Failure.REFUSAL,
)


class Faults:
    """Which request fails how: decided by what is asked and how often it was, so that no timing changes it."""

    def __init__(self) -> None:
        self._asked: Counter[str] = Counter()
        self._in_a_row: Counter[str] = Counter()
        self._refused: set[str] = set()
        self._lock = threading.Lock()
        self.kinds: Counter[Failure] = Counter()

    def __call__(self, request: Request) -> Fault | None:
        what = seen(request)
        key = (
            f"{what.role} {number_of(request)} {hashlib.sha256(repr(sorted(what.inputs.items())).encode()).hexdigest()}"
        )
        with self._lock:
            self._asked[key] += 1
            dice = random.Random(f"{key} {self._asked[key]}")
            if dice.random() >= SHARE or self._in_a_row[key] >= IN_A_ROW:
                self._in_a_row[key] = 0
                return None
            self._in_a_row[key] += 1
            # What is refused twice was refused: that table would rightly be another one.
            kind = dice.choice([kind for kind in KINDS if kind is not Failure.REFUSAL or key not in self._refused])
            if kind is Failure.REFUSAL:
                self._refused.add(key)
            self.kinds[kind] += 1
        return Fault(kind, 1.0 if kind is Failure.HANG else 0.0)


def command(data: tuple[Path, Path], server: FakeServer, out: Path, concurrency: int) -> list[str]:
    root, captions = data
    return [
        *("eval", "egoschema:subset", "--data-root", str(root)),
        *("--captions", str(captions), "--lm", server.spec(timeout=0.5, retries=6), "--out", str(out)),
        *("--concurrency", str(concurrency), "--no-cache"),
    ]


def run_killed(arguments: list[str], out: Path, kills: int, dice: random.Random) -> None:
    """Run it in processes that are killed after a few more questions each time, and then in this one to its end."""
    program = [sys.executable, "-m", "videohv", *arguments]
    for _ in range(kills):
        wanted = lines(out) + dice.randint(1, 12)
        with subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            while process.poll() is None and lines(out) < wanted:
                time.sleep(0.01)
            time.sleep(dice.random() * 0.05)
            process.kill()
        assert len({row.key for row in read_rows(out)}) == len(read_rows(out))
    for more in ([], ["--retry-failed"], ["--retry-failed"]):
        with patient(Patience(first=0.01, most=0.05)):
            assert run([*arguments, *more]) == 0


def lines(out: Path) -> int:
    return (out / NAME).read_bytes().count(b"\n") if (out / NAME).exists() else 0


def table(rows: list[Row]) -> list[tuple[object, ...]]:
    """What a table is made of, costs left out: faults have theirs."""
    return sorted(
        (r.id, r.outcome, r.answer_index, r.right, r.confidence, r.status, r.rounds, r.looks, r.degraded) for r in rows
    )


def check(tmp_path: Path, questions: int, kills: int, concurrency: int) -> None:
    data = make_benchmark(tmp_path / "data", questions)
    with FakeServer(steady) as server:
        calm = command(data, server, tmp_path / "calm", concurrency)
        assert run(calm) == 0
    faults = Faults()
    with FakeServer(faulty(faults)) as server:
        run_killed(command(data, server, tmp_path / "rough", concurrency), tmp_path / "rough", kills, random.Random(5))
        asked = len(server.requests)
    calm_rows, rough_rows = read_rows(tmp_path / "calm"), read_rows(tmp_path / "rough")
    assert set(faults.kinds) == set(KINDS)
    assert sum(faults.kinds.values()) / asked == pytest.approx(SHARE, abs=0.08)
    assert {row.outcome for row in calm_rows} == {Outcome.ANSWERED}
    assert table(rough_rows) == table(calm_rows)
    for row, trace in read_traces(tmp_path / "rough"):
        assert trace.answer is not None
        assert row.answer_index == trace.answer.option_index


def test_faults_and_kills_change_nothing(tmp_path: Path) -> None:
    check(tmp_path, questions=12, kills=1, concurrency=8)


@pytest.mark.slow
def test_500_questions_killed_ten_times(tmp_path: Path) -> None:
    check(tmp_path, questions=500, kills=10, concurrency=16)
