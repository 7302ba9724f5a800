"""The model list of an OpenAI-compatible server, read through the `openai` client: what is served there."""

from __future__ import annotations

import difflib
import os
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import dspy

from videohv.errors import ModelError
from videohv.lm.about import without_login
from videohv.lm.backend_dspy import native_provider
from videohv.lm.facts import facts_of
from videohv.lm.redact import without_keys

_OFFICIAL = "https://api.openai.com/v1"
_CHAT = "openai-chat"
_ONE_MODEL = "llamacpp"
"""Owner of the models of a server that answers whatever name it is asked by."""
_MOST = 12
"""Names in a message."""


class Door(NamedTuple):
    """Where the model list of an LM's server is to be had.

    Args:
        address: The server's root, without a login.
        model: What the server calls the model.
        key: Gives the key, or None where there is none.
        complete: Whether a model that is not in the list is sure not to be served. Some providers take other names.
    """

    address: str
    model: str
    key: Callable[[], str | None]
    complete: bool


class Served(NamedTuple):
    """A model that a server lists; its context in tokens, and its owner, if the server tells them."""

    name: str
    context_tokens: int | None = None
    owner: str = ""


def door_of(lm: dspy.BaseLM) -> Door | None:
    """The door of an LM's server, or None if it has no list of this kind. Asks no network."""
    if not isinstance(getattr(lm, "_engine_spec", None), str):
        return None
    facts, (prefix, _, model) = facts_of(lm), str(lm.model).partition("/")
    if facts is not None and facts.server is not None:
        return Door(facts.server, facts.served_as, lambda: _own_key(lm, (facts.key_env or "",)), True)
    definition = native_provider(prefix)
    if definition is None or definition.dialect != _CHAT or definition.access.host is not None:
        return None
    given = lm.kwargs.get("api_base") or lm.kwargs.get("base_url")
    official = definition.access.base_url or _OFFICIAL
    if given is None and official == _OFFICIAL:
        given = os.environ.get("OPENAI_BASE_URL") or os.environ.get("OPENAI_API_BASE")
    return Door(
        without_login(str(given or official)),
        model,
        lambda: _own_key(lm, definition.env_keys),
        # The others' lists leave out aliases and variants that they take all the same.
        given is not None or official == _OFFICIAL,
    )


def models_served(door: Door, timeout: float = 3.0) -> tuple[Served, ...]:
    """What the server lists.

    Args:
        door: Where.
        timeout: Seconds to wait, for connecting and for each byte.

    Raises:
        ModelError: If the list cannot be had. The message says why, without a key.
    """
    import openai

    try:
        with openai.OpenAI(
            base_url=door.address, api_key=door.key() or "none", timeout=timeout, max_retries=0
        ) as client:
            return tuple(_served(model) for model in client.models.list().data)
    except openai.APITimeoutError:
        why = f"no answer within {timeout:g} s"
    except openai.APIConnectionError as error:
        why = f"nothing answers ({type(error.__cause__ or error).__name__})"
    except openai.APIStatusError as error:
        why = f"status {error.status_code}: {_line(error.message)}"
    except (openai.OpenAIError, AttributeError, TypeError, ValueError) as error:
        why = f"its list of models cannot be read ({type(error).__name__})"
    raise ModelError(f"{door.address}: {why}")


def find_served(door: Door, served: Sequence[Served]) -> Served | None:
    """The entry for the door's model, or None if it is not served there."""
    for one in served:
        # Ollama leaves out the tag `latest`; a gateway may list a pattern.
        if one.name in (door.model, f"{door.model}:latest") or "*" in one.name:
            return one
    return served[0] if served and all(one.owner == _ONE_MODEL for one in served) else None


def not_served(door: Door, served: Sequence[Served]) -> str:
    """One line that says what is served instead, the names that are nearest first."""
    names = [one.name for one in served]
    nearest = difflib.get_close_matches(door.model, names, n=_MOST, cutoff=0.4)
    shown = nearest + [name for name in names if name not in nearest][: max(0, _MOST - len(nearest))]
    more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
    return f"no model is called {door.model!r} at {door.address}: it serves {', '.join(shown) or 'none'}{more}"


def _served(model: Any) -> Served:
    told = model.model_extra or {}
    meta = told.get("meta") if isinstance(told.get("meta"), dict) else {}
    lengths = (
        told.get("max_model_len"),
        told.get("context_length"),
        told.get("context_window"),
        (meta or {}).get("n_ctx"),
    )
    context = next((int(n) for n in lengths if isinstance(n, int | float) and n > 0), None)
    return Served(str(model.id), context, str(model.owned_by or "") if hasattr(model, "owned_by") else "")


def _own_key(lm: dspy.BaseLM, variables: Sequence[str]) -> str | None:
    given = lm.kwargs.get("api_key")
    if given is not None:
        return str(given() if callable(given) else given)
    return next((os.environ[name] for name in variables if os.environ.get(name)), None)


def _line(text: str) -> str:
    lines = without_keys(text).splitlines()
    return lines[0][:200] if lines else ""
