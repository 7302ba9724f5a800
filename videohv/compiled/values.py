"""What may stand in a demonstration: text, numbers, and lists and objects of them; nothing that poses as more."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from videohv.errors import ProgramError
from videohv.modules.ask import plain

DEEPEST = 32
"""Levels of lists and objects in each other; what agents are asked for has three."""

_IMAGE = re.compile(r"data:(?:image|video|audio|application)/[\w.+-]+;base64,", re.IGNORECASE)


def plain_json(value: Any, where: str, *, clean: Callable[[str], str] = lambda text: text, depth: int = 0) -> Any:
    """A copy of a value in which all is plain JSON and DSPy's own markers are broken up.

    Args:
        value: As it stands in a demonstration.
        where: Which it is, for errors.
        clean: What is done to every text beside.
        depth: How deep it lies.

    Raises:
        ProgramError: It holds an image, a number that is none, what JSON cannot say, or is nested too deep.
    """
    if depth > DEEPEST:
        raise ProgramError(f"{where}: nested more than {DEEPEST} deep")
    if value is None or isinstance(value, bool | int):
        return value
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ProgramError(f"{where}: {value} is no number that JSON can say")
        return value
    if isinstance(value, str):
        if _IMAGE.search(value):
            raise ProgramError(f"{where}: holds an image; images are not kept in demonstrations")
        return plain(clean(str(value)))
    if isinstance(value, list | tuple):
        return [plain_json(item, where, clean=clean, depth=depth + 1) for item in value]
    if isinstance(value, Mapping):
        made = {}
        for key, item in value.items():
            if not isinstance(key, str):
                raise ProgramError(f"{where}: {key!r} is no name of a JSON object")
            made[plain(key)] = plain_json(item, where, clean=clean, depth=depth + 1)
        return made
    raise ProgramError(f"{where}: a {type(value).__name__} cannot be written as JSON")
