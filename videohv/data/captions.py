"""Captions that somebody made before: read from the forms in which they are published, and written in one of our own.

The forms that `read_captions` knows:

* `{"video": ["text", ...]}`: item i covers second i (LLoVi, VideoAgent, VideoHV and most others);
* `{"video": {"0": "text", ...}}`: by second, fractions allowed;
* a bare list of texts, or a bare object by second, for one video;
* a list of objects with `time` (or `start`, seconds) and `text`, or one such object a line (JSON Lines);
  in both an optional `video` tells several videos apart. `write_captions` writes the last of these.
"""

from __future__ import annotations

import json
import math
import os
import re
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from videohv.data.narration import normalise
from videohv.errors import InputError
from videohv.types import Caption

_SHOWN_KEYS = 5
_DECODER = json.JSONDecoder()

_SPACE = re.compile(r"\s*")


def read_captions(path: Path | str, video: str | None = None) -> tuple[Caption, ...]:
    """Read the captions of one video.

    Texts go through `normalise`; entries without text are left out.

    Args:
        path: A JSON or JSON Lines file in one of the forms above (UTF-8).
        video: The video's name, or its path: the exact name is tried first, then the name without directory and
            extension. May be None when the file is about one video.

    Returns:
        Captions in the order of their time.

    Raises:
        InputError: The file cannot be read, has another form, lacks the video, or an entry is wrong; the message names
            file, key and index.
    """
    path = Path(path)
    try:
        with path.open(encoding="utf-8-sig") as file:
            if path.suffix.lower() in (".jsonl", ".ndjson"):
                captions = _from_records(_lines(path, file), path, video)
            else:
                captions = _from_json(file.read(), path, video)
    except OSError as e:
        raise InputError(f"cannot read the captions file {path}: {e.strerror}") from e
    except UnicodeDecodeError as e:
        raise InputError(f"{path} is not UTF-8 text (byte {e.start}): is it a captions file?") from e
    return tuple(sorted(captions, key=lambda caption: caption.time))


def write_captions(path: Path | str, captions: Iterable[Caption], video: str = "") -> int:
    """Write captions as JSON Lines, one object with `time` (seconds) and `text` a line, as `read_captions` reads them.

    The file appears whole or not at all.

    Args:
        path: The file to make or replace.
        captions: Taken one by one, never kept.
        video: Written into each line as `video` when given.

    Returns:
        How many were written.

    Raises:
        InputError: The file cannot be written.
    """
    path = Path(path)
    count = 0
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                for caption in captions:
                    record = {"video": video} if video else {}
                    file.write(json.dumps(record | caption.model_dump(), ensure_ascii=False) + "\n")
                    count += 1
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as e:
        raise InputError(f"cannot write the captions file {path}: {e.strerror}") from e
    return count


def _from_json(text: str, path: Path, video: str | None) -> Iterator[Caption]:
    start = _skip(text, 0)
    if text[start : start + 1] == "[":
        items = _value(text, start, path)[0]
        if any(isinstance(item, dict) for item in items):
            return _from_records(((f"item {i}", item) for i, item in enumerate(items)), path, video)
        return _from_list(items, f"{path}")
    if text[start : start + 1] != "{":
        raise InputError(f"{path} is empty or not JSON: captions are a JSON object, a JSON list or JSON Lines")
    first = next(_members(text, start, path), None)
    if first is not None and first[0] in ("time", "start", "text", "video") and not isinstance(first[1], list | dict):
        return _from_records(_lines(path, text.splitlines()), path, video)
    if first is None or isinstance(first[1], list | dict):
        return _from_videos(text, start, path, video)
    return _from_seconds(_value(text, start, path)[0], f"{path}")


def _from_videos(text: str, start: int, path: Path, video: str | None) -> Iterator[Caption]:
    """Pick one video out of many, parsing one member at a time, so that the others are never all held."""
    wanted, stem = (video, _stem(video)) if video is not None else (None, None)
    names: list[str] = []
    by_stem: tuple[str, Any] | None = None
    for name, value in _members(text, start, path):
        names.append(name)
        if name == wanted:
            return _of_video(value, f"{path}: {name!r}")
        if by_stem is None and (video is None or _stem(name) == stem):
            by_stem = name, value
    if video is None and len(names) > 1:
        raise InputError(f"{path} holds the captions of {len(names)} videos ({_some(names)}): say which one is meant")
    if by_stem is None:
        raise _lacking(path, video, names)
    return _of_video(by_stem[1], f"{path}: {by_stem[0]!r}")


def _of_video(value: Any, where: str) -> Iterator[Caption]:
    if isinstance(value, list):
        if any(isinstance(item, dict) for item in value):
            return (caption for i, item in enumerate(value) for caption in _record(item, f"{where}, item {i}"))
        return _from_list(value, where)
    if isinstance(value, dict):
        return _from_seconds(value, where)
    raise InputError(f"{where} is {_kind(value)}: a list of texts or an object by second was expected")


def _from_list(items: list[Any], where: str) -> Iterator[Caption]:
    for second, item in enumerate(items):
        yield from _caption(float(second), item, f"{where}, item {second}")


def _from_seconds(items: dict[str, Any], where: str) -> Iterator[Caption]:
    for second, item in items.items():
        yield from _caption(_seconds(second, f"{where}, key {second!r}"), item, f"{where}, key {second!r}")


def _from_records(records: Iterable[tuple[str, Any]], path: Path, video: str | None) -> Iterator[Caption]:
    """Captions from objects with a time each; of several videos only the wanted one's are kept."""
    exact: list[Caption] = []
    by_stem: list[Caption] = []
    names: dict[str, None] = {}
    for where, item in records:
        name = item.get("video") if isinstance(item, dict) else None
        if name is not None and not isinstance(name, str):
            raise InputError(f"{path}, {where}: 'video' is {_kind(name)}, not a text")
        names[name or ""] = None
        if not name or video is None or name == video:
            exact += _record(item, f"{path}, {where}")
        elif _stem(name) == _stem(video):
            by_stem += _record(item, f"{path}, {where}")
    if video is None and len(names) > 1:
        raise InputError(f"{path} holds the captions of {len(names)} videos ({_some(names)}): say which one is meant")
    if video is not None and names and video not in names and "" not in names and not by_stem:
        raise _lacking(path, video, names)
    return iter(exact or by_stem)


def _record(item: Any, where: str) -> list[Caption]:
    if not isinstance(item, dict):
        raise InputError(f"{where} is {_kind(item)}: an object with 'time' (or 'start') and 'text' was expected")
    time = item.get("time", item.get("start"))
    if time is None or "text" not in item:
        raise InputError(
            f"{where} has no {'text' if time is not None else 'time (or start)'}; it has: {', '.join(item)}"
        )
    return list(_caption(_seconds(time, where), item["text"], where))


def _caption(time: float, text: Any, where: str) -> Iterator[Caption]:
    if not isinstance(text, str):
        raise InputError(f"{where} is {_kind(text)}, not a text")
    plain = normalise(text)
    if plain:
        yield Caption(time=time, text=plain)


def _seconds(value: Any, where: str) -> float:
    try:
        seconds = math.nan if isinstance(value, bool) else float(value)
    except (TypeError, ValueError, OverflowError):
        seconds = math.nan
    if not (math.isfinite(seconds) and seconds >= 0):
        raise InputError(f"{where}: {value!r} is not a time in seconds from 0 on")
    return seconds


def _lines(path: Path, lines: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for number, line in enumerate(lines, 1):
        if line.strip():
            try:
                yield f"line {number}", json.loads(line)
            except (ValueError, RecursionError) as e:
                raise InputError(f"{path}, line {number} is not JSON: {e}") from e


def _members(text: str, start: int, path: Path) -> Iterator[tuple[str, Any]]:
    """Walk a JSON object member by member, holding one value at a time."""
    at = _skip(text, start + 1)
    while text[at : at + 1] != "}":
        name, at = _value(text, at, path)
        at = _skip(text, at)
        if not isinstance(name, str) or text[at : at + 1] != ":":
            raise InputError(f"{path} is not JSON: a name and ':' were expected at character {at}")
        value, at = _value(text, _skip(text, at + 1), path)
        yield name, value
        at = _skip(text, at)
        if text[at : at + 1] not in (",", "}"):
            raise InputError(f"{path} is not JSON: ',' or '}}' was expected at character {at}")
        at = _skip(text, at + 1) if text[at] == "," else at


def _value(text: str, at: int, path: Path) -> tuple[Any, int]:
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError) as e:
        raise InputError(f"{path} is not JSON: {e}") from e


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    return match.end() if match else at


def _stem(name: str) -> str:
    """A video's name without directory and without a file's extension (`a/b.mp4` is `b`, `v1.5` stays)."""
    base = re.split(r"[/\\]", name)[-1]
    return re.sub(r"\.[A-Za-z][A-Za-z0-9]{1,4}$", "", base) or base


def _some(names: Iterable[str]) -> str:
    every = [repr(name) for name in names]
    return ", ".join(every[:_SHOWN_KEYS]) + (", …" if len(every) > _SHOWN_KEYS else "")


def _lacking(path: Path, video: str | None, names: Iterable[str]) -> InputError:
    return InputError(f"{path} has no captions of {video!r}; it has: {_some(names) or 'nothing'}")


def _kind(value: Any) -> str:
    names = {type(None): "null", bool: "true or false", str: "a text", list: "a list", dict: "an object"}
    return names.get(type(value), "a number")
