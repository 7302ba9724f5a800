"""What is to become better: metrics by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from videohv.errors import InputError
from videohv.types import Question, Trace


@dataclass(frozen=True)
class Score:
    """How good one answered question is.

    Args:
        value: From 0 to 1. A question that failed has 0.
        feedback: What went well or wrong, in a few sentences that a model can learn from; names the agent at fault.
        agents: The same for single agents (names as in `named_predictors()`): (value, feedback) where the metric can
            tell them apart.
    """

    value: float
    feedback: str = ""
    agents: Mapping[str, tuple[float, str]] = field(default_factory=dict)


class Metric(Protocol):
    """Scores the trace of a question whose right option is known."""

    name: str

    def __call__(self, question: Question, trace: Trace) -> Score:
        """The score. `question` carries the right option, which the trace's own question may have under another order.

        Raises:
            InputError: If the question lacks what the metric needs (no right option, no annotated spans).
        """
        ...


Factory = TypeVar("Factory", bound=Callable[[], Metric])

_metrics: dict[str, Callable[[], Metric]] = {}


def metric(name: str) -> Callable[[Factory], Factory]:
    """Register a metric class, or any function that makes a metric, under a name.

    Raises:
        InputError: The name is taken.
    """

    def register(factory: Factory) -> Factory:
        if name in _metrics:
            raise InputError(f"there is already a metric named {name!r}; choose another name")
        _metrics[name] = factory
        return factory

    return register


def metric_names() -> tuple[str, ...]:
    """The names of all registered metrics, sorted."""
    return tuple(sorted(_registered()))


def make_metric(name: str) -> Metric:
    """The metric of that name.

    Raises:
        InputError: There is none.
    """
    if name not in _registered():
        raise InputError(f"no metric is called {name!r}; known metrics: {', '.join(metric_names())}")
    return _metrics[name]()


def _registered() -> Mapping[str, Callable[[], Metric]]:
    importlib.import_module("videohv.optimize.metrics.standard")
    return _metrics
