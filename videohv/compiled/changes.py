"""What one program's agents are told and another's are not."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from videohv.compiled.artifact import Agent, Demo
from videohv.errors import ProgramError
from videohv.types import Value


class Texts(Value):
    """A text before and after."""

    before: str
    after: str


class FieldChange(Value):
    """A field whose prefix or description differs; None is a text that is the same.

    Args:
        name: In the signature.
        prefix: How the field is announced.
        description: What the agent is told about it.
    """

    name: str
    prefix: Texts | None = None
    description: Texts | None = None


class AgentChange(Value):
    """What differs for one agent.

    Args:
        agent: Its name.
        instructions: None if they are the same.
        fields: Those that differ.
        added: Demonstrations that are only in the second program.
        removed: Those that are only in the first.
        kept: How many are in both.
        reordered: Whether those in both are shown in another order.
    """

    agent: str
    instructions: Texts | None = None
    fields: tuple[FieldChange, ...] = ()
    added: tuple[Demo, ...] = ()
    removed: tuple[Demo, ...] = ()
    kept: int = 0
    reordered: bool = False


def changes(before: Sequence[Agent], after: Sequence[Agent]) -> tuple[AgentChange, ...]:
    """The agents that are told something else, in the order of the second program.

    Raises:
        ProgramError: The programs have other agents or fields.
    """
    first, second = {agent.name: agent for agent in before}, {agent.name: agent for agent in after}
    if first.keys() != second.keys():
        raise ProgramError(f"the programs differ in their agents: {', '.join(sorted(first.keys() ^ second.keys()))}")
    made = (_change(first[name], agent) for name, agent in second.items())
    return tuple(change for change in made if change is not None)


def _change(a: Agent, b: Agent) -> AgentChange | None:
    if [(f.name, f.kind) for f in a.fields] != [(f.name, f.kind) for f in b.fields]:
        raise ProgramError(f"the programs differ in the fields of {b.name}")
    added, removed = _without(b.demos, a.demos), _without(a.demos, b.demos)
    in_a, in_b = _without(a.demos, removed), _without(b.demos, added)
    change = AgentChange(
        agent=b.name,
        instructions=_texts(a.instructions, b.instructions),
        fields=tuple(_fields(a, b)),
        added=added,
        removed=removed,
        kept=len(in_b),
        reordered=in_a != in_b,
    )
    same = AgentChange(agent=b.name, kept=len(in_b))
    return change if change != same else None


def _fields(a: Agent, b: Agent) -> Iterator[FieldChange]:
    for before, after in zip(a.fields, b.fields, strict=True):
        if before != after:
            yield FieldChange(
                name=after.name,
                prefix=_texts(before.prefix, after.prefix),
                description=_texts(before.description, after.description),
            )


def _texts(before: str, after: str) -> Texts | None:
    return Texts(before=before, after=after) if before != after else None


def _without(demos: Sequence[Demo], others: Sequence[Demo]) -> tuple[Demo, ...]:
    """The demonstrations less the others, each as often as it is there more often."""
    left = list(others)
    kept = []
    for demo in demos:
        if demo in left:
            left.remove(demo)
        else:
            kept.append(demo)
    return tuple(kept)
