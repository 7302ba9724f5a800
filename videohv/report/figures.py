"""A run's figures, section by section: what `videohv results` prints, to look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

from videohv.evaluate.bias import Bias
from videohv.evaluate.calibration import Calibration
from videohv.evaluate.columns import ABSENT, bounds, number, percent, share
from videohv.evaluate.grounding import Grounding
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.parts import Accuracy, Part
from videohv.evaluate.row import Row
from videohv.evaluate.spending import Spent
from videohv.evaluate.summary import RunSummary, StatusRow
from videohv.evaluate.tables import UNITS
from videohv.report.charts import Slice, histogram, legend, reliability, stacked, whisker
from videohv.report.markup import Markup, joined, tag
from videohv.report.pieces import data_table, facts, ranged, status_chip
from videohv.types import Estimate, letter

_DISTRIBUTIONS: tuple[tuple[str, Callable[[Row], float | None]], ...] = (
    ("LM calls", lambda row: row.calls),
    ("tokens", lambda row: row.prompt_tokens + row.completion_tokens),
    ("cost", lambda row: row.cost),
    ("seconds", lambda row: row.seconds),
)


def headline(made: RunSummary, manifest: Manifest) -> Markup:
    """What was run, and the accuracy under each policy."""
    program = manifest.method + (f", program {manifest.program}" if manifest.program else "")
    waiting = "" if made.expected is None or made.n >= made.expected else f" of {made.expected:,}"
    about = [program, *_models(manifest), manifest.recorded.created[:10]]
    return tag(
        "div",
        tag("p", " · ".join(word for word in about if word), class_="over"),
        tag("h1", manifest.title),
        tag(
            "p",
            f"{made.n:,}{waiting} finished: {made.questions:,} questions about {made.recordings:,} recordings; "
            f"the right option is known for {made.labelled:,}.",
            class_="quiet",
        ),
        tag("div", [_figure(a) for a in made.accuracy], class_="figures"),
        _ended(made),
        class_="head",
    )


def parts(made: RunSummary) -> Markup:
    """Accuracy by type, group and facet."""
    blocks = []
    for by, inside in groupby(made.parts, key=lambda part: part.by):
        blocks.append(_by(by, list(inside)))
    return joined(blocks)


def statuses(made: RunSummary) -> Markup:
    """Status of the last check against correctness."""
    if not made.statuses:
        return Markup()
    rows = [
        [
            status_chip(s.status),
            stacked(_slices(s), s.status or "no check"),
            *(f"{n:,}" for n in (s.right, s.wrong, s.abstained, s.failed, s.unscored)),
            ranged(s.accuracy),
        ]
        for s in made.statuses
    ]
    headers = ("last check", "", "right", "wrong", "abstained", "failed", "unscored", "right among the answered")
    return data_table(headers, rows, caption="Status of the last check against correctness", right=range(2, 7))


def calibration(made: Calibration | None) -> Markup:
    """Confidence against correctness."""
    if made is None:
        return Markup()
    rows = [
        (f"{percent(b.low)} to {percent(b.high)}", f"{b.n:,}", percent(b.confidence), percent(b.accuracy))
        for b in made.bins
        if b.n
    ]
    table = data_table(
        ("confidence", "n", "mean", "right"), rows, caption="Confidence against correctness", right=(1, 2, 3)
    )
    said = f"Expected calibration error {made.ece:.3f}, Brier score {made.brier:.3f} over {made.n:,} answers."
    return tag("div", reliability(made), tag("div", table, tag("p", said, class_="quiet")), class_="pair")


def spending(made: RunSummary, rows: Sequence[Row]) -> Markup:
    """Calls, tokens, money and time: as distributions, and in figures."""
    charts = []
    for name, get in _DISTRIBUTIONS:
        known = [value for row in rows if (value := get(row)) is not None]
        if known and any(known):
            title = f"{name} a question"
            charts.append(tag("figure", tag("figcaption", title), histogram(known, title, money=name == "cost")))
    lines = [_spent(UNITS.get(s.name, s.name), s, made.n, money=s.name == "cost") for s in made.spending if s.total]
    lines += [_spent(f"seconds in {s.name}", s, made.n) for s in made.stages]
    headers = ("a question", "mean", "median", "95th percentile", "total")
    table = data_table(headers, lines, caption="What a question costs", right=(1, 2, 3, 4))
    return joined(tag("div", charts, class_="grid"), table) if lines else Markup()


def bias(made: Bias | None) -> Markup:
    """What the order of the options did."""
    if made is None:
        return Markup()
    rows = [
        (
            letter(p.place),
            f"{p.right_here:,}",
            whisker(p.accuracy, name=letter(p.place)),
            ranged(p.accuracy),
            percent(_value(p.right_share)),
            percent(_value(p.answer_share)),
        )
        for p in made.places
    ]
    headers = ("place", "right here", "", "accuracy then", "right options", "answers")
    spread = f"{100 * made.spread:.1f} points" if made.spread is not None else ABSENT
    return joined(
        data_table(headers, rows, caption="Accuracy and answers by the place of an option", right=(1, 4, 5)),
        facts(
            [
                ("questions, option orders", f"{made.questions:,}, {made.orders}"),
                ("the same answer under all", share(made.consistency)),
                ("most frequent answer", share(made.majority)),
                ("single answers", share(made.single)),
                ("standard deviation by place", spread),
            ]
        ),
    )


def grounding(made: Grounding | None) -> Markup:
    """Windows relied on against the annotators' spans."""
    if made is None:
        return Markup()
    sets = (made.every, made.official, made.union)
    names = ("miou", "iou_03", "iou_05", "miop", "iop_03", "iop_05", "acc_gqa")
    titles = ("mIoU", "IoU@0.3", "IoU@0.5", "mIoP", "IoP@0.3", "IoP@0.5", "Acc@GQA")
    rows = [
        (title, *(ranged(getattr(scores, name)) if scores is not None else ABSENT for scores in sets))
        for title, name in zip(titles, names, strict=True)
    ]
    headers = ("grounding", "the window relied on", "without the windowless (official)", "all windows relied on")
    said = f"{made.n:,} with annotated spans; {made.windowless:,} without a window."
    return joined(data_table(headers, rows, caption="Grounding"), tag("p", said, class_="quiet"))


def failures(made: RunSummary) -> Markup:
    """What failed and why, and what was gone without."""
    blocks: list[Markup] = []
    if made.failures:
        kinds = [
            (f.outcome.replace("_", " "), f"{f.count:,}", f.error or ABSENT, ", ".join(f.examples))
            for f in made.failures
        ]
        blocks.append(data_table(("outcome", "n", "error", "such as"), kinds, caption="Failures by kind", right=(1,)))
    if made.degraded:
        steps = [(c.name, f"{c.count:,}") for c in made.degraded]
        blocks.append(
            data_table(("went without", "questions"), steps, caption="Steps that were gone without", right=(1,))
        )
        blocks.append(tag("p", f"{made.degraded_questions:,} questions had to do without a step.", class_="quiet"))
    return joined(blocks)


def provenance(manifest: Manifest) -> Markup:
    """What makes the run what it is."""
    settings = [(name, str(value)) for name, value in manifest.settings.items()]
    models = [(model.role, model.name) for model in manifest.models]
    known = [
        ("benchmark", manifest.title),
        ("source", manifest.source),
        ("captions", manifest.captions),
        ("program", manifest.program),
        ("option orders", str(manifest.orders)),
        ("seed", str(manifest.seed)),
        ("code", manifest.code),
        ("dspy", manifest.dspy),
        ("begun", manifest.recorded.created),
    ]
    return facts([(name, value) for name, value in (*known, *models, *settings) if value])


def outcome_slices(made: RunSummary) -> list[Slice]:
    """How all questions ended."""
    total = [
        sum(getattr(s, name) for s in made.statuses) for name in ("right", "wrong", "unscored", "abstained", "failed")
    ]
    names = (("right", "good"), ("wrong", "bad"), ("unscored", "plain"), ("abstained", "fair"), ("failed", "dark"))
    return [Slice(name, count, kind) for (name, kind), count in zip(names, total, strict=True)]


def _figure(accuracy: Accuracy) -> Markup:
    estimate = accuracy.estimate
    return tag(
        "div",
        tag("p", tag("b", percent(estimate.value) if estimate else ABSENT), tag("span", accuracy.policy)),
        whisker(estimate, name=accuracy.policy),
        tag("p", bounds(estimate), " · " if estimate else "", accuracy.about, class_="quiet"),
    )


def _ended(made: RunSummary) -> Markup:
    slices = outcome_slices(made)
    return joined(stacked(slices, "How the questions ended"), legend(slices))


def _by(by: str, inside: Sequence[Part]) -> Markup:
    policies = [a.policy for a in inside[0].accuracy] if inside else []
    rows = [
        [
            part.name,
            f"{part.n:,}",
            f"{part.failed:,}",
            whisker(part.accuracy[0].estimate, name=part.name) if part.accuracy else "",
            *(ranged(a.estimate) for a in part.accuracy),
        ]
        for part in inside
    ]
    headers = (by, "n", "failed", "", *policies)
    return data_table(headers, rows, caption=f"Accuracy by {by}", right=(1, 2))


def _slices(row: StatusRow) -> list[Slice]:
    return [
        Slice("right", row.right, "good"),
        Slice("wrong", row.wrong, "bad"),
        Slice("unscored", row.unscored, "plain"),
        Slice("abstained", row.abstained, "fair"),
        Slice("failed", row.failed, "dark"),
    ]


def _spent(name: str, spent: Spent, n: int, money: bool = False) -> tuple[str, ...]:
    where = "" if spent.n == n else f" (of {spent.n:,})"
    return (name + where, *(number(value, money) for value in (spent.mean, spent.median, spent.p95, spent.total)))


def _models(manifest: Manifest) -> list[str]:
    return list(dict.fromkeys(model.name for model in manifest.models))


def _value(estimate: Estimate | None) -> float | None:
    return estimate.value if estimate is not None else None
