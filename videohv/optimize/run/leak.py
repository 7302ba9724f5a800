"""Held-out questions that have got into prompts: a program that was shown one of them is not measured by it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import dspy

from videohv.compiled.agents import agents_of
from videohv.compiled.artifact import Agent, Demo
from videohv.data.partition import PartName, overlap
from videohv.errors import VideoHVError
from videohv.modules.ask import plain
from videohv.optimize.run.split import Parts
from videohv.types import Question, Value

_SHOWN = 5
_LEAST = 12
"""Characters of a question below which finding its text in a longer one means nothing."""

_ASKED = "question"
"""The field in which agents that are told the question have it."""


class Leak(Value):
    """A held-out question in a prompt.

    Args:
        agent: Whose prompt, as in `named_predictors()`.
        demo: Number of the demonstration, from 1; 0 if it stands in the instructions.
        question: Id of the held-out question.
        part: dev or test.
        why: How it was told.
    """

    agent: str
    demo: int
    question: str
    part: PartName
    why: str

    def __str__(self) -> str:
        where = f"demonstration {self.demo}" if self.demo else "the instructions"
        return f"{where} of {self.agent}: {self.why} (question {self.question!r} of {self.part})"


class LeakError(VideoHVError):
    """Held-out questions are in the prompts of a program.

    Args:
        leaks: All of them.
    """

    def __init__(self, leaks: Sequence[Leak]) -> None:
        self.leaks = tuple(leaks)
        told = "; ".join(map(str, self.leaks[:_SHOWN])) + ("; …" if len(self.leaks) > _SHOWN else "")
        super().__init__(f"{len(self.leaks)} held-out questions are in the prompts: {told}")


def check_leak(program: dspy.Module, parts: Parts, others: Iterable[Question] = ()) -> None:
    """Make sure that no demonstration is of a question, or of a recording, of the dev or test part.

    Args:
        program: With its demonstrations.
        parts: Of the compile.
        others: More questions of the split, by which recordings are known of demonstrations from outside the parts.

    Raises:
        LeakError: One is; it names agent, demonstration and question of each.
    """
    if found := leaks(program, parts, others):
        raise LeakError(found)


def leaks(program: dspy.Module, parts: Parts, others: Iterable[Question] = ()) -> tuple[Leak, ...]:
    """The held-out questions that are in a program's prompts.

    A demonstration whose question is recorded is judged by that question: its id, its content under whatever id, and
    its recording. One whose question is not recorded, or not known here, is judged by its text: it is of the question
    whose text it holds, and of several with one text (EgoSchema asks the same of many videos) of the one of whose
    options it holds most; where train and held-out questions are alike in that, it is taken to be of train. So are
    instructions, if they hold an option too.
    """
    search = _Search(parts, others)
    return tuple(leak for agent in agents_of(program) for leak in search.agent(agent))


class _Search:
    def __init__(self, parts: Parts, others: Iterable[Question]) -> None:
        self._held: dict[str, tuple[Question, PartName]] = {
            **{question.id: (question, "dev") for question in parts.dev},
            **{question.id: (question, "test") for question in parts.test},
        }
        self._free = {q.id: q for q in (*others, *parts.train) if q.id not in self._held}
        self._recordings = {question.recording: question.id for question, _ in self._held.values()}
        self._texts = [(question, _folded(question.text)) for question in (*parts.train, *parts.dev, *parts.test)]

    def agent(self, agent: Agent) -> Iterator[Leak]:
        if (question := self._told(agent.instructions)) is not None:
            yield self._leak(agent, 0, question, "they hold its text and options")
        for number, demo in enumerate(agent.demos, start=1):
            yield from self._demo(agent, number, demo)

    def _demo(self, agent: Agent, number: int, demo: Demo) -> Iterator[Leak]:
        if demo.question in self._held:
            yield self._leak(agent, number, demo.question, "it was taken from it")
        elif demo.question in self._free:
            yield from self._of_train(agent, number, self._free[demo.question])
        elif (question := self._told("\n".join(_leaves(demo.values)), demo.values.get(_ASKED), least=0)) is not None:
            yield self._leak(agent, number, question, "it holds its text")

    def _of_train(self, agent: Agent, number: int, source: Question) -> Iterator[Leak]:
        for _, same in overlap([source], (question for question, _ in self._held.values())):
            yield self._leak(agent, number, same, f"it was taken from {source.id!r}, which is the same question")
            return
        if source.recording in self._recordings:
            other = self._recordings[source.recording]
            yield self._leak(agent, number, other, f"it was taken from {source.id!r}, which is of the same recording")

    def _told(self, text: str, question_field: object = None, least: int = 1) -> str | None:
        """Id of the held-out question that a text is about; it holds at least so many of its options."""
        folded = _folded(text)
        whole = _folded(question_field) if isinstance(question_field, str) else None
        best: dict[bool, tuple[int, str]] = {}
        for question, asked in self._texts:
            if asked != whole if whole is not None else len(asked) < _LEAST or asked not in folded:
                continue
            options = {_folded(option) for option in question.options}
            found = sum(option in folded for option in options)
            held = question.id in self._held
            if found >= least and (held not in best or found > best[held][0]):
                best[held] = (found, question.id)
        if True in best and (False not in best or best[True][0] > best[False][0]):
            return best[True][1]
        return None

    def _leak(self, agent: Agent, demo: int, question: str, why: str) -> Leak:
        return Leak(agent=agent.name, demo=demo, question=question, part=self._held[question][1], why=why)


def _leaves(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from _leaves(item)
    elif isinstance(value, list):
        for item in value:
            yield from _leaves(item)


def _folded(text: str) -> str:
    # As it stands in a prompt, where DSPy's own markers are broken up.
    return " ".join(plain(text).casefold().split())
