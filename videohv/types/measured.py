"""Figures and the models that they were measured with, as runs and compiled programs record them."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from videohv.types.base import Value


class Estimate(Value):
    """A mean with its 95 % interval.

    Args:
        value: The mean.
        low: Lower bound; never above the value.
        high: Upper bound; never below it.
        n: Scores that went in.
        clusters: Recordings that they come from.
    """

    value: float
    low: float
    high: float
    n: int
    clusters: int


class Model(Value):
    """A model as one role uses it: no key, no address (a server is told apart by a digest in its identity)."""

    role: str
    name: str
    identity: str = ""
    parameters: dict[str, Any] = Field(default_factory=dict)
