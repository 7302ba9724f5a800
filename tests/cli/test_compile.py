"""`videohv compile` end to end, in processes of its own, at a real HTTP server that counts what it is asked."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.support.benchmark import make_benchmark
from tests.support.compiling import RULE, TRAP, bodies, teachable
from tests.support.server import Failure, FakeServer, Fault, Request
from videohv.cli import run
from videohv.compiled import read_artifact

ROOT = Path(__file__).parent.parent.parent
START = "import tests.support.compiling; from videohv.cli import main; main()"
QUESTIONS = 24


def words(folder: Path, server: FakeServer, *more: str, optimizer: str = "planned") -> list[str]:
    root = folder / "data"
    if not root.exists():
        make_benchmark(root, QUESTIONS, moments=6)
    return [
        *("compile", "egoschema:subset", "--optimizer", optimizer, "--out", str(folder / "best.json")),
        *("--data-root", str(root), "--captions", str(root / "captions.json"), "--lm", server.spec()),
        *("--train", "3", "--dev", "2", "--test", "4", "--setting", "rounds=1", "--setting", "workers=1"),
        *("--concurrency", "1", *more),
    ]


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "VIDEOHV_CACHE": str(folder / "cache"), "DSPY_CACHEDIR": str(folder / "dspy")}


def begun(arguments: Sequence[str], folder: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", START, *arguments],
        cwd=ROOT,
        env=environment(folder),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def ended(arguments: Sequence[str], folder: Path) -> tuple[int, str, str]:
    process = begun(arguments, folder)
    out, err = process.communicate()
    return process.returncode, out, err


class Assassin:
    """Answers as a teachable model, and kills the process that asks at the requests of these numbers."""

    def __init__(self, moments: Sequence[int]) -> None:
        self._moments = set(moments)
        self._lock = threading.Lock()
        self._count = 0
        self.process: subprocess.Popen[str] | None = None
        self.unanswered: list[str] = []

    def __call__(self, request: Request) -> str | Fault:
        with self._lock:
            self._count += 1
            if self._count in self._moments:
                assert self.process is not None
                self.process.kill()
                self.unanswered += bodies([request])
                return Fault(Failure.DROP)
        return teachable(request)


def check_killed(folder: Path, optimizer: str, moments: Sequence[int], *more: str) -> None:
    with FakeServer(teachable) as server:
        code, _, err = ended(words(folder / "calm", server, "--yes", *more, optimizer=optimizer), folder / "calm")
        assert code in (0, 4), err
        calm = Counter(bodies(server.requests))
    killer = Assassin(moments)
    with FakeServer(killer) as server:
        arguments = words(folder, server, "--yes", *more, optimizer=optimizer)
        for _ in moments:
            killer.process = begun(arguments, folder)
            _, err = killer.process.communicate()
            assert killer.process.returncode == -signal.SIGKILL, err
            assert not (folder / "best.json").exists()
        code, _, err = ended(arguments, folder)
        assert code in (0, 4), err
        asked = len(server.requests)
        sent = Counter(bodies(server.requests))
        assert len(killer.unanswered) == len(moments)
        # As if it had not been disturbed, but for what was never answered.
        assert sent - Counter(killer.unanswered) == calm
        again, _, err = ended(arguments, folder)
        assert again == code, err
        assert len(server.requests) == asked


@pytest.mark.slow
def test_killed_at_any_moment_it_goes_on_without_asking_twice(tmp_path: Path) -> None:
    # In the preflight, while it optimises, and in both scorings.
    check_killed(tmp_path, "planned", (3, 14, 24, 45))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("optimizer", "moments"), [("bootstrap", (4, 15)), ("mipro", (12, 40)), ("gepa", (12, 30)), ("copro", (14, 60))]
)
def test_killed_within_an_optimizer_it_goes_on_without_asking_twice(
    tmp_path: Path, optimizer: str, moments: tuple[int, ...]
) -> None:
    check_killed(tmp_path, optimizer, moments, "--roles", "answer")


def test_a_compile_is_told_from_beginning_to_end(tmp_path: Path) -> None:
    with FakeServer(teachable) as server:
        code, out, err = ended(words(tmp_path, server, "--yes"), tmp_path)
        address = server.address
    assert code == 0, err
    for said in ("preflight", "at most", "runs of the program", "trial 1/1", "score the seed", "4/4 questions"):
        assert said in err, said
    assert "compiled      100.0%" in out
    assert "difference    +" in out
    assert "videohv compare" in err
    for path in tmp_path.rglob("*"):
        if path.is_file() and "cache" not in path.parts:
            assert address.encode() not in path.read_bytes(), path


@pytest.mark.slow
def test_a_worse_program_has_an_exit_code_of_its_own(tmp_path: Path) -> None:
    with FakeServer(teachable) as server:
        code, out, err = ended(words(tmp_path, server, "--yes", "--json", "--set", f"says={TRAP}"), tmp_path)
    assert code == 4, err
    assert "the compiled program is worse than the seed" in err
    figures = json.loads(out)
    assert figures["artifact"].endswith("best.worse.json")
    assert figures["difference"]["value"] < 0
    assert not (tmp_path / "best.json").exists()


@pytest.mark.slow
def test_nobody_agreed(tmp_path: Path) -> None:
    with FakeServer(teachable) as server:
        code, _, err = ended(words(tmp_path, server), tmp_path)
        asked = len(server.requests)
        assert code == 2
        assert "somebody must agree to the price, on a terminal or by --yes" in err
        assert asked > 0
        assert ended(words(tmp_path, server, "--yes"), tmp_path)[0] == 0
        assert set(Counter(bodies(server.requests)).values()) == {1}


@pytest.mark.slow
def test_an_outage_stops_it_and_says_how_to_go_on(tmp_path: Path) -> None:
    down = True

    def answer(request: Request) -> str | Fault:
        if down and len(server.requests) > 12:
            return Fault(Failure.SERVER_ERROR)
        return teachable(request)

    with FakeServer(answer) as server:
        code, _, err = ended(words(tmp_path, server, "--yes", "--set", "passes=5"), tmp_path)
        assert code == 1
        assert "run the same again to go on" in err
        assert not list(tmp_path.glob("best*.json"))
        down = False
        assert ended(words(tmp_path, server, "--yes", "--set", "passes=5"), tmp_path)[0] == 0
    assert read_artifact(tmp_path / "best.json") is not None


@pytest.mark.slow
def test_ctrl_c_keeps_what_was_learnt(tmp_path: Path) -> None:
    interrupted = threading.Event()

    def answer(request: Request) -> str | Fault:
        if len(server.requests) == 14 and not interrupted.is_set():
            interrupted.set()
            process.send_signal(signal.SIGINT)
            time.sleep(0.2)
        return teachable(request)

    with FakeServer(answer) as server:
        arguments = words(tmp_path, server, "--yes")
        process = begun(arguments, tmp_path)
        _, err = process.communicate()
        assert process.returncode == 130
        assert "run the same command to go on" in err
        assert ended(arguments, tmp_path)[0] == 0
        # One was in flight.
        assert sorted(Counter(bodies(server.requests)).values())[-2:] in ([1, 1], [1, 2])


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--optimizer", "guess"], "no optimizer is called 'guess'"),
        (["--set", "tries=3"], "no optimizer here has an option 'tries'; planned has: "),
        (["--set", "rounds=3"], "rounds is a setting of the method 'videohv', not an option of planned"),
        (["--setting", "passes=3"], "passes is an option of planned, not a setting of the method 'videohv'"),
        (["--setting", "roundz=3"], "no setting 'roundz'"),
        (["--set", "passes=many"], "option 'passes' of optimizer 'planned'"),
        (["--set", "gepa.passes=1"], "gepa is none of the optimizers (planned)"),
        (["--set", "passes"], "expected NAME=VALUE"),
        (["--preset", "gentle"], "no preset is called 'gentle'"),
        (["--metric", "luck"], "no metric is called 'luck'"),
        (["--roles", "jugde"], "no agent is called 'jugde'"),
        (["--program", "nobody"], "no program 'nobody'"),
        (["--max-cost", "1"], "the price of"),
    ],
)
def test_what_cannot_be_compiled_is_said_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], told: str
) -> None:
    with FakeServer(teachable) as server:
        assert run(words(tmp_path, server, *more)) in (1, 2)
        assert server.requests == []
    assert told in capsys.readouterr().err.replace("\n", " ")
    assert not (tmp_path / "best.json").exists()


@pytest.mark.slow
def test_a_compiled_program_can_be_compiled_further(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(teachable) as server:
        assert run(words(tmp_path, server, "--yes")) == 0
        first = tmp_path / "best.json"
        more = ["--yes", "--program", str(first), "--out", str(tmp_path / "next.json"), "--set", "says=Be kind."]
        assert run(words(tmp_path, server, *more)) == 0
    assert "no better than the seed" in capsys.readouterr().err
    made = read_artifact(tmp_path / "next.json")
    assert made is not None
    assert [parent.name for parent in made.parents] == ["best", "seed"]
    told = {agent.name: agent.instructions for agent in made.agents}
    assert RULE in told["answer.predict"]
    assert "Be kind." in told["answer.predict"]
