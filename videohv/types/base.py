"""What every value is built on: the frozen base, numbers with their bounds, and words with a fixed set of values."""

from __future__ import annotations

import math
from enum import StrEnum
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, model_validator

MIN_OPTIONS, MAX_OPTIONS = 2, 26

REPLY_ITEMS = {"windows": 3, "wanted": 2, "sights": 5, "captions": 5, "conflicts": 3}
"""Items that a list in a reply should have at most, by the name of its field; the others have one item an option.

The prompts ask for no more, and an engine that writes by a grammar holds its model to it.
"""

Seconds = Annotated[float, Field(ge=0.0, allow_inf_nan=False)]
Share = Annotated[float, Field(ge=0.0, le=1.0, allow_inf_nan=False)]


class Value(BaseModel):
    """Base of every value: frozen, refuses unknown fields, survives a JSON round trip unchanged.

    Half characters (lone surrogates, as file names and sloppy JSON have them) are replaced on the way in: no file and
    no terminal could take them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _whole_characters(cls, data: Any) -> Any:
        if not isinstance(data, dict):
            return data
        broken: dict[str, Any] = {}
        for key, value in data.items():
            kind = value.__class__
            if kind is str:
                if not _encodes(value):
                    broken[key] = whole(value)
            elif kind in (list, tuple) and any(item.__class__ is str and not _encodes(item) for item in value):
                broken[key] = tuple(whole(item) if isinstance(item, str) else item for item in value)
        return {**data, **broken} if broken else data


class Status(StrEnum):
    """What a check of the evidence against the hypotheses came to."""

    VERIFIED = "VERIFIED"
    PARTIAL = "PARTIAL"
    NOT_VERIFIED = "NOT_VERIFIED"


class Outcome(StrEnum):
    """How a question ended. Only `answered` carries an answer; a failure never becomes one."""

    ANSWERED = "answered"
    ABSTAINED = "abstained"
    PARSE_FAILED = "parse_failed"
    CONTENT_FILTERED = "content_filtered"
    LM_FAILED = "lm_failed"
    MISSING_INPUT = "missing_input"
    OVER_BUDGET = "over_budget"


class Mode(StrEnum):
    """Why the Thinker is asked: at first, for sharper hypotheses, or for ones that differ more."""

    INITIAL = "initial"
    SPECIFICITY = "specificity"
    DISCRIMINABILITY = "discriminability"


class Quality(StrEnum):
    """The Judge's verdict on a set of hypotheses."""

    DISTINCT = "DISTINCT"
    OVERLAPPING = "OVERLAPPING"


class Support(StrEnum):
    """What the evidence says about one hypothesis."""

    SUPPORTED = "supported"
    REFUTED = "refuted"
    UNCLEAR = "unclear"


class Source(StrEnum):
    """What an observation was made from."""

    FRAMES = "frames"
    TAGS = "tags"
    CAPTIONS = "captions"


def whole(text: str) -> str:
    """The text with half characters replaced, so that it can be encoded."""
    return text if _encodes(text) else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _encodes(text: str) -> bool:
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def letter(option_index: int) -> str:
    """The letter under which an option is shown: 0 is A."""
    if not 0 <= option_index < MAX_OPTIONS:
        raise ValueError(f"no letter for option {option_index}")
    return chr(ord("A") + option_index)


def clock(seconds: float) -> str:
    """Seconds as `m:ss` or `h:mm:ss`, with one decimal when there is one."""
    tenths = math.floor(seconds * 10 + 0.5)
    whole, tenth = divmod(tenths, 10)
    minutes, s = divmod(whole, 60)
    hours, m = divmod(minutes, 60)
    text = f"{hours}:{m:02d}:{s:02d}" if hours else f"{m}:{s:02d}"
    return f"{text}.{tenth}" if tenth else text
