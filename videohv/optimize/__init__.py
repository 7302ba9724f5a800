"""Optimised programs: prompts and demonstrations compiled against the accuracy on a benchmark, with the proof.

The names are fetched when they are first used: DSPy's optimizers take a while to import.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from videohv.optimize.compile import Compiled, compile_program
    from videohv.optimize.guard import CompileStopped
    from videohv.optimize.metrics.metric import Metric, Score, make_metric, metric_names
    from videohv.optimize.registry import (
        Optimizer,
        Options,
        Plan,
        make_optimizer,
        optimizer,
        optimizer_names,
        optimizer_options,
    )
    from videohv.optimize.run.leak import LeakError, check_leak
    from videohv.optimize.run.preflight import PreflightFailed
    from videohv.optimize.run.split import Sizes, parts_of
    from videohv.optimize.task import Task, Trial

_HOMES = {
    "compile": ("Compiled", "compile_program"),
    "guard": ("CompileStopped",),
    "run.leak": ("LeakError", "check_leak"),
    "metrics.metric": ("Metric", "Score", "make_metric", "metric_names"),
    "run.preflight": ("PreflightFailed",),
    "registry": (
        "Optimizer",
        "Options",
        "Plan",
        "make_optimizer",
        "optimizer",
        "optimizer_names",
        "optimizer_options",
    ),
    "run.split": ("Sizes", "parts_of"),
    "task": ("Task", "Trial"),
}

__all__ = [
    "CompileStopped",
    "Compiled",
    "LeakError",
    "Metric",
    "Optimizer",
    "Options",
    "Plan",
    "PreflightFailed",
    "Score",
    "Sizes",
    "Task",
    "Trial",
    "check_leak",
    "compile_program",
    "make_metric",
    "make_optimizer",
    "metric_names",
    "optimizer",
    "optimizer_names",
    "optimizer_options",
    "parts_of",
]


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(importlib.import_module(f"{__name__}.{home}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
