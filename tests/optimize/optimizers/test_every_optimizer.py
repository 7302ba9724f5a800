"""Every optimizer on the whole program: its artifact, loaded into a fresh process, gives the same answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.benchmark import make_benchmark
from tests.support.compiling import teachable
from tests.support.server import FakeServer
from videohv.cli import run
from videohv.compiled import read_artifact
from videohv.evaluate.journal import read_traces
from videohv.optimize import optimizer_names

ROOT = Path(__file__).parents[3]

METHOD = {"labeled": "captions"}
"""What an optimizer is tried on, where it is not for the whole loop."""

BUILT_IN = [name for name in optimizer_names() if name != "planned"]


@pytest.mark.slow
@pytest.mark.parametrize("optimizer", [*BUILT_IN, "bootstrap,copro"])
def test_an_artifact_reproduces_its_answers_in_a_fresh_process(tmp_path: Path, optimizer: str) -> None:
    root, captions = make_benchmark(tmp_path / "data", 24, moments=6)
    method = METHOD.get(optimizer, "videohv")
    out = tmp_path / "best.json"
    rounds = ["--setting", "rounds=1"] if method == "videohv" else []
    with FakeServer(teachable) as server:
        common = ["egoschema:subset", "--data-root", str(root), "--captions", str(captions), "--lm", server.spec()]
        compiling = ["compile", *common, "--optimizer", optimizer, "--method", method, "--out", str(out), *rounds]
        assert run([*compiling, "--train", "6", "--dev", "4", "--test", "4", "--concurrency", "4", "--yes"]) in (0, 4)
        out = out if out.exists() else tmp_path / "best.worse.json"
        made = read_artifact(out)
        assert made is not None
        asking = [
            *("eval", *common, "--method", method, "--program", str(out), "--ids", ",".join(made.data.test)),
            *("--out", str(tmp_path / "again"), "--no-cache", "--set", "rounds=1" if rounds else "seed=0"),
        ]
        fresh = subprocess.run(
            [sys.executable, "-m", "videohv", *asking],
            cwd=ROOT,
            env={**os.environ, "DSPY_CACHEDIR": str(tmp_path / "dspy")},
            capture_output=True,
            text=True,
            check=False,
        )
        assert fresh.returncode == 0, fresh.stderr
    answers = [
        {row.id: json.dumps(trace.answer.model_dump() if trace.answer else None) for row, trace in read_traces(folder)}
        for folder in (tmp_path / "best.json.work" / "compiled", tmp_path / "again")
    ]
    assert len(answers[0]) == 4
    assert answers[0] == answers[1]
