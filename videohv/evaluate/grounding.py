"""Grounding scores as NExT-GQA defines them: did the answer rely on the moments that the annotators marked?

After the official evaluation (doc-doc/NExT-GQA, `code/TempGQA/eval_ground.py`, commit 3902e7d4; Xiao et al., "Can I
Trust Your Answer?", CVPR 2024, arXiv 2309.01327): a question has its maximum IoU over its spans, and its maximum IoP;
means of both, shares at 0.3 and 0.5 (bounds included), and Acc@GQA: answered right with an IoP of at least 0.5.

The official script leaves out questions for which a method gives no window. So a method gains by failing on hard ones.
Here they count as 0 in `every`, the figures to quote; `official` has them left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from videohv.evaluate.relied import Overlap
from videohv.evaluate.row import Row
from videohv.evaluate.statistics import estimate
from videohv.types import Estimate, Value

LOOSE, TIGHT = 0.3, 0.5


class GroundingScores(Value):
    """One set of figures, all from 0 to 1.

    Args:
        miou: Mean IoU.
        iou_03: Share of questions with an IoU of at least 0.3.
        iou_05: With at least 0.5.
        miop: Mean IoP.
        iop_03: Share of questions with an IoP of at least 0.3.
        iop_05: With at least 0.5.
        acc_gqa: Share of labelled questions that were answered right with an IoP of at least 0.5.
    """

    miou: Estimate
    iou_03: Estimate
    iou_05: Estimate
    miop: Estimate
    iop_03: Estimate
    iop_05: Estimate
    acc_gqa: Estimate | None


class Grounding(Value):
    """The grounding scores of a run.

    Args:
        n: Rows whose question has annotated spans.
        windowless: Of them without a window: failed before looking, or a method that does not look.
        every: Over all of them; without a window IoU and IoP are 0.
        official: Over those with a window, as the official script counts; None if there is none.
        union: As `every`, of all windows that an answer relied on together. No published figure is made like that.
    """

    n: int
    windowless: int
    every: GroundingScores
    official: GroundingScores | None
    union: GroundingScores


def grounding(rows: Iterable[Row]) -> Grounding | None:
    """The grounding scores of the rows whose questions have annotated spans; None if there is none."""
    annotated = [row for row in rows if row.iou is not None]
    every = _scores(annotated, [Overlap(row.iou or 0.0, row.iop or 0.0) for row in annotated])
    union = _scores(annotated, [Overlap(row.union_iou or 0.0, row.union_iop or 0.0) for row in annotated])
    if every is None or union is None:
        return None
    with_window = [row for row in annotated if row.relied]
    return Grounding(
        n=len(annotated),
        windowless=len(annotated) - len(with_window),
        every=every,
        official=_scores(with_window, [Overlap(row.iou or 0.0, row.iop or 0.0) for row in with_window]),
        union=union,
    )


def _scores(rows: Sequence[Row], overlaps: Sequence[Overlap]) -> GroundingScores | None:
    if not rows:
        return None
    recordings = [row.recording for row in rows]

    def mean(scores: Iterable[float]) -> Estimate:
        made = estimate(list(scores), recordings)
        assert made is not None
        return made

    grounded = [
        (float(row.right and o.iop >= TIGHT), row.recording)
        for row, o in zip(rows, overlaps, strict=True)
        if row.right is not None
    ]
    return GroundingScores(
        miou=mean(o.iou for o in overlaps),
        iou_03=mean(float(o.iou >= LOOSE) for o in overlaps),
        iou_05=mean(float(o.iou >= TIGHT) for o in overlaps),
        miop=mean(o.iop for o in overlaps),
        iop_03=mean(float(o.iop >= LOOSE) for o in overlaps),
        iop_05=mean(float(o.iop >= TIGHT) for o in overlaps),
        acc_gqa=estimate([score for score, _ in grounded], [recording for _, recording in grounded]),
    )
