"""How long it takes to find out that a finished run of 5,031 questions is finished.

    python -m benchmarks.resume [--questions 5031]

A run of `videohv eval` is made by answering from memory, with one full trace of the loop (as the instant engine gives
it) written for every question. Then the same command is given again, as a process of its own, and timed from outside,
imports included. Its server counts the calls: there must be none.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import dspy

from benchmarks.instant import instant_lm
from benchmarks.run_overhead import CAPTIONS, make, requests_of, server
from videohv import VideoHV
from videohv.data import load_questions
from videohv.evaluate.journal import NAME, Journal, line_of
from videohv.evaluate.row import Row
from videohv.types import Trace


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=5031)
    count = parser.parse_args().questions
    with tempfile.TemporaryDirectory() as name, server(0.0) as address:
        folder = Path(name)
        make(folder, count)
        command = [
            *(sys.executable, "-m", "videohv", "eval", "egoschema:subset", "--data-root", str(folder)),
            *("--captions", str(folder / "captions.json"), "--out", str(folder / "run")),
            *("--lm", f"openai-compatible/fake?api_base={address}"),
        ]
        environment = {**os.environ, "DSPY_CACHEDIR": str(folder / "cache")}
        # One question through the command itself, for the manifest that it writes.
        first = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while not (folder / "run" / NAME).exists() or not (folder / "run" / NAME).stat().st_size:
            time.sleep(0.05)
        first.kill()
        first.wait()
        finish(folder)
        asked = requests_of(address)
        for _ in range(3):
            began = time.perf_counter()
            subprocess.run(command, env=environment, check=True, capture_output=True)
            seconds = time.perf_counter() - began
            size = (folder / "run" / NAME).stat().st_size / 1e6
            print(
                f"{count} questions, {size:.0f} MB of traces: {seconds:.2f} s, {requests_of(address) - asked} LM calls",
                flush=True,
            )


def finish(folder: Path) -> None:
    """Write the rest of the run."""
    lm, _ = instant_lm()
    questions = load_questions("egoschema:subset", data_root=folder).questions
    with dspy.context(lm=lm, disable_history=True):
        trace = VideoHV(workers=1)(question=questions[0], captions=CAPTIONS).trace
    assert isinstance(trace, Trace)
    with Journal(folder / "run") as journal:
        done = {key[0] for key in journal.entries}
        with (folder / "run" / NAME).open("ab") as file:
            for question in questions:
                if question.id not in done:
                    made = trace.model_copy(update={"question": question})
                    file.write(line_of(Row.of(made), made.model_dump_json()))


if __name__ == "__main__":
    main()
