"""Keys kept out of messages: some servers repeat the key that they refuse."""

from __future__ import annotations

import os
import re

import dspy

_NAMES = re.compile(r"(KEY|TOKEN|SECRET|PASSWORD)$")
_LOOKS_LIKE_ONE = re.compile(r"\b(?:sk|pk|rk|gsk|xai|hf|AIza)[-_][A-Za-z0-9*_\-]{8,}")
_SHORTEST = 8
"""Characters; anything shorter is no key and might be a common word."""


def without_keys(text: str, lm: dspy.BaseLM | None = None) -> str:
    """The text with every key of the environment, of the LM, or of a known form replaced by `[key]`."""
    keys = [value for name, value in os.environ.items() if _NAMES.search(name)]
    if lm is not None:
        keys.append(str(lm.kwargs.get("api_key") or ""))
    for key in sorted((key for key in keys if len(key) >= _SHORTEST), key=len, reverse=True):
        text = text.replace(key, "[key]")
    return _LOOKS_LIKE_ONE.sub("[key]", text)
