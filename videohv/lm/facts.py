"""What a backend knows of an LM that it made, kept on the LM itself so that copies carry it along."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

_ATTRIBUTE = "videohv_facts"


@dataclass(frozen=True)
class Facts:
    """Args:
    name: The model, for traces: no address, no key.
    origin: Where it runs, for the user: no key.
    images: Whether it sees images, when known.
    context_tokens: Prompt and reply together, when known.
    key_env: Name of the environment variable that holds its key, if the spec named one.
    server: Address of the OpenAI-compatible server that serves it, if it is one of the user's own.
    served_as: What that server calls it.
    """

    name: str
    origin: str
    images: bool | None = None
    context_tokens: int | None = None
    key_env: str | None = None
    server: str | None = None
    served_as: str = ""


def attach(lm: Any, facts: Facts) -> None:
    """Keep `facts` on `lm`."""
    setattr(lm, _ATTRIBUTE, facts)


def facts_of(lm: Any) -> Facts | None:
    """What was attached to `lm` or to the LM that it is a copy of."""
    found = getattr(lm, _ATTRIBUTE, None)
    return found if isinstance(found, Facts) else None
