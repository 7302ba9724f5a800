"""Programs as DSPy's own `save` writes them: read by position, since they say no more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dspy
from pydantic import BaseModel, TypeAdapter, ValidationError

from videohv.compiled.agents import SOURCE, settled
from videohv.compiled.artifact import Agent, AgentField, Demo
from videohv.compiled.fingerprint import field_kinds
from videohv.errors import ProgramError


class _Field(BaseModel):
    prefix: str
    description: str


class _Signature(BaseModel):
    instructions: str
    fields: list[_Field]


class _Agent(BaseModel):
    """What DSPy saves of a predictor, as far as it is loaded. The LM is not."""

    demos: list[dict[str, Any]]
    signature: _Signature


_AGENTS = TypeAdapter(dict[str, _Agent])


def saved_agents(state: Mapping[str, Any], program: dspy.Module, source: str) -> tuple[Agent, ...]:
    """What a saved state says to the agents of a program.

    Of demonstrations what the agent has no field for is left out, and DSPy's own markers in them are broken up.

    Raises:
        ProgramError: It is no such state, or of other agents or fields; or a demonstration holds an image.
    """
    try:
        saved = _AGENTS.validate_python({name: value for name, value in state.items() if name != "metadata"})
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        raise ProgramError(
            f"{source}: this is not a program saved as JSON by VideoHV.save ({where}: {first['msg']})"
        ) from error
    known = dict(program.named_predictors())
    if saved.keys() != known.keys():
        differing = ", ".join(sorted(saved.keys() ^ known.keys()))
        raise ProgramError(
            f"{source}: the saved agents differ from those of method {getattr(program, 'method', '?')!r} in "
            f"{differing}; load it into the method that it was compiled for, or compile it anew"
        )
    return tuple(_agent(name, saved[name], predictor.signature, source) for name, predictor in known.items())


def _agent(name: str, saved: _Agent, signature: type[dspy.Signature], source: str) -> Agent:
    # The prefixes alone say which field is meant. The last one's is part of the prompt that an optimizer may have
    # rewritten.
    fields = [field.json_schema_extra["prefix"] for field in signature.fields.values()]
    stored = [field.prefix for field in saved.signature.fields]
    if len(fields) != len(stored) or fields[:-1] != stored[:-1]:
        names = [f for f in dict.fromkeys([*stored, *fields]) if (f in stored) != (f in fields)]
        what = ", ".join(field.rstrip(":") for field in names) or "their order"
        raise ProgramError(f"{source}: the fields of {name} differ from this version's ({what}); compile it anew")
    kinds = field_kinds(signature)
    try:
        return settled(
            Agent(
                name=name,
                instructions=saved.signature.instructions,
                fields=tuple(
                    AgentField(name=field, kind=kind, prefix=said.prefix, description=said.description)
                    for (field, kind), said in zip(kinds.items(), saved.signature.fields, strict=True)
                ),
                demos=tuple(
                    Demo(
                        values={key: value for key, value in demo.items() if key in kinds or key == "augmented"},
                        question=str(demo.get(SOURCE) or ""),
                    )
                    for demo in saved.demos
                ),
            )
        )
    except ProgramError as error:
        raise ProgramError(f"{source}: {error}") from error
