"""`videohv tune` end to end: a benchmark in its published form, a real HTTP server, a study on disk."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.support.benchmark import make_benchmark, seen, steady
from tests.support.server import Failure, FakeServer, Fault, Request
from videohv.cli import run
from videohv.data.registry import load_questions
from videohv.evaluate.journal import read_rows, read_traces
from videohv.evaluate.manifest import read_manifest

ROOT = Path(__file__).parent.parent.parent

SPACE = ("--space", "rounds=1..3", "--space", "stretches=1,3", "--set", "looks=1", "--set", "windows=1")
FIXED = ("--set", "prune_below=0.1", "--set", "regenerations=0")


def arguments(folder: Path, server: FakeServer, *more: str) -> list[str]:
    root, captions = folder / "data", folder / "data" / "captions.json"
    if not root.exists():
        make_benchmark(root, 12)
    return [
        *("tune", "egoschema:subset", "--data-root", str(root), "--captions", str(captions), "--lm", server.spec()),
        *("--out", str(folder / "search"), "--concurrency", "4", *SPACE, *FIXED, *more),
    ]


def printed(capsys: pytest.CaptureFixture[str]) -> dict[str, list[dict[str, object]]]:
    made: dict[str, list[dict[str, object]]] = json.loads(capsys.readouterr().out)
    return made


def test_settings_are_searched_on_dev_and_the_front_is_printed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with FakeServer(steady) as server:
        assert run(arguments(tmp_path, server, "--trials", "4")) == 0
    said = capsys.readouterr()
    dev = load_questions("egoschema:subset", data_root=tmp_path / "data", part="dev").questions
    assert f"{len(dev)} of egoschema:subset/dev; tune never looks at the test part" in said.err
    assert "rounds=1..3 stretches=1,3 stride=1,2,4" in said.err
    assert "trial 4/4" in said.err
    head, *_ = said.out.splitlines()
    assert head.split() == ["trial", "rounds", "stretches", "stride", "accuracy", "tokens", "a", "question", "failed"]
    assert "4 settings tried" in said.out
    assert (tmp_path / "search" / "front.svg").read_text().startswith("<svg")
    runs = sorted((tmp_path / "search" / "trials").iterdir())
    assert len(runs) == 4
    for folder in runs:
        assert {row.id for row in read_rows(folder)} == {question.id for question in dev}
        manifest = read_manifest(folder)
        assert (manifest.part, manifest.settings["looks"]) == ("dev", 1)
        assert folder.name.startswith(f"rounds{manifest.settings['rounds']}-stretches{manifest.settings['stretches']}")
        assert f"stride{manifest.stride}" in folder.name
        for path in folder.iterdir():
            assert server.address.encode() not in path.read_bytes(), path
    assert server.address not in (tmp_path / "search" / "tune.json").read_text()


def test_replies_from_the_cache_make_no_trial_look_cheaper(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(steady) as server:
        assert run(arguments(tmp_path, server, "--trials", "3", "--json")) == 0
        first = printed(capsys)["tried"]
        asked = len(server.requests)
        assert max(Counter(json.dumps(request.body, sort_keys=True) for request in server.requests).values()) == 1
        again = [*arguments(tmp_path, server, "--trials", "3", "--json"), "--out", str(tmp_path / "again")]
        assert run(again) == 0
        assert len(server.requests) == asked
    second = printed(capsys)["tried"]
    assert [one["tokens"] for one in second] == [one["tokens"] for one in first]
    assert all(one["sent"] == 0 for one in second)
    spent = [
        sum(used.prompt_tokens + used.completion_tokens for _, trace in read_traces(path) for used in trace.usage)
        for path in sorted((tmp_path / "search" / "trials").iterdir())
    ]
    assert sum(spent) == sum(int(str(one["sent"])) for one in first) > 0


def test_the_captions_are_thinned_out_by_the_stride(tmp_path: Path) -> None:
    with FakeServer(steady) as server:
        fixed = ["--set", "stride=4", "--trials", "1"]
        assert run(arguments(tmp_path, server, *fixed)) == 0
        shown = [seen(request).inputs["captions"] for request in server.requests if "captions" in seen(request).inputs]
    assert shown
    assert not any(f"tool {second}" in text for text in shown for second in (1, 2, 3, 5, 6, 7, 9, 10, 11))
    assert any("tool 4" in text for text in shown)


def test_more_trials_go_on_and_another_search_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(steady) as server:
        assert run(arguments(tmp_path, server, "--trials", "2", "--json")) == 0
        first = printed(capsys)["tried"]
        assert run(arguments(tmp_path, server, "--trials", "3", "--json")) == 0
        assert printed(capsys)["tried"][:2] == first
        asked = len(server.requests)
        assert run(arguments(tmp_path, server, "--trials", "3", "--limit", "2")) == 2
        assert "questions:" in capsys.readouterr().err
        assert run(arguments(tmp_path, server, "--trials", "3", "--space", "rounds=1..2")) == 2
        assert "space: rounds=1..3 stretches=1,3 stride=1,2,4 then, rounds=1..2" in capsys.readouterr().err
        assert run(arguments(tmp_path, server, "--trials", "3", "--seed", "4")) == 2
        assert len(server.requests) == asked


def test_a_small_space_is_searched_to_its_end(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(steady) as server:
        fixed = ["--set", "stride=1", "--space", "rounds=1..2", "--space", "stretches=2", "--limit", "2"]
        assert run(arguments(tmp_path, server, *fixed, "--trials", "9")) == 0
    said = capsys.readouterr()
    assert "2 settings tried" in said.out
    assert "2 of 9 trials: nothing else was left to try" in said.err


def test_a_trial_that_mostly_failed_has_no_accuracy(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(request: Request) -> str | Fault:
        return Fault(Failure.REFUSAL) if "tool 1," in request.text else steady(request)

    with FakeServer(answer) as server:
        root, captions = make_benchmark(tmp_path / "data", 12)
        command = ["tune", "egoschema:subset", "--data-root", str(root), "--captions", str(captions)]
        command += ["--method", "captions", "--set", "stretches=1", "--space", "stride=1,4", "--limit", "4"]
        command += ["--lm", server.spec(), "--out", str(tmp_path / "search"), "--trials", "2"]
        assert run([*command, "--json"]) == 0
        made = printed(capsys)
        assert run(command) == 0
    first, second = made["tried"]
    assert (first["settings"], first["accuracy"], first["tokens"]) == ({"stride": 1}, None, None)
    assert str(first["why"]).startswith("4 of 4 questions failed, the last (q")
    assert (second["why"], made["front"]) == ("", [2])
    assert "2 settings tried, 1 on the front, 0 beaten, 1 failed\ntrial 1 failed: 4 of 4" in capsys.readouterr().out


def test_when_every_trial_fails_it_stops(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def answer(request: Request) -> str | Fault:
        return Fault(Failure.REFUSAL) if seen(request).role == "answer" else steady(request)

    with FakeServer(answer) as server:
        assert run(arguments(tmp_path, server, "--limit", "1", "--trials", "9")) == 1
    said = capsys.readouterr()
    assert said.out.startswith("no trial could be scored\n3 settings tried, 0 on the front, 0 beaten, 3 failed")
    assert "3 trials in a row failed, the last: 1 of 1 questions failed" in said.err


def test_an_outage_stops_the_search_and_the_trial_comes_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    down = True

    def answer(request: Request) -> str | Fault:
        return Fault(Failure.SERVER_ERROR) if down else steady(request)

    with FakeServer(answer) as server:
        more = ["--trials", "2", "--limit", "4", "--json"]
        assert run(arguments(tmp_path, server, *more)) == 1
        said = capsys.readouterr()
        assert "questions failed, the last with" in said.err
        assert said.out == ""
        down = False
        assert run(arguments(tmp_path, server, *more)) == 0
    tried = printed(capsys)["tried"]
    assert [(one["number"], one["failed"], one["why"]) for one in tried] == [(1, 0, ""), (2, 0, "")]
    assert tried[0]["settings"] == {"rounds": 3, "stretches": 3, "stride": 1}


@pytest.mark.parametrize(
    ("more", "told"),
    [
        (["--space", "roundz=1..2"], "no setting 'roundz'"),
        (["--space", "looks=1..2"], "looks is both fixed with --set and searched"),
        (["--set", "rounds"], "expected NAME=VALUE"),
        (["--set", "rounds=0"], "setting 'rounds'"),
        (["--method", "guess"], "no method is called 'guess'"),
    ],
)
def test_what_cannot_be_searched_is_said_before_any_work(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], more: list[str], told: str
) -> None:
    with FakeServer(steady) as server:
        assert run(arguments(tmp_path, server, *more)) == 2
        assert server.requests == []
    assert told in capsys.readouterr().err
    assert not (tmp_path / "search").exists()


def test_the_test_part_is_never_tuned_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with FakeServer(steady) as server:
        command = ["egoschema:subset/test" if a == "egoschema:subset" else a for a in arguments(tmp_path, server)]
        assert run(command) == 2
    assert "the test part is for reporting; tune on dev" in capsys.readouterr().err


@pytest.mark.slow
def test_killed_it_goes_on_to_the_same_end_and_asks_nothing_twice(tmp_path: Path) -> None:
    def child(server: FakeServer, name: str) -> subprocess.Popen[bytes]:
        environment = {**os.environ, "DSPY_CACHEDIR": str(tmp_path / f"cache-{name}"), "PYTHONPATH": str(ROOT)}
        command = [*arguments(tmp_path, server, "--trials", "5", "--json"), "--out", str(tmp_path / name)]
        program = [sys.executable, "-m", "videohv", *command, "--concurrency", "1"]
        return subprocess.Popen(program, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    with FakeServer(steady) as server:
        whole, _ = child(server, "whole").communicate(timeout=120)
        asked = len(server.requests)
        killed = child(server, "killed")
        deadline = time.monotonic() + 120
        while len(server.requests) < asked + asked // 2 and time.monotonic() < deadline and killed.poll() is None:
            time.sleep(0.01)
        killed.send_signal(signal.SIGKILL)
        killed.communicate()
        assert killed.returncode == -signal.SIGKILL
        resumed, told = child(server, "killed").communicate(timeout=120)
        assert resumed, told.decode()[-2000:]
        # The call that was under way when it was killed has no reply to be found again.
        assert 2 * asked <= len(server.requests) <= 2 * asked + 1
    first, second = (json.loads(text)["tried"] for text in (whole, resumed))
    for one in (*first, *second):
        one.pop("sent")
    assert first == second
