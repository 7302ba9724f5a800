"""The file of a compiled program: JSON with its form, its version and a hash over all of it. Never a pickle."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn

from pydantic import ValidationError

from videohv.compiled.agents import agents_hash, settled
from videohv.compiled.artifact import Artifact
from videohv.compiled.fingerprint import content_sha256
from videohv.compiled.public import publicly
from videohv.compiled.values import DEEPEST
from videohv.data.whole import write_whole
from videohv.errors import ProgramError

FORMAT = "videohv-program"
SCHEMA_VERSION = 1
LARGEST = 16_000_000
"""Bytes of a file; a program with sixteen demonstrations for each of eight agents has less than a tenth of that."""


def write_artifact(path: Path, artifact: Artifact) -> Artifact:
    """Write a compiled program, whole or not at all.

    Keys, addresses and directories are taken out of all that is recorded of how it was made.

    Args:
        path: The file; one that is there is replaced.
        artifact: Its agents as `agents_of` gives them.

    Returns:
        What was written: `read_artifact` gives the same.

    Raises:
        ProgramError: Its hash is not that of its agents, or they hold what no demonstration may.
        InputError: The file cannot be written.
    """
    told = artifact.model_dump(mode="json", include={"agents", "program_hash"})
    recorded = publicly(artifact.model_dump(mode="json", exclude={"agents", "program_hash"}))
    program = {name: {**recorded, **told}[name] for name in Artifact.model_fields}
    _finite(program, str(path.name))
    written = _checked(program, path.name)
    sealed = {"format": FORMAT, "schema_version": SCHEMA_VERSION, "sha256": content_sha256(program), "program": program}
    text = json.dumps(sealed, indent=1, ensure_ascii=False, allow_nan=False)
    if len(text.encode()) > LARGEST:
        raise ProgramError(f"{path.name}: the program has {len(text.encode()):,} bytes; at most {LARGEST:,} are read")
    write_whole(path, text + "\n")
    return written


def is_envelope(saved: Mapping[str, Any]) -> bool:
    """Whether a JSON object is meant as the file of a compiled program, and not as DSPy's."""
    return "format" in saved


def opened(saved: Mapping[str, Any], source: str) -> Artifact:
    """The compiled program in the JSON object of its file.

    Raises:
        ProgramError: It is of another form or a newer version, was changed or damaged, or holds what no demonstration
            may.
    """
    if saved.get("format") != FORMAT:
        raise ProgramError(f"{source}: its format is {str(saved.get('format'))[:40]!r}, not {FORMAT!r}")
    version = saved.get("schema_version")
    if not isinstance(version, int) or isinstance(version, bool) or version < 1:
        raise ProgramError(f"{source}: its schema_version is {str(version)[:40]!r}, no number from 1 on")
    if version > SCHEMA_VERSION:
        raise ProgramError(
            f"{source}: it has schema version {version} and this videohv knows them up to {SCHEMA_VERSION}: "
            "update videohv, or compile it anew"
        )
    program = saved.get("program")
    if not isinstance(program, dict):
        raise ProgramError(f"{source}: there is no program in it")
    if saved.get("sha256") != content_sha256(program):
        raise ProgramError(f"{source}: it was changed since it was written: its sha256 does not fit its content")
    return _checked(program, source)


def parsed(text: str, source: str) -> dict[str, Any]:
    """The JSON object in a text.

    Raises:
        ProgramError: It is none, or holds numbers that are none, or is nested without end.
    """
    try:
        found = json.loads(text, parse_constant=_no_number)
    except RecursionError:
        raise ProgramError(f"{source}: this is not a program saved as JSON (nested without end)") from None
    except ValueError as error:
        raise ProgramError(f"{source}: this is not a program saved as JSON ({error})") from error
    if not isinstance(found, dict):
        raise ProgramError(f"{source}: this is not a program saved as JSON (it is no object)")
    _finite(found, source)
    return found


def _checked(program: dict[str, Any], source: str) -> Artifact:
    try:
        artifact = Artifact.model_validate(program)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise ProgramError(f"{source}: this is not a program of this version ({where}: {first['msg']})") from error
    for agent in artifact.agents:
        if settled(agent) != agent:
            raise ProgramError(f"{source}: the texts of {agent.name} hold DSPy's own markers or broken characters")
    if agents_hash(artifact.agents) != artifact.program_hash:
        raise ProgramError(f"{source}: its program_hash is not that of the agents in it")
    return artifact


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text} is no number")


def _finite(value: Any, source: str) -> None:
    """Refuse what is nested too deep to be worked with, and numbers too large to be any."""
    level: list[Any] = [value]
    for _ in range(DEEPEST + 16):
        if not level:
            return
        if any(isinstance(item, float) and not math.isfinite(item) for item in level):
            raise ProgramError(f"{source}: this is not a program saved as JSON (it holds a number that is none)")
        level = [
            inner
            for item in level
            if isinstance(item, dict | list)
            for inner in (item.values() if isinstance(item, dict) else item)
        ]
    raise ProgramError(f"{source}: this is not a program saved as JSON (nested without end)")
