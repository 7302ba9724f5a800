"""Options that hold several values: with commas between them, or given several times as NAME=VALUE."""

from __future__ import annotations

from collections.abc import Sequence

from videohv.errors import InputError


def listed(text: str) -> tuple[str, ...]:
    """The values of an option with commas; none of them is empty."""
    return tuple(part.strip() for part in text.split(",") if part.strip())


def pairs(given: Sequence[str] | None, option: str) -> dict[str, str]:
    """The values of an option that is given as NAME=VALUE, any number of times.

    Args:
        given: What was given.
        option: How it is called, for messages.

    Raises:
        InputError: One has no name or no value, or a name is given twice.
    """
    found: dict[str, str] = {}
    for pair in given or ():
        name, equals, value = pair.partition("=")
        if not name or not equals:
            raise InputError(f"{option} {pair}: expected NAME=VALUE, such as {option} rounds=1")
        if name in found:
            raise InputError(f"{option} {name} is given twice")
        found[name] = value
    return found
