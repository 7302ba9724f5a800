"""Compiled programs: saved prompts and demonstrations of every agent, found by name or path, always JSON."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar, overload

from pydantic import BaseModel, TypeAdapter, ValidationError

from videohv.errors import ProgramError
from videohv.modules.program import VideoProgram
from videohv.modules.videohv import VideoHV

Program = TypeVar("Program", bound=VideoProgram)


class _Field(BaseModel):
    prefix: str
    description: str


class _Signature(BaseModel):
    instructions: str
    fields: list[_Field]


class _Agent(BaseModel):
    """What DSPy saves of a predictor, as far as it is loaded. The LM is not: see `load_program`."""

    demos: list[dict[str, Any]]
    signature: _Signature
    traces: list[Any] = []
    train: list[Any] = []


_AGENTS = TypeAdapter(dict[str, _Agent])


def shipped() -> tuple[str, ...]:
    """Names of the programs that come with the package."""
    names = (file.name for file in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in names if name.endswith(".json")))


@overload
def load_program(name: str | Path, into: None = None) -> VideoHV: ...


@overload
def load_program(name: str | Path, into: Program) -> Program: ...


def load_program(name: str | Path, into: VideoProgram | None = None) -> VideoProgram:
    """A program with the instructions and demonstrations of a saved one.

    A model that was saved with it is left out: which model is asked is for the caller to say, and a file from somebody
    else must not send captions elsewhere.

    Args:
        name: A shipped name, or a JSON file written by a program's `save`.
        into: Loaded into this one, of whatever method, whose settings and models stay; None makes a new `VideoHV`.

    Raises:
        ProgramError: If there is no such program, or it was saved with other agents or other signature fields.
    """
    program = into if into is not None else VideoHV()
    source = str(name)
    saved = _read(source)
    known = dict(program.named_predictors())
    if saved.keys() != known.keys():
        differing = ", ".join(sorted(saved.keys() ^ known.keys()))
        raise ProgramError(
            f"{source}: the saved agents differ from those of method {program.method!r} in {differing}; "
            "load it into the method that it was compiled for, or compile it anew"
        )
    for agent, predictor in known.items():
        # DSPy assigns saved field texts by position: a renamed or inserted field would shift them in silence. The last
        # field's prefix is part of the prompt that an optimizer may have rewritten.
        fields = [field.json_schema_extra["prefix"] for field in predictor.signature.fields.values()]
        stored = [field.prefix for field in saved[agent].signature.fields]
        if len(fields) != len(stored) or fields[:-1] != stored[:-1]:
            names = [f for f in dict.fromkeys([*stored, *fields]) if (f in stored) != (f in fields)]
            what = ", ".join(name.rstrip(":") for name in names) or "their order"
            raise ProgramError(f"{source}: the fields of {agent} differ from this version's ({what}); compile it anew")
    for agent, predictor in known.items():
        lm = predictor.lm
        predictor.load_state({**saved[agent].model_dump(), "lm": None})
        predictor.lm = lm
    return program


def _read(source: str) -> dict[str, _Agent]:
    try:
        path = Path(source)
        text = path.read_text(encoding="utf-8", errors="replace") if path.is_file() else _shipped_text(source)
    except OSError as error:
        raise ProgramError(f"{source}: the program cannot be read ({error.strerror})") from error
    try:
        state = json.loads(text)
        if isinstance(state, dict):
            state.pop("metadata", None)
        return _AGENTS.validate_python(state)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"]) or "the whole"
        reason = f"{where}: {first['msg']}"
    except (ValueError, RecursionError) as error:
        reason = str(error)
    raise ProgramError(f"{source}: this is not a program saved as JSON by VideoHV.save ({reason})")


def _shipped_text(name: str) -> str:
    if name not in shipped():
        names = ", ".join(shipped()) or "none yet"
        raise ProgramError(f"no program {name!r}: it is neither a file nor one of the shipped names ({names})")
    return (resources.files(__name__) / f"{name}.json").read_text(encoding="utf-8")
