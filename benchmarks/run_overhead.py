"""What a benchmark run costs beside its LM calls: wall clock against the ideal, and our own CPU time.

    python -m benchmarks.run_overhead [--questions 500] [--delay 0.2] [--concurrency 16 64]

500 five-option questions with 180 captions each are asked by `videohv eval`, a process of its own, at a server that
answers after 200 ms, in a process of its own too. The ideal is the longer one of the longest chain of calls of a
question and calls x delay / concurrency; start-up is the time until the first request arrives. Response cache: off, so
that DSPy's disk writes are not measured, then on as `eval` has it by default. Then the CPU time of a run with the
instant engine in this process is held against that of the same calls by bare `dspy.Predict`.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import dspy

from benchmarks.instant import instant_lm
from videohv import VideoHV
from videohv.evaluate.jobs import Job, work_off
from videohv.evaluate.journal import Journal, read_rows
from videohv.types import Question, Trace

CAPTIONS = [f"#C C works with tool {i // 3} at the table" for i in range(180)]
OPTIONS = ("repairs a chair", "cuts wood", "paints a wall", "measures a board", "puts the tool away")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=500)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds before each reply")
    parser.add_argument("--concurrency", type=int, nargs="+", default=[16, 64])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder, args.questions)
        for cached in (False, True):
            for concurrency in args.concurrency:
                with server(args.delay) as address:
                    wall(folder, address, concurrency, args.delay, cached)
        own_cpu(folder)


def make(folder: Path, count: int) -> None:
    """Questions of our own in the form of EgoSchema, with captions that differ from question to question."""
    (folder / "egoschema").mkdir()
    rows = {
        f"q{i:05d}": {
            "q_uid": f"q{i:05d}",
            "question": f"What does the person number {i} do with the tool?",
            **{f"option {k}": text for k, text in enumerate(OPTIONS)},
            "truth": i % 5,
        }
        for i in range(count)
    }
    (folder / "egoschema" / "subset_anno.json").write_text(json.dumps(rows))
    captions = {name: [f"{text}, {name}" for text in CAPTIONS] for name in rows}
    (folder / "captions.json").write_text(json.dumps(captions))


@contextmanager
def server(delay: float) -> Iterator[str]:
    """The address of a delayed server."""
    command = [sys.executable, "-m", "benchmarks.delayed_server", "--delay", str(delay)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.terminate()


def wall(folder: Path, address: str, concurrency: int, delay: float, cached: bool) -> None:
    """One run of `videohv eval` against the server, timed from outside."""
    out = folder / f"run-{concurrency}-{cached}"
    began = time.time()
    subprocess.run(
        [
            *(sys.executable, "-m", "videohv", "eval", "egoschema:subset"),
            *("--data-root", str(folder), "--captions", str(folder / "captions.json"), "--out", str(out)),
            *("--lm", f"openai-compatible/fake?api_base={address}", "--concurrency", str(concurrency)),
            *(() if cached else ("--no-cache",)),
        ],
        check=True,
        capture_output=True,
        env={**os.environ, "DSPY_CACHEDIR": str(folder / f"cache-{concurrency}")},
    )
    total = time.time() - began
    stats = stats_of(address)
    rows = read_rows(out)
    chain = max(row.calls for row in rows) * delay
    ideal = max(chain, stats["requests"] * delay / concurrency)
    work, startup = stats["last"] - stats["first"], stats["first"] - began
    print(
        f"concurrency {concurrency}, response cache {'on' if cached else 'off'}: {len(rows)} questions, "
        f"{stats['requests']} calls: {total:.1f} s, of it start-up {startup:.1f} s and asking {work:.1f} s; "
        f"ideal {ideal:.1f} s, ratio {(total - startup) / ideal:.3f}",
        flush=True,
    )


def stats_of(address: str) -> dict[str, float]:
    """What the server counted."""
    with urllib.request.urlopen(f"{address}/stats") as reply:
        stats: dict[str, float] = json.load(reply)
    return stats


def requests_of(address: str) -> int:
    """How many requests the server was sent."""
    return int(stats_of(address)["requests"])


def own_cpu(folder: Path, count: int = 100) -> None:
    """CPU milliseconds a question of a run, and of its calls alone."""
    lm, _ = instant_lm()
    program = VideoHV(workers=1)
    questions = [
        Question(id=f"own{i}", text="What does the person do with the tool?", options=OPTIONS) for i in range(count)
    ]
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter(), warn_on_type_mismatch=False, disable_history=True):
        with dspy.context(trace=[]):
            program(question=questions[0], captions=CAPTIONS)
            calls = [(dspy.Predict(p.signature), inputs) for p, inputs, _ in dspy.settings.trace]

        def answer(job: Job) -> Trace:
            trace = program(question=job.shown, captions=CAPTIONS).trace
            assert isinstance(trace, Trace)
            return trace

        began = time.process_time()
        for _ in questions:
            for predictor, inputs in calls:
                predictor(**inputs)
        alone = time.process_time() - began
        with Journal(folder / "own") as journal:
            began = time.process_time()
            for question in questions:
                done = work_off(Job(question), answer)
                assert done.row is not None
                journal.append(done.row, done.trace_json)
            whole = time.process_time() - began
    print(
        f"CPU a question, {len(calls)} calls by an instant engine: {whole / count * 1e3:.1f} ms with loop, trace and "
        f"journal; {alone / count * 1e3:.1f} ms for the bare calls; ours: {(whole - alone) / count * 1e3:.1f} ms"
    )


if __name__ == "__main__":
    main()
