"""Compiled programs: saved prompts and demonstrations of every agent, found by name or path, always JSON."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any

from videohv.errors import ProgramError
from videohv.modules.videohv import VideoHV


def shipped() -> tuple[str, ...]:
    """Names of the programs that come with the package."""
    return tuple(
        sorted(f.name.removesuffix(".json") for f in resources.files(__name__).iterdir() if f.name.endswith(".json"))
    )


def load_program(name: str | Path, into: VideoHV | None = None) -> VideoHV:
    """A program with the instructions and demonstrations of a saved one.

    Args:
        name: A shipped name, or a JSON file written by `VideoHV.save`.
        into: Loaded into this one, whose settings stay; None makes a new one.

    Raises:
        ProgramError: If there is no such program, or it was saved with other agents or other signature fields.
    """
    program = into if into is not None else VideoHV()
    source = str(name)
    state = _read(source)
    known = dict(program.named_predictors())
    saved = {key: value for key, value in state.items() if key != "metadata"}
    if saved.keys() != known.keys():
        differing = ", ".join(sorted(saved.keys() ^ known.keys()))
        raise ProgramError(f"{source}: the saved agents differ from this version's in {differing}; compile it anew")
    for agent, predictor in known.items():
        # DSPy assigns saved field texts by position: a renamed or inserted field would shift them in silence.
        fields = [field.json_schema_extra["prefix"] for field in predictor.signature.fields.values()]
        stored = [field["prefix"] for field in saved[agent]["signature"]["fields"]]
        if fields != stored:
            names = ", ".join(
                f.rstrip(":") for f in dict.fromkeys([*stored, *fields]) if (f in stored) != (f in fields)
            )
            what = names or "their order"
            raise ProgramError(f"{source}: the fields of {agent} differ from this version's ({what}); compile it anew")
    program.load_state(state)
    return program


def _read(source: str) -> dict[str, Any]:
    path = Path(source)
    if not path.is_file():
        packaged = resources.files(__name__) / f"{source}.json"
        if not packaged.is_file():
            names = ", ".join(shipped()) or "none yet"
            raise ProgramError(f"no program {source!r}: it is neither a file nor one of the shipped names ({names})")
        text = packaged.read_text(encoding="utf-8")
    else:
        text = path.read_text(encoding="utf-8", errors="replace")
    try:
        state = json.loads(text)
        assert isinstance(state, dict)
        for agent in state:
            assert agent == "metadata" or isinstance(state[agent]["signature"]["fields"], list)
    except (ValueError, AssertionError, KeyError, TypeError) as error:
        raise ProgramError(f"{source}: this is not a program saved as JSON by VideoHV.save") from error
    return state
