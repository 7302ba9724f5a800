"""The forms in which captions of one video are published, once they are parsed JSON: each gives times and raw texts.

The forms, for one video:

* a list of texts: item i covers second i (LLoVi, VideoAgent, VideoHV and most others);
* an object by second, `{"0": "text", ...}`, fractions allowed;
* a list of objects with `time` (or `start`, seconds) and `text`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from videohv.data.narration import normalise
from videohv.errors import InputError
from videohv.types import Caption

RECORD_FIELDS = ("time", "start", "text", "video")


class RawCaption(NamedTuple):
    """A caption as it was published: `time` in seconds, `text` before `normalise`."""

    time: float
    text: str


def raw_captions(value: Any, where: str) -> Iterator[RawCaption]:
    """The captions of one video out of a parsed value of any form above, in its own order.

    Args:
        value: What stands for the video in the file.
        where: File and key, for messages.

    Raises:
        InputError: The value has another form or an entry is wrong.
    """
    if isinstance(value, list):
        if any(isinstance(item, dict) for item in value):
            return (record(item, f"{where}, item {i}") for i, item in enumerate(value))
        return (_raw(float(i), item, f"{where}, item {i}") for i, item in enumerate(value))
    if isinstance(value, dict):
        keys = ((key, f"{where}, key {key!r}") for key in value)
        return (_raw(_seconds(key, place), value[key], place) for key, place in keys)
    raise InputError(f"{where} is {kind(value)}: a list of texts or an object by second was expected")


def record(item: Any, where: str) -> RawCaption:
    """A caption that is an object with a time of its own.

    Raises:
        InputError: It is something else, or lacks time or text.
    """
    if not isinstance(item, dict):
        raise InputError(f"{where} is {kind(item)}: an object with 'time' (or 'start') and 'text' was expected")
    time = item.get("time", item.get("start"))
    if time is None or "text" not in item:
        raise InputError(
            f"{where} has no {'text' if time is not None else 'time (or start)'}; it has: {', '.join(item)}"
        )
    return _raw(_seconds(time, where), item["text"], where)


def video_of(item: Any, where: str) -> str:
    """The video that a record names, or an empty text.

    Raises:
        InputError: Its `video` is no text.
    """
    name = item.get("video") if isinstance(item, dict) else None
    if name is not None and not isinstance(name, str):
        raise InputError(f"{where}: 'video' is {kind(name)}, not a text")
    return name or ""


def plain(raw: Iterable[RawCaption]) -> tuple[Caption, ...]:
    """Captions with their texts through `normalise`, in the order of time; those without text are left out."""
    texts = ((r.time, normalise(r.text)) for r in raw)
    # Not checked again: the forms have seen to the times, and `normalise` to the texts, of a million captions perhaps.
    made = (Caption.model_construct(time=time, text=text) for time, text in texts if text)
    return tuple(sorted(made, key=lambda caption: caption.time))


def kind(value: Any) -> str:
    """What a parsed JSON value is, in words."""
    names = {type(None): "null", bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")


def _raw(time: float, text: Any, where: str) -> RawCaption:
    if not isinstance(text, str):
        raise InputError(f"{where} is {kind(text)}, not a text")
    return RawCaption(time, text)


def _seconds(value: Any, where: str) -> float:
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise InputError(f"{where}: {value!r} is not a time in seconds from 0 on")
    return seconds
