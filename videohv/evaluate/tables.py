"""A run's summary as plain text, for the terminal and for documentation."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from videohv.evaluate.bias import Bias
from videohv.evaluate.calibration import Calibration
from videohv.evaluate.columns import ABSENT, bounds, number, percent, plain, share, table
from videohv.evaluate.grounding import Grounding
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.parts import Part
from videohv.evaluate.spending import Spent
from videohv.evaluate.summary import RunSummary
from videohv.types import letter

UNITS = {
    "calls": "LM calls",
    "cached_calls": "calls served from the cache",
    "failed_calls": "calls without a usable reply",
    "prompt_tokens": "prompt tokens",
    "completion_tokens": "reply tokens",
    "images": "images sent",
    "cost": "cost",
    "seconds": "seconds",
    "rounds": "rounds",
    "looks": "looks",
}
"""What the quantities of `Spent` are called in tables."""


def as_text(summary: RunSummary, manifest: Manifest | None = None) -> str:
    """The summary as aligned tables, sections apart by an empty line.

    Args:
        summary: What to show.
        manifest: Of the run, for its name and models.
    """
    return "\n\n".join(section for section in _sections(summary, manifest) if section)


def _sections(summary: RunSummary, manifest: Manifest | None) -> Iterator[str]:
    yield _head(summary, manifest)
    if summary.n == 0:
        return
    yield _accuracy(summary)
    yield _outcomes(summary)
    for by, parts in groupby(summary.parts, key=lambda part: part.by):
        yield _parts(by, list(parts))
    yield _statuses(summary)
    yield _calibration(summary.calibration) if summary.calibration else ""
    yield _grounding(summary.grounding) if summary.grounding else ""
    yield _bias(summary.bias) if summary.bias else ""
    yield _spending(summary)
    yield _failures(summary)


def _head(summary: RunSummary, manifest: Manifest | None) -> str:
    lines = []
    if manifest is not None:
        program = f", program {manifest.program}" if manifest.program else ""
        lines.append(plain(f"{manifest.title}, {manifest.method}{program}"))
        if models := dict.fromkeys(model.name for model in manifest.models):
            lines.append(plain(f"models: {', '.join(models)}"))
    finished = f"{summary.n} of {summary.expected}" if summary.expected is not None else f"{summary.n}"
    orders = f" ({summary.questions} questions under several option orders)" if summary.questions < summary.n else ""
    unscored = summary.n - summary.labelled
    lines.append(
        f"{finished} finished{orders}, from {summary.recordings} recordings; {summary.labelled} with a known answer"
        + (f", {unscored} unscored" if unscored else "")
    )
    return "\n".join(lines)


def _accuracy(summary: RunSummary) -> str:
    if not summary.labelled:
        return "Accuracy: none of the right answers is known."
    return table(
        ("accuracy", "", "95 % interval", "of", "what becomes of questions without an answer"),
        [
            (
                a.policy,
                percent(a.estimate.value if a.estimate else None),
                bounds(a.estimate),
                str(a.estimate.n if a.estimate else 0),
                a.about,
            )
            for a in summary.accuracy
        ],
        right=(1, 3),
    )


def _outcomes(summary: RunSummary) -> str:
    rows = [(c.name, str(c.count), percent(c.count / summary.n)) for c in summary.outcomes]
    text = table(("outcome", "", ""), rows, right=(1, 2))
    return f"{text}\nfailure rate {share(summary.failed)}; abstained {share(summary.abstained)}"


def _parts(by: str, parts: list[Part]) -> str:
    policies = [a.policy for a in parts[0].accuracy]
    return table(
        (by, "n", "scored", "failed", *policies),
        [(p.name, str(p.n), str(p.labelled), str(p.failed), *(share(a.estimate) for a in p.accuracy)) for p in parts],
        right=(1, 2, 3),
    )


def _statuses(summary: RunSummary) -> str:
    return table(
        ("last check", "right", "wrong", "abstained", "failed", "unscored", "right among the answered"),
        [
            (
                str(s.status or "none"),
                *map(str, (s.right, s.wrong, s.abstained, s.failed, s.unscored)),
                share(s.accuracy),
            )
            for s in summary.statuses
        ],
        right=(1, 2, 3, 4, 5),
    )


def _calibration(made: Calibration) -> str:
    rows = [
        (f"{percent(b.low)} to {percent(b.high)}", str(b.n), percent(b.confidence), percent(b.accuracy))
        for b in made.bins
        if b.n
    ]
    text = table(("confidence", "n", "mean", "right"), rows, right=(0, 1, 2, 3))
    return f"{text}\nexpected calibration error {made.ece:.3f}, Brier score {made.brier:.3f} over {made.n} answers"


def _grounding(made: Grounding) -> str:
    sets = (
        ("the window relied on", made.every),
        ("the same, without the windowless (official)", made.official),
        ("all windows relied on", made.union),
    )
    figures = ("miou", "iou_03", "iou_05", "miop", "iop_03", "iop_05", "acc_gqa")
    titles = ("mIoU", "IoU@0.3", "IoU@0.5", "mIoP", "IoP@0.3", "IoP@0.5", "Acc@GQA")
    rows = [
        (title, *(share(getattr(scores, name)) if scores is not None else ABSENT for _, scores in sets))
        for title, name in zip(titles, figures, strict=True)
    ]
    text = table(("grounding", *(title for title, _ in sets)), rows)
    return f"{text}\n{made.n} with annotated spans; {made.windowless} without a window"


def _bias(made: Bias) -> str:
    rows = [
        (letter(p.place), str(p.right_here), share(p.accuracy), share(p.right_share), share(p.answer_share))
        for p in made.places
    ]
    headers = ("place", "right here", "accuracy then", "share of right options", "share of answers")
    spread = f"{100 * made.spread:.1f} points" if made.spread is not None else ABSENT
    return (
        f"{table(headers, rows, right=(1,))}\n"
        f"{made.questions} questions under {made.orders} option orders: the same answer under all "
        f"{share(made.consistency)}; accuracy of the most frequent answer {share(made.majority)}, "
        f"of single answers {share(made.single)}; standard deviation by place {spread}"
    )


def _spending(summary: RunSummary) -> str:
    rows = [_spent(UNITS.get(s.name, s.name), s, summary.n, money=s.name == "cost") for s in summary.spending]
    rows += [_spent(f"seconds in {s.name}", s, summary.n) for s in summary.stages]
    text = table(("a question", "mean", "median", "95th percentile", "total"), rows, right=(1, 2, 3, 4))
    if summary.cached_prompt_share is None:
        return text
    return f"{text}\n{percent(summary.cached_prompt_share)} of the prompt tokens came from the provider's prompt cache"


def _spent(name: str, spent: Spent, n: int, money: bool = False) -> tuple[str, ...]:
    where = "" if spent.n == n else f" (of {spent.n})"
    return (name + where, *(number(value, money) for value in (spent.mean, spent.median, spent.p95, spent.total)))


def _failures(summary: RunSummary) -> str:
    blocks = []
    if summary.failures:
        kinds = [(f.outcome, str(f.count), f.error or ABSENT, ", ".join(f.examples)) for f in summary.failures]
        blocks.append(table(("failed with", "", "error", "such as"), kinds, right=(1,)))
    if summary.degraded:
        steps = [(c.name, str(c.count)) for c in summary.degraded]
        text = table(("went without", "questions"), steps, right=(1,))
        blocks.append(f"{text}\n{summary.degraded_questions} questions had to do without a step")
    return "\n\n".join(blocks)
