"""Field types that several signatures ask for, lenient about how a model writes them, strict about what it says."""

from __future__ import annotations

import math
import re
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, GetCoreSchemaHandler, model_validator
from pydantic_core import CoreSchema, core_schema

_CLOCK = re.compile(r"^(?:(\d{1,4}):)?(\d{1,6}):(\d{1,6}(?:\.\d+)?)$", re.ASCII)
_NUMBER = re.compile(r"^(-?\d{1,9}(?:\.\d+)?)\s*(?:s|sec|secs|seconds)?$", re.IGNORECASE | re.ASCII)
_SPAN = re.compile(r"^\s*\[?\s*([\d:.]+)\s*s?\s*(?:-|–|,|to)\s*([\d:.]+)\s*s?\s*\]?\s*$", re.ASCII)


def read_time(value: object) -> object:
    """Seconds out of `12`, `"12.5s"`, `"1:05"` or `"1:02:03"`; anything else is left for pydantic to refuse."""
    if not isinstance(value, str):
        return value
    text = value.strip().strip("[]()")
    if match := _CLOCK.match(text):
        hours, minutes, seconds = match.groups()
        return float(hours or 0) * 3600 + float(minutes) * 60 + float(seconds)
    if match := _NUMBER.match(text):
        return float(match.group(1))
    return value


def read_share(value: object) -> float:
    """A share of 1 out of `0.8`, `"0,8"`, `"80%"` or `80`; not a number where a model wrote something else.

    How sure a model is decorates its reply: a reply is not thrown away because this part of it cannot be read.
    """
    percent = False
    if isinstance(value, str):
        text = value.strip()
        percent = text.endswith("%")
        try:
            value = float(text.rstrip("% ").replace(",", "."))
        except ValueError:
            return math.nan
    if isinstance(value, bool) or not isinstance(value, int | float):
        return math.nan
    share = value / 100 if percent or 1 < value <= 100 else value
    return min(1.0, max(0.0, float(share))) if -1e300 < share < 1e300 else math.nan


def _lower(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


Time = Annotated[float, BeforeValidator(read_time)]
Likelihood = Annotated[float, BeforeValidator(read_share)]


class Letter(str):
    """The letter of an option. A text and nothing else: DSPy would make one out of `null`, `true` or `[]`."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A plain string to every schema."""
        return core_schema.str_schema(strict=True)


class Confidence(float):
    """How sure a model is; see `read_share`."""

    __slots__ = ()

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """A plain number to every schema."""
        return core_schema.no_info_before_validator_function(read_share, core_schema.float_schema())


class Shape(BaseModel):
    """Base of what a model is asked for; fields it adds on its own are dropped."""

    model_config = ConfigDict(extra="ignore")


class Span(Shape):
    """A time span in seconds."""

    start: Time
    end: Time

    @model_validator(mode="before")
    @classmethod
    def _two_numbers(cls, value: object) -> object:
        """`[1, 3]` and `"1-3s"` are spans too."""
        if isinstance(value, str) and (match := _SPAN.match(value)):
            value = match.groups()
        if isinstance(value, list | tuple) and len(value) == 2:
            return {"start": value[0], "end": value[1]}
        return value


class OptionVerdict(Shape):
    """How one option stands, named by its letter."""

    option: str
    why: str = ""
    support: Annotated[Literal["supported", "refuted", "unclear"], BeforeValidator(_lower)]
