"""Where the command line writes, and text made safe for a terminal."""

from __future__ import annotations

import re

from rich.console import Console

from videohv.types import whole

ERRORS = Console(stderr=True, highlight=False, soft_wrap=False)
"""Steps, progress and errors. Plain lines when stderr is not a terminal."""

OUT = Console(highlight=False, soft_wrap=True)
"""Results."""

_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def clean(text: str) -> str:
    """Text without control characters: a caption or a file name must not steer the terminal."""
    return _CONTROL.sub("", whole(text))


def say(name: str, text: str) -> None:
    """One named fact about what is going to happen, on stderr."""
    ERRORS.print(f"{name:<14}", style="cyan", end="")
    ERRORS.print(clean(text), markup=False, soft_wrap=True)
