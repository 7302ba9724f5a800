"""Questions split into train, dev and test so that no recording is in two of them.

Questions about one recording are not independent: a prompt that was tuned on one of them has seen the others. The unit
is therefore `Question.recording`, which for EgoSchema is the Ego4D video that several clips were cut from.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from typing import Literal, Self

from pydantic import model_validator

from videohv.errors import InputError
from videohv.types import Question, Value

PartName = Literal["train", "dev", "test"]
PARTS: tuple[PartName, ...] = ("train", "dev", "test")
SHARES = (0.5, 0.25, 0.25)


class Part(Value):
    """One side of a partition: its recordings, sorted, and the ids of its questions in their own order."""

    recordings: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()


class Partition(Value):
    """Which recordings and questions are for training, for choosing, and for reporting.

    Args:
        seed: What the order of the recordings was drawn with.
        shares: The share of the questions that was aimed at for train, dev and test.
        train: For training.
        dev: For choosing.
        test: For reporting.
        content_hash: SHA-256 over all of it, checked whenever a partition is read.
    """

    seed: int
    shares: tuple[float, float, float]
    train: Part
    dev: Part
    test: Part
    content_hash: str

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        seen: dict[str, str] = {}
        for name in PARTS:
            for recording in self[name].recordings:
                if recording in seen:
                    raise ValueError(f"recording {recording!r} is both in {seen[recording]} and in {name}")
                seen[recording] = name
        if self.content_hash != _hash(self.seed, self.shares, self.train, self.dev, self.test):
            raise ValueError("the partition was changed since it was made: its content_hash does not fit")
        return self

    def __getitem__(self, name: PartName) -> Part:
        part: Part = getattr(self, name)
        return part

    def part_of(self, question: Question) -> PartName | None:
        """The part that a question's recording is in; None if it is in none."""
        return next((name for name in PARTS if question.recording in self[name].recordings), None)

    def select(self, name: PartName, questions: Iterable[Question]) -> tuple[Question, ...]:
        """Those of the questions whose recording is in the part, in their order."""
        recordings = frozenset(self[name].recordings)
        return tuple(question for question in questions if question.recording in recordings)


def partition(questions: Iterable[Question], shares: tuple[float, float, float] = SHARES, seed: int = 0) -> Partition:
    """Split questions into train, dev and test by their recordings.

    The recordings are put in an order that a hash of seed and name decides, whatever the order of the questions. Then
    each goes, with all its questions, to the part that is furthest below its share. Same questions, shares and seed:
    same partition, on every machine.

    Args:
        questions: All questions of the benchmark's split.
        shares: Aimed at for train, dev and test; they add up to 1.
        seed: Another one gives another partition.

    Raises:
        InputError: The shares are not three numbers from 0 to 1 that add up to 1.
    """
    if len(shares) != len(PARTS) or not all(0 <= s <= 1 for s in shares) or not math.isclose(sum(shares), 1):
        raise InputError(f"shares of train, dev and test must be three numbers that add up to 1, not {shares}")
    by_recording: dict[str, list[Question]] = {}
    for question in questions:
        by_recording.setdefault(question.recording, []).append(question)
    count = sum(len(group) for group in by_recording.values())
    order = sorted(by_recording, key=lambda name: (hashlib.sha256(f"{seed}\n{name}".encode()).digest(), name))
    wanted = [share * count for share in shares]
    members: list[list[str]] = [[], [], []]
    for name in order:
        lowest = max(range(len(PARTS)), key=lambda i: (wanted[i], -i))
        members[lowest].append(name)
        wanted[lowest] -= len(by_recording[name])
    train, dev, test = (
        Part(recordings=tuple(sorted(names)), ids=tuple(sorted(q.id for name in names for q in by_recording[name])))
        for names in members
    )
    aimed = (float(shares[0]), float(shares[1]), float(shares[2]))
    made = _hash(seed, aimed, train, dev, test)
    return Partition(seed=seed, shares=aimed, train=train, dev=dev, test=test, content_hash=made)


def overlap(questions: Iterable[Question], others: Iterable[Question]) -> tuple[tuple[str, str], ...]:
    """Questions that two sets have in common, such as IntentQA's and NExT-QA's: tuning on one has seen the other.

    They count as the same when video, text and the options, in any order, are equal but for case and spacing.

    Returns:
        Pairs of their ids, in the order of `questions`.
    """
    known = {_content(other): other.id for other in others}
    return tuple((q.id, known[content]) for q in questions if (content := _content(q)) in known)


def _content(question: Question) -> tuple[str, ...]:
    options = sorted(" ".join(option.casefold().split()) for option in question.options)
    return (question.video, " ".join(question.text.casefold().split()), *options)


def _hash(seed: int, shares: tuple[float, float, float], *parts: Part) -> str:
    texts = (str(seed), *map(repr, shares), *(part.model_dump_json() for part in parts))
    return hashlib.sha256("\n".join(texts).encode()).hexdigest()
