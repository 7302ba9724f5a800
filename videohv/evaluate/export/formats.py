"""The seam for export formats: a function from answers to the text of a file, registered by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

from videohv.errors import InputError

_BUILT_IN = ("egoschema", "kaggle", "videomme")


class Answers(NamedTuple):
    """What a format is made from.

    Args:
        ids: All question ids of the run, in the order of the benchmark.
        given: The chosen option of each answered question, counted from 0 in the benchmark's own order.
        without: How each of the others ended: an outcome, or `not finished`.
        annotations: The authors' annotation file, for formats that copy it; None if not given.
    """

    ids: tuple[str, ...]
    given: Mapping[str, int]
    without: Mapping[str, str]
    annotations: Path | None = None


class Format(NamedTuple):
    """An export format.

    Args:
        name: As in `--format`.
        benchmark: The benchmark that it is for.
        suffix: Of its files, with the dot.
        about: What it is, in a few words.
        complete: Whether every question must have an answer.
        write: Makes the file's text; raises `InputError` for what cannot be written.
    """

    name: str
    benchmark: str
    suffix: str
    about: str
    complete: bool
    write: Callable[[Answers], str]


_FORMATS: dict[str, Format] = {}


def export_format(
    name: str, *, benchmark: str, suffix: str, about: str, complete: bool = True
) -> Callable[[Callable[[Answers], str]], Callable[[Answers], str]]:
    """Register a format; the arguments are those of `Format`. A later one of the same name replaces an earlier one."""

    def register(write: Callable[[Answers], str]) -> Callable[[Answers], str]:
        _FORMATS[name] = Format(name, benchmark, suffix, about, complete, write)
        return write

    return register


def export_formats() -> tuple[Format, ...]:
    """All formats, in the order of their registration."""
    for module in _BUILT_IN:
        importlib.import_module(f"videohv.evaluate.export.{module}")
    return tuple(_FORMATS.values())


def get_format(name: str) -> Format:
    """The format of that name.

    Raises:
        InputError: If there is none.
    """
    known = {made.name: made for made in export_formats()}
    if name not in known:
        raise InputError(f"no export format is called {name!r}; known: {', '.join(known)}")
    return known[name]
