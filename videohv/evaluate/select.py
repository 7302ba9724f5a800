"""Which questions of a benchmark a run asks."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from videohv.errors import InputError
from videohv.types import Question


def select(
    questions: Sequence[Question],
    ids: Collection[str] = (),
    types: Collection[str] = (),
    limit: int | None = None,
) -> tuple[Question, ...]:
    """The wanted questions in the order of the benchmark.

    Args:
        questions: All of them.
        ids: Only these; empty for all.
        types: Only these types, or facet values such as `long`; empty for all.
        limit: At most so many, the first ones.

    Raises:
        InputError: If an id or a type does not occur, or nothing is left.
    """
    if absent := set(ids) - {question.id for question in questions}:
        raise InputError(f"{len(absent)} of the ids are not in the benchmark: {_some(absent)}")
    known = {question.type for question in questions} | {value for q in questions for _, value in q.facets}
    if absent := set(types) - known:
        raise InputError(f"no question is of the type {_some(absent)}; known: {_some(known - {''}, 40)}")
    chosen = [
        question
        for question in questions
        if (not ids or question.id in ids)
        and (not types or question.type in types or any(value in types for _, value in question.facets))
    ][:limit]
    if not chosen:
        raise InputError("no question is left to ask: check --ids, --types and --limit")
    return tuple(chosen)


def _some(names: Collection[str], most: int = 5) -> str:
    listed = sorted(names)
    return ", ".join(map(repr, listed[:most])) + (", …" if len(listed) > most else "")
