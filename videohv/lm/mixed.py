"""Copies of an LM that are called in another way, and are an LM of the same class to whoever asks."""

from __future__ import annotations

import copy
from functools import lru_cache
from typing import Any

import dspy


def mixed_in(lm: dspy.BaseLM, mixin: Any) -> Any:
    """A copy of an LM in which what the mixin defines comes before what its own class does."""
    made = copy.copy(lm)
    kind: Any = type(lm)
    made.__class__ = _mixed(mixin, kind)
    return made


@lru_cache(maxsize=256)
def _mixed(mixin: Any, kind: Any) -> type[Any]:
    return type(kind.__name__, (mixin, kind), {"__module__": kind.__module__})
