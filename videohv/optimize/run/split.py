"""Which questions a compile learns from, chooses by and is judged on: never two of one recording on both sides."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from videohv.data.dataset import Dataset
from videohv.data.partition import PARTS, PartName, partition
from videohv.errors import InputError
from videohv.types import Question, Value


class Sizes(Value):
    """At most so many questions of each part; None takes all of it."""

    train: int | None = None
    dev: int | None = None
    test: int | None = None


class Split(Value):
    """The questions of the three parts by their ids, and what they were drawn from.

    Args:
        partition: Hash of the partition of the benchmark's split (`videohv.data.partition`).
        train: To learn from.
        dev: To choose by.
        test: To report on; no optimizer sees them.
    """

    partition: str
    train: tuple[str, ...]
    dev: tuple[str, ...]
    test: tuple[str, ...]

    @property
    def hash(self) -> str:
        """SHA-256 over the partition's hash and the ids of every part."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class Parts(Value):
    """The same as questions."""

    split: Split
    train: tuple[Question, ...]
    dev: tuple[Question, ...]
    test: tuple[Question, ...]

    @property
    def all(self) -> tuple[Question, ...]:
        """Train, dev and test, in that order."""
        return (*self.train, *self.dev, *self.test)


def parts_of(dataset: Dataset, sizes: Sizes = Sizes()) -> Parts:  # noqa: B008  A frozen value.
    """The questions of a benchmark's split by part, those left out whose right option is not known.

    The partition is that of `load_questions("NAME:SPLIT/test")`, so that its test part can be asked by itself. A limit
    takes the first questions of a part in the partition's order.

    Args:
        dataset: The whole split.
        sizes: Limits of the parts.

    Raises:
        InputError: It is only a part of a split, or no labelled question is in one of the parts.
    """
    if dataset.part:
        raise InputError(
            f"{dataset.name} is the {dataset.part} part alone; name the whole split: a compile needs all three parts"
        )
    made = partition(dataset.questions)
    labelled = {question.id: question for question in dataset.questions if question.answer_index is not None}
    chosen = {
        name: tuple(labelled[i] for i in made[name].ids if i in labelled)[: getattr(sizes, name)] for name in PARTS
    }
    if empty := [name for name in PARTS if not chosen[name]]:
        raise InputError(
            f"{dataset.name}: of {len(dataset.questions)} questions, {len(labelled)} with a known answer, none is in "
            f"the part {' and '.join(empty)}: a compile needs recordings for train, dev and test"
        )

    def ids(name: PartName) -> tuple[str, ...]:
        return tuple(question.id for question in chosen[name])

    split = Split(partition=made.content_hash, train=ids("train"), dev=ids("dev"), test=ids("test"))
    return Parts(split=split, train=chosen["train"], dev=chosen["dev"], test=chosen["test"])


def roles_meant(wanted: Sequence[str], agents: Sequence[str]) -> tuple[str, ...]:
    """The agents that names or families of agents stand for, in the program's order.

    Args:
        wanted: Such as `judge` or `verifier` (all of `verifier.locate`, `verifier.look`, `verifier.check`); none
            means all.
        agents: Names as in `named_predictors()`.

    Raises:
        InputError: A name stands for no agent; the message lists those there are.
    """
    short = {agent: agent.removesuffix(".predict") for agent in agents}
    for name in wanted:
        if not any(own == name or own.startswith(f"{name}.") for own in short.values()):
            families = {own.rpartition(".")[0] for own in short.values() if "." in own}
            known = ", ".join(sorted({*short.values(), *families}))
            raise InputError(f"roles: no agent is called {name!r}; known: {known}")
    return tuple(
        agent
        for agent, own in short.items()
        if not wanted or any(own == name or own.startswith(f"{name}.") for name in wanted)
    )
