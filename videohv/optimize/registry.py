"""Optimizers by name: DSPy's teleprompters behind one small protocol, and whatever else is registered."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Literal, NamedTuple, Protocol, TypeVar

from pydantic import ValidationError

from videohv.errors import InputError
from videohv.modules.program import VideoProgram
from videohv.optimize.task import Task
from videohv.types import Value

Preset = Literal["light", "medium", "heavy"]
PRESETS: tuple[Preset, ...] = ("light", "medium", "heavy")


class Options(Value):
    """What an optimizer lets its user choose. Each has a subclass of its own, and its presets."""

    presets: ClassVar[Mapping[Preset, Mapping[str, Any]]] = {}


class Plan(NamedTuple):
    """About what an optimizer will do: how often the whole program runs, and how often a model writes prompts."""

    program_runs: int
    prompt_calls: int = 0


class Optimizer(Protocol):
    """Improves a program."""

    options_type: ClassVar[type[Options]]
    options: Any
    """What it was made with, of `options_type`."""
    uses_demos: ClassVar[bool]
    """Whether it puts demonstrations into prompts."""

    def __init__(self, options: Any) -> None: ...

    def plan(self, task: Task) -> Plan:
        """An upper estimate of the work, for the cost estimate before any of it is done."""
        ...

    def improve(self, task: Task) -> VideoProgram:
        """A copy of the task's program, of the same class and settings, with better prompts or demonstrations.

        Only the agents in `task.roles` differ. No model is bound to it.

        Raises:
            OptimizerFailed: It ended without a result, and says why.
        """
        ...


Kind = TypeVar("Kind", bound=type[Any])

_optimizers: dict[str, type[Any]] = {}
_BUILT_IN = ("bootstrap", "copro", "gepa", "knn", "labeled", "mipro", "optuna_search", "random_search", "simba")


def optimizer(name: str) -> Callable[[Kind], Kind]:
    """Register an optimizer class under a name.

    Raises:
        InputError: The name is taken.
    """

    def register(kind: Kind) -> Kind:
        if name in _optimizers:
            raise InputError(f"there is already an optimizer named {name!r}; choose another name")
        kind.name = name
        _optimizers[name] = kind
        return kind

    return register


def optimizer_names() -> tuple[str, ...]:
    """The names of all registered optimizers, sorted."""
    return tuple(sorted(_registered()))


def optimizer_options(name: str) -> type[Options]:
    """The class of the options of the optimizer of that name.

    Raises:
        InputError: There is none.
    """
    known: type[Options] = _optimizer(name).options_type
    return known


def make_optimizer(name: str, options: Mapping[str, Any] | None = None, preset: Preset = "light") -> Optimizer:
    """An optimizer with its options; those that are not given are the preset's.

    Raises:
        InputError: There is no such optimizer, or it has no such option or not with that value; names it.
    """
    kind = _optimizer(name)
    known: type[Options] = kind.options_type
    try:
        chosen = known.model_validate({**known.presets.get(preset, {}), **(options or {})})
    except ValidationError as error:
        raise InputError("; ".join(_problem(name, known, problem) for problem in error.errors())) from error
    made: Optimizer = kind(chosen)
    return made


def _optimizer(name: str) -> type[Any]:
    if name not in _registered():
        raise InputError(f"no optimizer is called {name!r}; known optimizers: {', '.join(optimizer_names())}")
    return _optimizers[name]


def _registered() -> Mapping[str, type[Any]]:
    for module in _BUILT_IN:
        importlib.import_module(f"videohv.optimize.optimizers.{module}")
    return _optimizers


def _problem(name: str, known: type[Options], problem: Any) -> str:
    option = ".".join(str(part) for part in problem["loc"])
    if problem["type"] == "extra_forbidden":
        there = ", ".join(sorted(known.model_fields)) or "none"
        return f"optimizer {name!r} has no option {option!r}; it has: {there}"
    return f"option {option!r} of optimizer {name!r}: {problem['msg']}"
