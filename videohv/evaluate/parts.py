"""Accuracies of a run's questions by kind: type, group of types, or facet."""

from __future__ import annotations

from collections.abc import Sequence

from videohv.errors import InputError
from videohv.evaluate.policies import Policy, scores
from videohv.evaluate.row import Row
from videohv.evaluate.statistics import estimate
from videohv.types import Estimate, Value

TYPE, GROUP = "type", "group"
"""What figures can always be broken down by, beside the facets of the questions: the benchmark's types, and groups."""

Groups = Sequence[tuple[str, Sequence[str]]]
"""Named groups of types, as (group, types)."""


class Accuracy(Value):
    """The accuracy under one policy; None if no question counts under it."""

    policy: str
    about: str
    estimate: Estimate | None


class Part(Value):
    """The questions of one kind.

    Args:
        by: What they are told apart by: `type`, `group`, or a facet.
        name: Which of these they are.
        n: How many.
        labelled: Of them with a known right option.
        failed: Of them ended in a failure.
        accuracy: Under every policy.
    """

    by: str
    name: str
    n: int
    labelled: int
    failed: int
    accuracy: tuple[Accuracy, ...]


def accuracies(rows: list[Row], chosen: Sequence[Policy]) -> tuple[Accuracy, ...]:
    """The accuracy of the rows under each policy."""
    return tuple(Accuracy(policy=p.name, about=p.about, estimate=estimate(*scores(rows, p))) for p in chosen)


def parts_of(rows: list[Row], groups: Groups, by: Sequence[str] | None, chosen: Sequence[Policy]) -> tuple[Part, ...]:
    """The rows by kind, those of no kind left out.

    Args:
        rows: All of them.
        groups: Named groups of types, in the order in which they are shown.
        by: Names of what they are told apart by, in the order in which it is shown; None is all there is.
        chosen: The policies.

    Raises:
        InputError: If `by` names something that there is not.
    """
    kinds: dict[str, dict[str, list[Row]]] = {GROUP: {name: [] for name, _ in groups}, TYPE: {}}
    # The types come in the order of their groups, and then those that belong to none.
    kinds[TYPE] = {kind: [] for _, types in groups for kind in types}
    for row in sorted(rows, key=lambda row: row.type):
        if row.type:
            kinds[TYPE].setdefault(row.type, []).append(row)
        for name, types in groups:
            if row.type in types:
                kinds[GROUP][name].append(row)
        for facet, value in row.facets:
            kinds.setdefault(facet, {}).setdefault(value, []).append(row)
    for name in by or ():
        if name not in kinds:
            raise InputError(f"figures cannot be broken down by {name!r}; there is: {', '.join(kinds)}")
    occurring = {name for name, inside in kinds[TYPE].items() if inside}
    # Some benchmarks have the type among their facets too; once is enough.
    told = [kind for kind in kinds if kind in (TYPE, GROUP) or set(kinds[kind]) != occurring]
    return tuple(
        _part(kind, name, inside, chosen)
        for kind in by or told
        for name, inside in (kinds[kind].items() if kind in (GROUP, TYPE) else sorted(kinds[kind].items()))
        if inside
    )


def _part(by: str, name: str, rows: list[Row], chosen: Sequence[Policy]) -> Part:
    return Part(
        by=by,
        name=name,
        n=len(rows),
        labelled=sum(row.right is not None for row in rows),
        failed=sum(row.failed for row in rows),
        accuracy=accuracies(rows, chosen),
    )
