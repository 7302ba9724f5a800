"""Which questions are asked."""

from __future__ import annotations

import pytest

from videohv.errors import InputError
from videohv.evaluate.select import select
from videohv.types import Question

QUESTIONS = tuple(
    Question(
        id=f"q{i}",
        text="Which?",
        options=("a", "b"),
        type=("CW", "TN")[i % 2],
        facets=(("duration", "long"),)[: i // 3],
    )
    for i in range(6)
)


def ids(**wanted: object) -> list[str]:
    return [q.id for q in select(QUESTIONS, **wanted)]  # type: ignore[arg-type]


def test_everything_in_the_order_of_the_benchmark() -> None:
    assert ids() == [q.id for q in QUESTIONS]
    assert ids(limit=2) == ["q0", "q1"]
    assert ids(ids=("q5", "q1")) == ["q1", "q5"]
    assert ids(types=("TN",)) == ["q1", "q3", "q5"]
    assert ids(types=("long",), limit=2) == ["q3", "q4"]


def test_what_does_not_occur_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="1 of the ids are not in the benchmark: 'q9'"):
        ids(ids=("q1", "q9"))
    with pytest.raises(InputError, match="no question is of the type 'TX'; known: 'CW', 'TN', 'long'"):
        ids(types=("TX",))
    with pytest.raises(InputError, match="no question is left"):
        ids(ids=("q0",), types=("TN",))
