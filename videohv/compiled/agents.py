"""What the agents of a program are told, as values; and a program told what such values say, field by field by name."""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dspy

from videohv.compiled.artifact import Agent, AgentField, Demo
from videohv.compiled.fingerprint import digest, field_kinds
from videohv.compiled.public import public
from videohv.compiled.values import plain_json
from videohv.errors import ProgramError
from videohv.lm.redact import without_keys
from videohv.types import whole

SOURCE = "source_question"
"""The key under which a demonstration in a predictor says which question it was taken from. No prompt shows it."""

_AUGMENTED = "augmented"


def agents_of(program: dspy.Module) -> tuple[Agent, ...]:
    """What each agent of a program is told; the models that they use are left out.

    Of a demonstration only what its agent has fields for is kept: raw rows of a benchmark name files. DSPy's own
    markers in it are broken up, and keys that a model has written down are taken out.

    Raises:
        ProgramError: A demonstration holds an image, or what JSON cannot say; names agent and field.
    """
    return tuple(_agent(name, predictor) for name, predictor in program.named_predictors())


def tell(program: dspy.Module, agents: Sequence[Agent]) -> None:
    """Have the agents of a program told what these say. The models that they use stay.

    Raises:
        ProgramError: The agents or their fields are not those of the program; nothing was changed.
    """
    if differences := tuple(misfits(program, agents)):
        raise ProgramError("; ".join(differences))
    told = {agent.name: agent for agent in agents}
    for name, predictor in program.named_predictors():
        lm, agent = predictor.lm, told[name]
        # The order of the fields is that of the signature, so that DSPy's way of loading by position fits.
        predictor.load_state(
            {
                "traces": [],
                "train": [],
                "demos": [_as_dspy(demo) for demo in agent.demos],
                "signature": {
                    "instructions": agent.instructions,
                    "fields": [{"prefix": field.prefix, "description": field.description} for field in agent.fields],
                },
                "lm": None,
            }
        )
        predictor.lm = lm


def agents_hash(agents: Sequence[Agent]) -> str:
    """`program_hash` of a program that is told this."""
    return digest(
        {
            agent.name: {
                "demos": [_as_dspy(demo) for demo in agent.demos],
                "signature": {
                    "instructions": agent.instructions,
                    "fields": [{"prefix": field.prefix, "description": field.description} for field in agent.fields],
                },
            }
            for agent in agents
        }
    )


def settled(agent: Agent) -> Agent:
    """The agent with its texts in the form in which they come out of DSPy as they went in.

    Raises:
        ProgramError: A demonstration holds what none may; names agent and field.
    """
    return Agent(
        name=agent.name,
        instructions=_instructions(agent.instructions),
        fields=tuple(
            AgentField(
                name=field.name, kind=field.kind, prefix=whole(field.prefix), description=whole(field.description)
            )
            for field in agent.fields
        ),
        demos=tuple(
            Demo(
                values={
                    key: plain_json(value, f"demonstration {number} of {agent.name}, field {key!r}")
                    for key, value in demo.values.items()
                },
                question=whole(demo.question),
            )
            for number, demo in enumerate(agent.demos, start=1)
        ),
    )


def misfits(program: dspy.Module, agents: Sequence[Agent]) -> Iterator[str]:
    """Why agents do not fit a program: a sentence for each agent or field that differs."""
    known = dict(program.named_predictors())
    names = [agent.name for agent in agents]
    if twice := sorted({name for name in names if names.count(name) > 1}):
        yield f"the agent {', '.join(twice)} is there twice"
    for name in names:
        if name not in known:
            yield f"it has an agent {name!r}, which this program lacks"
    for name in known:
        if name not in names:
            yield f"it has no agent {name!r}, which this program has"
    for agent in agents:
        if agent.name in known:
            stored = {field.name: field.kind for field in agent.fields}
            yield from _fields(agent.name, stored, field_kinds(known[agent.name].signature))
            yield from _demos(agent)


def _fields(agent: str, there: Mapping[str, str], here: Mapping[str, str]) -> Iterator[str]:
    lost, new = [f for f in here if f not in there], [f for f in there if f not in here]
    places = {name: place for place, name in enumerate(here)}
    for place, name in enumerate(there):
        if name in here:
            if there[name] != here[name]:
                yield f"the field {name!r} of {agent} is {there[name]!r} there and {here[name]!r} in this version"
        elif (own := next((f for f in lost if places[f] == place), None)) is not None:
            lost.remove(own)
            new.remove(name)
            yield f"the field {own!r} of {agent} is {name!r} there"
    for name in lost:
        yield f"the field {name!r} of {agent} is missing there"
    for name in new:
        yield f"the field {name!r} of {agent} is not in this version"
    if list(there) != list(here) and there.keys() == here.keys():
        yield f"the fields of {agent} are in another order there: {', '.join(there)}"


def _demos(agent: Agent) -> Iterator[str]:
    known = {field.name for field in agent.fields} | {_AUGMENTED}
    for number, demo in enumerate(agent.demos, start=1):
        if strange := sorted(demo.values.keys() - known):
            yield f"demonstration {number} of {agent.name} has a field {strange[0]!r}, which the agent lacks"


def _agent(name: str, predictor: Any) -> Agent:
    state = predictor.dump_state()
    kinds = field_kinds(predictor.signature)
    texts = state["signature"]
    made = Agent(
        name=name,
        instructions=without_keys(texts["instructions"]),
        fields=tuple(
            AgentField(
                name=field,
                kind=kind,
                prefix=without_keys(said["prefix"]),
                description=without_keys(said["description"]),
            )
            for (field, kind), said in zip(kinds.items(), texts["fields"], strict=True)
        ),
        demos=tuple(
            Demo(
                values={
                    key: plain_json(value, f"demonstration {number} of {name}, field {key!r}", clean=without_keys)
                    for key, value in demo.items()
                    if key in kinds or key == _AUGMENTED
                },
                question=public(str(demo.get(SOURCE) or "")),
            )
            for number, demo in enumerate(state["demos"], start=1)
        ),
    )
    return settled(made)


def _instructions(text: str) -> str:
    """As DSPy gives them back: it takes indentation off docstrings, and what is left may have some again."""
    while (cleaned := inspect.cleandoc(whole(text))) != text:
        text = cleaned
    return text


def _as_dspy(demo: Demo) -> dict[str, Any]:
    return {**demo.values, SOURCE: demo.question} if demo.question else dict(demo.values)
