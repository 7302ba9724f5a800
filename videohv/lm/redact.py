"""Keys kept out of messages: some servers repeat the key that they refuse."""

from __future__ import annotations

import os
import re
from urllib.parse import quote

import dspy

from videohv.lm.facts import facts_of
from videohv.lm.keys import keys_read

_NAMES = re.compile(r"key|token|secret|passw|credential", re.IGNORECASE)
_LOOKS_LIKE_ONE = re.compile(
    r"\b(?:sk|pk|rk|gsk|xai|hf)[-_][A-Za-z0-9*_\-]{8,}|\bAIza[A-Za-z0-9_\-]{10,}|(?<=Bearer )[^\s,;]+", re.IGNORECASE
)
_SHORTEST = 8
"""Characters of a value that is taken for a key by the name of its variable alone; shorter ones are common words."""


def without_keys(text: str, lm: dspy.BaseLM | None = None) -> str:
    """The text with every key of the environment, the keyring, the LM, or of a known form replaced by `[key]`."""
    guessed = [value for name, value in os.environ.items() if _NAMES.search(name) and len(value) >= _SHORTEST]
    known = [*keys_read()]
    if lm is not None:
        facts, own = facts_of(lm), lm.kwargs.get("api_key")
        known += [os.environ.get(facts.key_env, "")] if facts is not None and facts.key_env else []
        known += [own] if isinstance(own, str) else []
    for key in sorted({*guessed, *(key for key in known if key)}, key=len, reverse=True):
        text = text.replace(key, "[key]").replace(quote(key, safe=""), "[key]")
    return _LOOKS_LIKE_ONE.sub("[key]", text)


def scrubbed(error: BaseException, lm: dspy.BaseLM | None = None) -> BaseException:
    """The same error, with the keys taken out of its texts and out of those of all errors that led to it.

    For errors that are kept as the cause of another: a traceback prints them whole.
    """
    one: BaseException | None = error
    done: set[int] = set()
    while one is not None and id(one) not in done:
        done.add(id(one))
        one.args = tuple(without_keys(text, lm) if isinstance(text, str) else text for text in one.args)
        for name, text in list(vars(one).items()):
            if isinstance(text, str):
                setattr(one, name, without_keys(text, lm))
        one = one.__cause__ or one.__context__
    return error
