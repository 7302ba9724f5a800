"""What makes a run reproducible, written beside its results, and the differences that forbid to go on with it."""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterator
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import Any

from pydantic import Field, ValidationError

import videohv
from videohv.data.whole import write_whole
from videohv.errors import InputError
from videohv.types import Model, Value

NAME = "manifest.json"


class Recorded(Value):
    """What is worth knowing of a run's beginning, and changes nothing in its results."""

    created: str = ""
    python: str = platform.python_version()
    system: str = f"{platform.system()} {platform.machine()}"
    cores: int = os.cpu_count() or 0
    concurrency: int = 1


class Manifest(Value):
    """What makes a run what it is.

    Args:
        benchmark: Name in the registry.
        split: Of the benchmark.
        part: train, dev or test of the split, or empty for all of it.
        source: Where the questions came from.
        data_hash: Over the questions, as they were asked.
        question_ids: In the order in which they are asked.
        labelled: Questions whose right option is known.
        refused: Rows of the source that could not be used.
        orders: Option orders under which each question is asked.
        method: Name in the registry of methods.
        settings: Of the method, without those that change only its speed.
        program: Name of the compiled program, or empty.
        program_hash: Over the instructions and demonstrations of all agents.
        signatures: (agent, hash of its fields).
        models: Which role uses which.
        captioner: Who captions what has no captions.
        captions: Name of the captions file, or empty.
        captions_hash: Over its content.
        stride: Of these captions every n-th one was used.
        videos: Whether video files were given.
        seed: For sampling and option orders.
        code: Version of videohv and a hash of its source.
        dspy: Version.
        recorded: What does not count when a run is resumed.
    """

    schema_version: int = 1
    benchmark: str
    split: str = ""
    part: str = ""
    source: str = ""
    data_hash: str = ""
    question_ids: tuple[str, ...] = ()
    labelled: int = 0
    refused: int = 0
    orders: int = 1
    method: str = "videohv"
    settings: dict[str, Any] = Field(default_factory=dict)
    program: str = ""
    program_hash: str = ""
    signatures: tuple[tuple[str, str], ...] = ()
    models: tuple[Model, ...] = ()
    captioner: str = ""
    captions: str = ""
    captions_hash: str = ""
    stride: int = 1
    videos: bool = False
    seed: int = 0
    code: str = ""
    dspy: str = ""
    recorded: Recorded = Recorded()

    @property
    def identity(self) -> str:
        """Hash over everything that counts: runs of one identity ask the same questions in the same way."""
        counted = self.model_dump(mode="json", exclude={"recorded"})
        return hashlib.sha256(json.dumps(counted, sort_keys=True).encode()).hexdigest()

    @property
    def title(self) -> str:
        """Benchmark, split and part as the command line names them."""
        return self.benchmark + (f":{self.split}" if self.split else "") + (f"/{self.part}" if self.part else "")

    def differences(self, other: Manifest) -> list[str]:
        """A line for everything that counts and is not the same in `other`."""
        ours = dict(_flat(self.model_dump(mode="json", exclude={"recorded", "question_ids"})))
        theirs = dict(_flat(other.model_dump(mode="json", exclude={"recorded", "question_ids"})))
        lines = [
            f"{name}: {_short(ours.get(name, '(none)'))} then, {_short(theirs.get(name, '(none)'))} now"
            for name in sorted({*ours, *theirs})
            if ours.get(name) != theirs.get(name)
        ]
        if self.question_ids != other.question_ids:
            lost, new = (
                set(self.question_ids) - set(other.question_ids),
                set(other.question_ids) - set(self.question_ids),
            )
            what = f"{len(lost)} left out, {len(new)} added" if lost or new else "in another order"
            lines.insert(0, f"questions: {len(self.question_ids)} then, {len(other.question_ids)} now ({what})")
        return lines


def open_manifest(folder: Path, wanted: Manifest) -> Manifest:
    """The manifest of the run in a directory: written when there is none, compared when there is one.

    Raises:
        InputError: If the run was made with something else; the message names every difference. Or it can't be written.
    """
    if (folder / NAME).is_file():
        standing = read_manifest(folder)
        if differences := standing.differences(wanted):
            raise InputError(
                f"{folder} holds a run that was made differently; name another --out, or ask as it did:\n  "
                + "\n  ".join(differences)
            )
        return standing
    write_whole(folder / NAME, wanted.model_dump_json(indent=1))
    return wanted


def read_manifest(folder: Path) -> Manifest:
    """The manifest of a run.

    Raises:
        InputError: If there is none, or it is not one that this version knows.
    """
    try:
        return Manifest.model_validate_json((folder / NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise InputError(f"{folder} holds no run: {NAME} is not there") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{folder / NAME} cannot be read ({error})") from error
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise InputError(f"{folder / NAME} is no manifest that this version knows ({where}: {first['msg']})") from error


@lru_cache(maxsize=1)
def code_version() -> str:
    """Version of videohv and the first digits of a hash over its source, which a changed checkout changes."""
    root = Path(videohv.__file__).parent
    digest = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return f"{videohv.__version__}+{digest.hexdigest()[:12]}"


def dspy_version() -> str:
    """Version of the installed DSPy."""
    return metadata.version("dspy")


def _flat(value: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """(dotted name, leaf) pairs; items of lists are named by their role or first item where they have one."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _flat(item, f"{name}.{key}" if name else key)
    elif isinstance(value, list) and value and all(isinstance(item, dict) and "role" in item for item in value):
        for item in value:
            yield from _flat({k: v for k, v in item.items() if k != "role"}, f"{name}.{item['role']}")
    elif isinstance(value, list) and value and all(isinstance(item, list) and len(item) == 2 for item in value):
        for key, item in value:
            yield f"{name}.{key}", item
    else:
        yield name, value


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= 40 else f"{text[:12]}…"
