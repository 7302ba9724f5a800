"""Methods by name: the hypothesis–verification program, its rivals, and whatever else is registered."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from pydantic import ValidationError

from videohv.errors import InputError
from videohv.modules.program import VideoProgram
from videohv.modules.settings import MethodSettings

Program = TypeVar("Program", bound=type[VideoProgram])

_methods: dict[str, type[VideoProgram]] = {}


def method(name: str) -> Callable[[Program], Program]:
    """Register a `VideoProgram` under a name, which every trace of it carries.

    Args:
        name: What `make_method` and the command line know it by.

    Raises:
        InputError: The name is taken by another method.
    """

    def register(program: Program) -> Program:
        known = _methods.get(name)
        if known is not None and _origin(known) != _origin(program):
            raise InputError(f"method {name!r} is already registered by {'.'.join(_origin(known))}: use another name")
        program.method = name
        _methods[name] = program
        return program

    return register


def method_names() -> tuple[str, ...]:
    """The names of all registered methods, sorted."""
    return tuple(sorted(_methods))


def make_method(
    name: str,
    settings: MethodSettings | None = None,
    *,
    captioner: str = "auto",
    store: Path | None = None,
    **changes: Any,
) -> VideoProgram:
    """A new program of the method that is registered under a name.

    Args:
        name: One of `method_names()`.
        settings: As the method takes them, or a `MethodSettings` with what all methods share.
        captioner: How captions are made when none are given.
        store: SQLite file in which captions are kept; None is the one in the user's cache.
        **changes: Single settings by name.

    Raises:
        InputError: There is no such method or captioner, or the method has no such setting or not with that value.
    """
    if name not in _methods:
        raise InputError(f"no method is called {name!r}; known methods: {', '.join(method_names())}")
    kind = _methods[name]
    try:
        return kind(settings, captioner=captioner, store=store, **changes)
    except ValidationError as error:
        raise InputError("; ".join(_problem(kind, problem) for problem in error.errors())) from error


def _problem(kind: type[VideoProgram], problem: Any) -> str:
    setting = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        known = ", ".join(sorted(kind.settings_type.model_fields))
        return f"method {kind.method!r} has no setting {setting!r}; it has: {known}"
    return f"setting {setting!r} of method {kind.method!r}: {problem['msg']}"


def _origin(program: type[VideoProgram]) -> tuple[str, str]:
    """Where a program was defined: the same for a module that is loaded a second time."""
    return program.__module__, program.__qualname__
