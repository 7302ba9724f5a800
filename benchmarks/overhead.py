"""The bare cost of our own code: one question through the whole loop against the same calls by bare `dspy.Predict`.

    python -m benchmarks.overhead [--questions 200]

Both sides are played by the same instantly answering engine, with the same signatures, inputs, adapter and settings, in
turn within one process. Printed: CPU milliseconds a question of each, and their ratio, as medians over blocks.
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

import dspy

from benchmarks.instant import instant_lm
from videohv import VideoHV

QUESTION = "What does the person do with the tool?"
OPTIONS = ["repairs a chair", "cuts wood", "paints a wall", "measures a board", "puts it away"]
CAPTIONS = [f"C works with tool {i // 3} at the table" for i in range(180)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--questions", type=int, default=200, help="questions on each side, in blocks of ten")
    blocks = parser.parse_args().questions // 10
    lm, engine = instant_lm()
    # In turn on both sides: what threads cost by switching between them is no cost of ours.
    program = VideoHV(workers=1)
    with dspy.context(lm=lm, adapter=dspy.JSONAdapter(), warn_on_type_mismatch=False, disable_history=True):
        with dspy.context(trace=[]):
            ask(program)
            calls = [(dspy.Predict(p.signature), inputs) for p, inputs, _ in dspy.settings.trace]

        def bare() -> None:
            for predictor, inputs in calls:
                predictor(**inputs)

        whole, alone = [cpu(lambda: ask(program))], [cpu(bare)]
        # A collection walks all that was imported and falls to whichever side is at work: leave that out of both.
        gc.collect()
        gc.freeze()
        for _ in range(blocks):
            whole.append(cpu(lambda: ask(program)))
            alone.append(cpu(bare))
    # The first block of each has warmed up.
    ours, theirs = statistics.median(whole[1:]), statistics.median(alone[1:])
    ratios = sorted(a / b for a, b in zip(whole[1:], alone[1:], strict=True))
    print(f"LM calls a question: {len(calls)}  ({engine.calls} calls in all)")
    print(f"VideoHV             {ours * 1e3:8.2f} ms CPU a question")
    print(f"bare dspy.Predict   {theirs * 1e3:8.2f} ms CPU a question")
    middle = statistics.median(ratios)
    print(f"ratio, median of {blocks} blocks: {middle:.3f}  (min {ratios[0]:.3f}, max {ratios[-1]:.3f})")


def ask(program: VideoHV) -> Any:
    return program(question=QUESTION, options=OPTIONS, captions=CAPTIONS)


def cpu(call: Callable[[], Any], repeats: int = 10) -> float:
    """CPU seconds of one call, over ten."""
    began = time.process_time()
    for _ in range(repeats):
        call()
    return (time.process_time() - began) / repeats


if __name__ == "__main__":
    main()
