"""Compiled programs: what every agent is told, with how it came about, found by name or path, always JSON."""

from __future__ import annotations

from importlib import resources
from pathlib import Path
from typing import TypeVar, overload

from videohv.compiled.agents import agents_of, tell
from videohv.compiled.artifact import Artifact
from videohv.compiled.envelope import LARGEST, is_envelope, opened, parsed, write_artifact
from videohv.compiled.fingerprint import program_hash
from videohv.compiled.saved import saved_agents
from videohv.errors import InputError, ProgramError
from videohv.modules.methods import make_method
from videohv.modules.program import VideoProgram
from videohv.modules.videohv import VideoHV

__all__ = [
    "Artifact",
    "agents_of",
    "load_program",
    "program_hash",
    "read_artifact",
    "shipped",
    "shipped_card",
    "write_artifact",
]

Program = TypeVar("Program", bound=VideoProgram)


def shipped() -> tuple[str, ...]:
    """Names of the programs that come with the package."""
    names = (file.name for file in resources.files(__name__).iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in names if name.endswith(".json")))


def shipped_card(name: str) -> str:
    """The card of a program that comes with the package, in Markdown; empty if it has none."""
    card = resources.files(__name__) / f"{name}.md"
    return card.read_text(encoding="utf-8") if name in shipped() and card.is_file() else ""


def read_artifact(name: str | Path) -> Artifact | None:
    """A compiled program with all that is recorded of it; None for one that DSPy's own `save` wrote.

    Args:
        name: A shipped name, or a file.

    Raises:
        ProgramError: There is no such program, or the file is damaged, of a newer version, or no program at all.
    """
    saved = parsed(_text(str(name)), str(name))
    return opened(saved, str(name)) if is_envelope(saved) else None


@overload
def load_program(name: str | Path, into: None = None) -> VideoProgram: ...


@overload
def load_program(name: str | Path, into: Program) -> Program: ...


def load_program(name: str | Path, into: VideoProgram | None = None) -> VideoProgram:
    """A program with the instructions and demonstrations of a saved one.

    A model that was saved with it is left out: which model is asked is for the caller to say, and a file from somebody
    else must not send captions elsewhere.

    Args:
        name: A shipped name, a file that `videohv compile` wrote, or one written by a program's `save`.
        into: Loaded into this one, whose settings and models stay. None makes a new one: of the method and with the
            settings that it was compiled with, or a `VideoHV` for what a program's `save` wrote.

    Raises:
        ProgramError: If there is no such program; it is of another method, or has other agents or other signature
            fields, which are named; or the file is damaged, of a newer version, or holds what no program may.
    """
    source = str(name)
    saved = parsed(_text(source), source)
    if not is_envelope(saved):
        program = into if into is not None else VideoHV()
        tell(program, saved_agents(saved, program, source))
        return program
    artifact = opened(saved, source)
    program = into if into is not None else _made(artifact, source)
    if program.method != artifact.method:
        raise ProgramError(
            f"{source}: it was compiled for method {artifact.method!r}; this one is {program.method!r}: "
            f"load it into a program of that method (--method {artifact.method}), or compile it anew"
        )
    try:
        tell(program, artifact.agents)
    except ProgramError as error:
        raise ProgramError(f"{source}: it does not fit this version: {error}; compile it anew") from error
    return program


def _made(artifact: Artifact, source: str) -> VideoProgram:
    try:
        known = make_method(artifact.method).settings_type.model_fields
        # What else a program can be made with says where files lie, which a file from somebody else must not say.
        if strange := sorted(artifact.settings.keys() - known.keys()):
            raise InputError(f"method {artifact.method!r} has no setting {strange[0]!r}")
        return make_method(artifact.method, **artifact.settings)
    except InputError as error:
        raise ProgramError(f"{source}: a program of its method cannot be made here: {error}") from error


def _text(source: str) -> str:
    try:
        path = Path(source)
        if not path.is_file():
            return _shipped_text(source)
        with path.open("rb") as file:
            content = file.read(LARGEST + 1)
    except OSError as error:
        raise ProgramError(f"{source}: the program cannot be read ({error.strerror})") from error
    except ValueError as error:
        raise ProgramError(f"{source}: the program cannot be read ({error})") from error
    if len(content) > LARGEST:
        raise ProgramError(f"{source}: this is not a program: it has more than {LARGEST:,} bytes")
    return content.decode("utf-8", errors="replace")


def _shipped_text(name: str) -> str:
    if name not in shipped():
        names = ", ".join(shipped()) or "none yet"
        raise ProgramError(f"no program {name!r}: it is neither a file nor one of the shipped names ({names})")
    return (resources.files(__name__) / f"{name}.json").read_text(encoding="utf-8")
