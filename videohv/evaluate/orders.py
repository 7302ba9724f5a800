"""The same question under several option orders, to tell what the model knows from where it likes to click."""

from __future__ import annotations

import random

from videohv.types import Question


def permutation(question: Question, order: int, seed: int = 0) -> tuple[int, ...]:
    """The option order number `order` of a question: item i is the option that is shown at place i.

    Order 0 is the benchmark's own. The next ones turn it round, one place each, so that with as many orders as there
    are options every option stands at every place once. Further ones are shuffled by seed and question id.

    Returns:
        An empty tuple for the benchmark's own order.
    """
    count = len(question.options)
    if order == 0:
        return ()
    if order < count:
        return tuple((i + order) % count for i in range(count))
    places = list(range(count))
    random.Random(f"{seed} {question.id} {order}").shuffle(places)
    return tuple(places)


def reordered(question: Question, places: tuple[int, ...]) -> Question:
    """The question with its options in another order; the right answer moves along."""
    if not places:
        return question
    right = question.answer_index
    return question.model_copy(
        update={
            "options": tuple(question.options[i] for i in places),
            "answer_index": places.index(right) if right is not None else None,
        }
    )
