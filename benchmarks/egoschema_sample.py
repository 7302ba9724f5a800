"""A few EgoSchema-subset questions with LaViLa captions through the whole loop, one line each as it ends.

    python -m benchmarks.egoschema_sample --data-root DIR [--limit 10] [--lm SPEC] [--out FILE]

DIR holds `egoschema/subset_anno.json` and `egoschema/lavila_subset.json`. Replies are kept in DSPy's cache: an
interrupted run goes on where it was. Ten questions say that it works, not how well: the interval that is printed
shows how little.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from videohv import VideoHV, configure, read_captions
from videohv.lm import describe, make_lm
from videohv.types import Outcome, Question, Trace, letter


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data-root", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=10)
    parser.add_argument("--lm", default="embedded/qwen2.5-coder-1.5b")
    parser.add_argument("--out", type=Path, help="append each trace to this JSONL file")
    args = parser.parse_args()
    folder = args.data_root / "egoschema"
    if not (folder / "subset_anno.json").is_file():
        sys.exit(f"{folder / 'subset_anno.json'} is not there: give the folder that holds egoschema/ as --data-root")
    lm = make_lm(args.lm)
    configure(lm=lm)
    print(f"model: {describe(lm)}")
    program = VideoHV()
    traces = []
    for question in questions(folder / "subset_anno.json", args.limit):
        captions = read_captions(folder / "lavila_subset.json", question.id)
        trace = program(question=question, captions=captions).trace
        traces.append(trace)
        print(line(trace), flush=True)
        if args.out:
            with args.out.open("a", encoding="utf-8") as file:
                file.write(trace.model_dump_json() + "\n")
    summarise(traces)


def questions(path: Path, limit: int) -> list[Question]:
    """The first questions of the subset, in the order of their ids."""
    rows = json.loads(path.read_text(encoding="utf-8"))
    return [
        Question(
            id=uid,
            video=uid,
            text=rows[uid]["question"],
            options=tuple(rows[uid][f"option {i}"] for i in range(5)),
            answer_index=int(rows[uid]["truth"]),
        )
        for uid in sorted(rows)[:limit]
    ]


def line(trace: Trace) -> str:
    """One finished question."""
    given = letter(trace.answer.option_index) if trace.answer and trace.answer.option_index is not None else "-"
    gold = letter(trace.question.answer_index or 0)
    tokens = sum(u.prompt_tokens + u.completion_tokens for u in trace.usage)
    degraded = ", degraded: " + ", ".join(d.step for d in trace.degraded) if trace.degraded else ""
    return (
        f"{trace.question.id[:8]} {trace.outcome:<12} {given} (right: {gold}) {trace.status or 'no status':<12} "
        f"{len(trace.rounds)} rounds, {sum(len(r.looks) for r in trace.rounds)} looks, {trace.calls} calls, "
        f"{tokens} tokens, {trace.seconds:.0f} s{degraded}"
    )


def summarise(traces: list[Trace]) -> None:
    """Totals, with the Wilson interval of the accuracy."""
    n = len(traces)
    right = sum(bool(t.answer and t.answer.option_index == t.question.answer_index) for t in traces)
    z, p = 1.96, right / n
    middle = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * ((p * (1 - p) / n + z * z / (4 * n * n)) ** 0.5)
    failed = sum(t.outcome is not Outcome.ANSWERED for t in traces)
    print(
        f"{right} of {n} right (95 % interval {max(0.0, middle - half):.0%} to {middle + half:.0%}), "
        f"{failed} not answered; a question: {sum(t.calls for t in traces) / n:.1f} calls, "
        f"{sum(u.prompt_tokens for t in traces for u in t.usage) / n:.0f} prompt and "
        f"{sum(u.completion_tokens for t in traces for u in t.usage) / n:.0f} reply tokens, "
        f"{sum(t.seconds for t in traces) / n:.0f} s"
    )


if __name__ == "__main__":
    main()
