"""What is known of a DSPy LM, whoever made it: its name, where it runs, whether it sees images, how much it reads."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import dspy

from videohv.lm.facts import facts_of


def lm_name(lm: dspy.BaseLM) -> str:
    """`provider/model`, for traces: without address, options or key."""
    facts = facts_of(lm)
    return facts.name if facts is not None else str(lm.model)


def describe(lm: dspy.BaseLM) -> str:
    """One line that says which model is used and where it runs; safe to print."""
    facts = facts_of(lm)
    if facts is not None:
        return f"{facts.name}, {facts.origin}"
    if not isinstance(getattr(lm, "engine", "auto"), str):
        return f"{lm.model}, on {type(lm.engine).__name__} in this process"
    address = lm.kwargs.get("api_base") or lm.kwargs.get("base_url")
    return f"{lm.model}, at {without_login(str(address))}" if address else f"{lm.model}, through DSPy"


def sees_images(lm: dspy.BaseLM) -> bool | None:
    """Whether the model takes images; None if nobody knows. Asks no network."""
    facts = facts_of(lm)
    if facts is not None and facts.images is not None:
        return facts.images
    declared = getattr(getattr(lm, "engine", None), "supports_images", None)
    if declared is not None:
        return bool(declared)
    told = published(str(lm.model)).get("supports_vision")
    return bool(told) if told is not None else None


def context_tokens(lm: dspy.BaseLM) -> int | None:
    """Tokens of prompt and reply together that the model can hold, or None if nobody knows. Asks no network."""
    facts = facts_of(lm)
    if facts is not None and facts.context_tokens is not None:
        return facts.context_tokens
    declared = getattr(getattr(lm, "engine", None), "context_tokens", None)
    if isinstance(declared, int):
        return declared
    known = published(str(lm.model))
    told = known.get("max_input_tokens") or known.get("max_tokens")
    return int(told) if isinstance(told, int | float) and told > 0 else None


@lru_cache(maxsize=256)
def published(model: str) -> Mapping[str, Any]:
    """What DSPy's bundled list says of `provider/model`; empty if it is not listed."""
    from dspy.clients.model_metadata import model_info

    provider, slash, name = model.partition("/")
    if not slash or provider == "embedded":
        return {}
    # DSPy goes through the whole list each time, which takes milliseconds; the list itself does not change.
    return MappingProxyType(model_info(provider, name))


def without_login(address: str) -> str:
    """The address without a user name, password or query."""
    parts = urlsplit(address)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))
