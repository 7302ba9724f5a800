"""Two runs on the same questions: which is better, by how much, how surely, and at what price.

Differences are always B minus A, over the questions (and option orders) that both runs finished, a question without an
answer counted as wrong.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from videohv.errors import InputError
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.paired import difference_interval, mcnemar, sign_flip
from videohv.evaluate.row import Row
from videohv.evaluate.spending import Spent, spending
from videohv.evaluate.statistics import by_cluster, estimate
from videohv.types import Estimate, Value

Pair = tuple[Row, Row]


class Contrast(Value):
    """A paired comparison of accuracies.

    Args:
        n: Pairs in which the right option is known.
        a: Accuracy of the first run on them.
        b: Accuracy of the second.
        difference: b - a with its 95 % interval by cluster bootstrap; its bounds lie between -1 and 1.
        both: Pairs that both have right.
        only_a: Right in the first run alone.
        only_b: Right in the second run alone.
        neither: Right in none.
        p: Two-sided mid-p McNemar.
        p_clustered: Two-sided, by flipping the sign of whole recordings.
    """

    n: int
    a: Estimate
    b: Estimate
    difference: Estimate
    both: int
    only_a: int
    only_b: int
    neither: int
    p: float
    p_clustered: float


class PartContrast(Value):
    """The comparison on the questions of one type. Its p values are not corrected for there being several types."""

    type: str
    contrast: Contrast


class Beside(Value):
    """What the shared questions cost in either run; None where it is not known of any question."""

    name: str
    a: Spent | None
    b: Spent | None


class Comparison(Value):
    """Two runs beside each other.

    Args:
        shared: Questions (each option order counted) that both finished.
        only_a: Finished in the first run alone; not compared.
        only_b: Finished in the second run alone; not compared.
        unscored: Shared ones whose right option is not known in both.
        agreement: Share of the shared ones that got the same answer, labelled or not; no answer agrees with nothing.
        contrast: On all shared labelled questions; None if there is none.
        parts: The same by type, where there is more than one.
        gained: Ids that only the second run has right; `id#order` for option orders beside the benchmark's own.
        lost: Ids that only the first run has right.
        cost: Calls, tokens, money and time on the shared questions.
        warnings: Why the two may not be comparable.
    """

    shared: int
    only_a: int
    only_b: int
    unscored: int
    agreement: Estimate
    contrast: Contrast | None
    parts: tuple[PartContrast, ...]
    gained: tuple[str, ...]
    lost: tuple[str, ...]
    cost: tuple[Beside, ...]
    warnings: tuple[str, ...] = ()


def comparability(a: Manifest, b: Manifest) -> tuple[str, ...]:
    """What stands against comparing two runs: other benchmarks, or other questions behind the same ids."""
    said = []
    if a.title != b.title:
        said.append(f"the runs are of {a.title} and of {b.title}")
    if a.data_hash != b.data_hash and a.question_ids == b.question_ids:
        said.append("the questions have the same ids but were not the same: their texts, options or labels differ")
    elif a.data_hash != b.data_hash:
        said.append(f"the runs asked different sets of questions ({len(a.question_ids)} and {len(b.question_ids)})")
    return tuple(said)


def compare(rows_a: Iterable[Row], rows_b: Iterable[Row], *, warnings: Sequence[str] = ()) -> Comparison:
    """Compare two runs, paired on question id and option order.

    Args:
        rows_a: Rows of the first run.
        rows_b: Rows of the second.
        warnings: What is already known to stand against it, such as different data; kept in the result.

    Raises:
        InputError: If they share no question.
    """
    first, second = {row.key: row for row in rows_a}, {row.key: row for row in rows_b}
    keys = sorted(first.keys() & second.keys())
    if not keys:
        raise InputError(
            f"the runs share no question: the first has {_named(first)}, the second {_named(second)}; "
            "compare runs of the same benchmark and split"
        )
    pairs = [(first[key], second[key]) for key in keys]
    said = list(warnings)
    if moved := [a.id for a, b in pairs if a.permutation != b.permutation]:
        said.append(f"{len(moved)} questions were shown with other option orders in the two runs ({_some(moved)})")
    scored = [(a, b) for a, b in pairs if a.right is not None and b.right is not None]
    types = sorted({a.type for a, _ in scored if a.type})
    agreed = [float(a.answer_index is not None and a.answer_index == b.answer_index) for a, b in pairs]
    agreement = estimate(agreed, [a.recording for a, _ in pairs])
    assert agreement is not None
    return Comparison(
        shared=len(pairs),
        only_a=len(first) - len(pairs),
        only_b=len(second) - len(pairs),
        unscored=len(pairs) - len(scored),
        agreement=agreement,
        contrast=contrast(scored) if scored else None,
        parts=tuple(
            PartContrast(type=type_, contrast=contrast([pair for pair in scored if pair[0].type == type_]))
            for type_ in (types if len(types) > 1 else ())
        ),
        gained=tuple(_id(b) for a, b in scored if b.right and not a.right),
        lost=tuple(_id(a) for a, b in scored if a.right and not b.right),
        cost=_beside([a for a, _ in pairs], [b for _, b in pairs]),
        warnings=tuple(said),
    )


def contrast(pairs: Sequence[Pair]) -> Contrast:
    """The comparison on pairs whose right options are known; there is at least one."""
    a = np.array([bool(first.right) for first, _ in pairs], dtype=np.float64)
    b = np.array([bool(second.right) for _, second in pairs], dtype=np.float64)
    recordings = [first.recording for first, _ in pairs]
    sizes, totals = by_cluster(b - a, recordings)
    mean_a, mean_b = estimate(a, recordings), estimate(b, recordings)
    assert mean_a is not None
    assert mean_b is not None
    value = float(totals.sum() / len(pairs))
    low, high = difference_interval(sizes, totals)
    only_a, only_b = int((a > b).sum()), int((b > a).sum())
    both = int((a * b).sum())
    return Contrast(
        n=len(pairs),
        a=mean_a,
        b=mean_b,
        difference=Estimate(value=value, low=min(low, value), high=max(high, value), n=len(pairs), clusters=len(sizes)),
        both=both,
        only_a=only_a,
        only_b=only_b,
        neither=len(pairs) - both - only_a - only_b,
        p=mcnemar(only_a, only_b),
        p_clustered=sign_flip(totals),
    )


def _beside(rows_a: list[Row], rows_b: list[Row]) -> tuple[Beside, ...]:
    a, b = ({spent.name: spent for spent in spending(rows)} for rows in (rows_a, rows_b))
    return tuple(Beside(name=name, a=a.get(name), b=b.get(name)) for name in {**a, **b})


def _id(row: Row) -> str:
    return f"{row.id}#{row.order}" if row.order else row.id


def _named(rows: dict[tuple[str, int], Row]) -> str:
    return f"{len(rows)} ({_some([_id(row) for row in rows.values()])})" if rows else "none"


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (", …" if len(names) > 3 else "")
