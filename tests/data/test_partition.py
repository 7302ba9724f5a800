from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from videohv.data import Partition, partition
from videohv.data.partition import PARTS
from videohv.errors import InputError
from videohv.types import Question


def some(recordings: list[str]) -> list[Question]:
    return [
        Question(text="?", options=("a", "b"), id=str(i), video=f"v{i}", origin=origin)
        for i, origin in enumerate(recordings)
    ]


RECORDINGS = st.lists(st.sampled_from([f"r{i}" for i in range(12)]), max_size=60)


@given(recordings=RECORDINGS, seed=st.integers(), shares=st.sampled_from([(0.5, 0.25, 0.25), (1, 0, 0), (0, 0.5, 0.5)]))
def test_no_recording_is_in_two_parts_and_every_question_is_in_one(
    recordings: list[str], seed: int, shares: tuple[float, float, float]
) -> None:
    questions = some(recordings)
    made = partition(questions, shares, seed)
    parts = {name: made.select(name, questions) for name in PARTS}
    assert sorted(q.id for part in parts.values() for q in part) == sorted(q.id for q in questions)
    for name, part in parts.items():
        assert {q.recording for q in part} == set(made[name].recordings)
        assert sorted(q.id for q in part) == list(made[name].ids)
        assert all(made.part_of(q) == name for q in part)
    assert partition(questions[::-1], shares, seed) == made
    assert Partition.model_validate_json(made.model_dump_json()) == made


def test_shares_are_met_as_far_as_recordings_allow() -> None:
    questions = some([f"r{i}" for i in range(1000)])
    made = partition(questions, (0.6, 0.3, 0.1))
    assert [len(made[name].ids) for name in PARTS] == [600, 300, 100]
    one = partition(some(["only"] * 10))
    assert [len(one[name].ids) for name in PARTS] == [10, 0, 0]


def test_another_seed_gives_another_partition_and_the_first_is_always_the_same() -> None:
    questions = some([f"r{i}" for i in range(50)])
    made = [partition(questions, seed=seed) for seed in range(5)]
    assert len({p.content_hash for p in made}) == 5
    assert len({p.train.ids for p in made}) == 5
    # Written down, so that a change of the method, which would move questions between parts, does not go unseen.
    assert partition(some(["a", "b", "c", "d"])).train.recordings == ("a", "d")


def test_a_changed_partition_is_not_read() -> None:
    made = partition(some([f"r{i}" for i in range(9)]))
    moved = made.model_dump()
    moved["train"]["ids"] = moved["train"]["ids"][1:]
    with pytest.raises(ValidationError, match="content_hash does not fit"):
        Partition.model_validate(moved)
    moved["dev"]["recordings"] = moved["train"]["recordings"]
    with pytest.raises(ValidationError, match="is both in train and in dev"):
        Partition.model_validate(moved)


@pytest.mark.parametrize("shares", [(0.5, 0.5, 0.5), (1.2, -0.2, 0), (0.5, 0.5), (float("nan"), 0.5, 0.5)])
def test_shares_that_make_no_sense(shares: tuple[float, float, float]) -> None:
    with pytest.raises(InputError, match="add up to 1"):
        partition(some(["a"]), shares)


def test_a_question_of_another_benchmark_is_in_no_part() -> None:
    assert partition(some(["a"])).part_of(some(["b"])[0]) is None
