"""Times and time spans as they are written on the command line."""

from __future__ import annotations

import math

from videohv.cli.listed import listed
from videohv.errors import InputError
from videohv.types import Window


def seconds(text: str, option: str) -> float:
    """A time in seconds: `12.5`, `1:20`, `1:02:03.5`.

    Args:
        text: As it was given.
        option: Where it was given, for the message.

    Raises:
        InputError: It is not of that form, negative, or not finite.
    """
    total = 0.0
    parts = text.strip().split(":")
    try:
        for part in parts:
            total = total * 60 + float(part)
    except ValueError:
        total = math.nan
    if len(parts) > 3 or not math.isfinite(total) or "-" in text:
        raise InputError(f"{option} {text}: expected a time in seconds, such as 12.5 or 1:20")
    return total


def times(text: str, option: str) -> tuple[float, ...]:
    """Times with commas between them, in the order in which they are given.

    Raises:
        InputError: As `seconds`; or there is none.
    """
    made = tuple(seconds(part, option) for part in listed(text))
    if not made:
        raise InputError(f"{option}: expected times in seconds with commas between them, such as 12.5,80")
    return made


def span(text: str, option: str) -> Window:
    """A time span, `10-20`.

    Raises:
        InputError: As `seconds`; or it has no end, or ends before it starts.
    """
    start, dash, end = text.partition("-")
    if not dash:
        raise InputError(f"{option} {text}: expected two times with a dash between them, such as 10-20")
    first, last = seconds(start, option), seconds(end, option)
    if last <= first:
        raise InputError(f"{option} {text}: it ends before it starts")
    return Window(start=first, end=last)
