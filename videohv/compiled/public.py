"""What is taken out of a record before it is handed on: keys, addresses, and where on a machine something lay."""

from __future__ import annotations

import re
from typing import Any

from videohv.lm.redact import without_keys
from videohv.types import whole

ADDRESS = "[address]"

_ADDRESS = re.compile(
    r"\b[a-z][a-z0-9+.-]*://[^\s'\"<>]+"
    r"|\b(?:\d{1,3}\.){3}\d{1,3}(?::\d+)?(?![\d.])"
    r"|\blocalhost(?::\d+)?\b",
    re.IGNORECASE,
)
_PATH = re.compile(r"(?<![\w.~])(?:~|[A-Za-z]:)?(?:[/\\]+[^\s/\\'\"<>|,;]+){2,}")


def public(text: str) -> str:
    """The text with keys and addresses replaced, and of every absolute path only the last part."""
    named = _ADDRESS.sub(ADDRESS, without_keys(whole(text)))
    return _PATH.sub(lambda match: re.split(r"[/\\]", match.group())[-1], named)


def publicly(value: Any) -> Any:
    """The same for every text in plain JSON, the names of objects' parts too."""
    if isinstance(value, str):
        return public(value)
    if isinstance(value, list | tuple):
        return [publicly(item) for item in value]
    if isinstance(value, dict):
        return {public(str(key)): publicly(item) for key, item in value.items()}
    return value
