"""Field types that several signatures ask for, lenient about how a model writes them."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict

_CLOCK = re.compile(r"^(?:(\d+):)?(\d+):(\d+(?:\.\d+)?)$")
_NUMBER = re.compile(r"^(-?\d+(?:\.\d+)?)\s*(?:s|sec|secs|seconds)?$", re.IGNORECASE)


def read_time(value: object) -> object:
    """Seconds out of `12`, `"12.5s"`, `"1:05"` or `"1:02:03"`; anything else is left for pydantic to refuse."""
    if not isinstance(value, str):
        return value
    text = value.strip().strip("[]()")
    if match := _CLOCK.match(text):
        hours, minutes, seconds = match.groups()
        return int(hours or 0) * 3600 + int(minutes) * 60 + float(seconds)
    if match := _NUMBER.match(text):
        return float(match.group(1))
    return value


def read_share(value: object) -> object:
    """A share of 1 out of `0.8`, `"80%"` or `80`; anything else is left for pydantic to refuse."""
    percent = False
    if isinstance(value, str):
        text = value.strip()
        percent = text.endswith("%")
        try:
            value = float(text.rstrip("% "))
        except ValueError:
            return value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    share = value / 100 if percent or 1 < value <= 100 else value
    return min(1.0, max(0.0, share)) if share == share else value


Time = Annotated[float, BeforeValidator(read_time)]
Likelihood = Annotated[float, BeforeValidator(read_share)]


class Shape(BaseModel):
    """Base of what a model is asked for; fields it adds on its own are dropped."""

    model_config = ConfigDict(extra="ignore")


class Span(Shape):
    """A time span in seconds."""

    start: Time
    end: Time


class OptionVerdict(Shape):
    """How one option stands, named by its letter."""

    option: str
    why: str
    support: Literal["supported", "refuted", "unclear"]
