"""What a page of documentation shows: its commands and options, held against the command line itself."""

from __future__ import annotations

import re
import shlex


def commands(page: str) -> list[list[str]]:
    """The `videohv` commands of a page's indented code, as lists of words."""
    lines = [line.strip() for line in page.splitlines() if line.startswith("    videohv ")]
    return [shlex.split(line.split("#")[0].replace("…", "")) for line in lines]


def absent(options: set[str], shown: str) -> set[str]:
    """Those of the options that a help text does not show."""
    return {option for option in options if not re.search(rf"(?<![\w-]){option}(?![\w-])", shown)}


def options_of(command: list[str]) -> set[str]:
    """The options that a command is given."""
    return {word for word in command[2:] if word.startswith("-")} - {"--help"}
