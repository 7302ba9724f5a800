"""Where each video's captions lie in a caption file: byte positions, found in one pass without keeping what is passed.

A file of gigabytes is mapped, not read; only the part of a wanted video is parsed.
"""

from __future__ import annotations

import json
import mmap
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from videohv.data.forms import RECORD_FIELDS, RawCaption, raw_captions, record, video_of
from videohv.errors import InputError

_BOM = b"\xef\xbb\xbf"
_SPACE = re.compile(rb"[ \t\r\n]*")
_STRING = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"', re.DOTALL)
_SCALAR = re.compile(rb'[^\s,\[\]{}":]+')
_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{}"]', re.DOTALL)
_OPENING, _CLOSING = (b"[", b"{"), (b"]", b"}")
_LINES = {".jsonl", ".ndjson"}


class Piece(NamedTuple):
    """A stretch `[start, end)` of a file in bytes; `first` numbers its first line or item."""

    start: int
    end: int
    first: int = 0


class CaptionIndex:
    """Which videos a file holds and where.

    Args:
        path: A JSON or JSON Lines file (UTF-8).

    Attributes:
        pieces: The pieces of each video in the order of the file. Captions that name no video are those of "".
        of_records: Whether each caption is an object of its own, that may name a video.

    Raises:
        InputError: The file cannot be read or is none of captions; the message names the file and the place.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.pieces: dict[str, list[Piece]] = {}
        self._last: str | None = None
        self.of_records = self._lines = path.suffix.lower() in _LINES
        with reading(path), path.open("rb") as file:
            self._stamp = _stamp(file.fileno())
            if os.fstat(file.fileno()).st_size:
                with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                    self._find(data)
            elif not self._lines:
                raise self._none()

    def raw(self, name: str) -> Iterator[RawCaption]:
        """The captions of a video of `pieces`, as published and in the order of the file.

        Raises:
            InputError: The file changed since it was indexed, is not UTF-8 or JSON there, or an entry is wrong.
        """
        with reading(self.path), self.path.open("rb") as file:
            if _stamp(file.fileno()) != self._stamp:
                raise InputError(f"{self.path} changed while it was in use: start again")
            for piece in self.pieces[name]:
                file.seek(piece.start)
                data = file.read(piece.end - piece.start)
                if self._lines:
                    for number, line in enumerate(data.split(b"\n"), piece.first):
                        if line.strip():
                            yield record(self._json(line, f", line {number}"), f"{self.path}, line {number}")
                elif self.of_records:
                    for number, item in enumerate(self._json(b"[" + data + b"]"), piece.first):
                        yield record(item, f"{self.path}, item {number}")
                else:
                    yield from raw_captions(self._json(data), f"{self.path}: {name!r}" if name else f"{self.path}")

    def _find(self, data: mmap.mmap) -> None:
        start = _skip(data, len(_BOM) if data[: len(_BOM)] == _BOM else 0)
        if self._lines:
            self._find_lines(data, start)
        elif data[start : start + 1] == b"[":
            self._find_items(data, start)
        elif data[start : start + 1] == b"{":
            self._find_members(data, start)
        else:
            raise self._none()

    def _find_members(self, data: mmap.mmap, start: int) -> None:
        """Videos by name; or captions by second, or a record a line, both known by the first member."""
        for place, piece in self._parts(data, start):
            name = self._json(data[place.start : place.end])
            if not self.pieces and data[piece.start : piece.start + 1] not in (b"[", b"{"):
                if name in RECORD_FIELDS:
                    self._lines = self.of_records = True
                    return self._find_lines(data, start)
                self.pieces[""] = [Piece(start, len(data))]
                return None
            if name in self.pieces:
                raise InputError(f"{self.path} has the video {name!r} twice: leave one of them out")
            self.pieces[name] = [piece]
        return None

    def _find_items(self, data: mmap.mmap, start: int) -> None:
        items = [piece for _, piece in self._parts(data, start)]
        self.of_records = any(data[piece.start : piece.start + 1] == b"{" for piece in items)
        if not self.of_records:
            self.pieces[""] = [Piece(start, len(data))]
            return
        for number, (at, end, _) in enumerate(items):
            self._add(self._json(data[at:end]), f"item {number}", Piece(at, end, number))

    def _find_lines(self, data: mmap.mmap, start: int) -> None:
        at, number = start, data[:start].count(b"\n") + 1
        while at < len(data):
            end = data.find(b"\n", at) + 1 or len(data)
            if data[at:end].strip():
                self._add(self._json(data[at:end], f", line {number}"), f"line {number}", Piece(at, end, number))
            at, number = end, number + 1

    def _add(self, item: Any, place: str, piece: Piece) -> None:
        """Note a record under its video; neighbours become one piece."""
        name = video_of(item, f"{self.path}, {place}")
        if name == self._last:
            self.pieces[name][-1] = self.pieces[name][-1]._replace(end=piece.end)
        else:
            self.pieces.setdefault(name, []).append(piece)
        self._last = name

    def _parts(self, data: mmap.mmap, start: int) -> Iterator[tuple[Piece, Piece]]:
        """The members of an object or the items of a list: where the name and where the value lies."""
        named = data[start : start + 1] == b"{"
        close = b"}" if named else b"]"
        at, part = _skip(data, start + 1), Piece(start, start)
        while data[at : at + 1] != close:
            if named:
                part = Piece(at, self._end(data, at))
                at = _skip(data, part.end)
                if data[part.start : part.start + 1] != b'"' or data[at : at + 1] != b":":
                    raise InputError(f"{self.path} is not JSON: a name and ':' were expected at byte {at}")
                at = _skip(data, at + 1)
            value = Piece(at, self._end(data, at))
            yield part, value
            at = _skip(data, value.end)
            if data[at : at + 1] not in (b",", close):
                raise InputError(f"{self.path} is not JSON: ',' or {close.decode()!r} was expected at byte {at}")
            at = _skip(data, at + 1) if data[at : at + 1] == b"," else at

    def _end(self, data: mmap.mmap, at: int) -> int:
        """Where the value ends that begins here, without parsing what is in it."""
        match = _STRING.match(data, at) or _SCALAR.match(data, at)
        if match is not None:
            return match.end()
        depth = 0
        for token in _TOKEN.finditer(data, at):
            mark = token.group()
            if mark in _OPENING:
                depth += 1
            elif mark in _CLOSING:
                depth -= 1
            if depth <= 0 or mark == b'"':
                if depth == 0 and mark in _CLOSING:
                    return token.end()
                break
        raise InputError(f"{self.path} is not JSON: what begins at byte {at} does not end")

    def _json(self, data: bytes, place: str = "") -> Any:
        try:
            return json.loads(data.decode("utf-8"))
        except UnicodeDecodeError as e:
            raise InputError(f"{self.path}{place} is not UTF-8 text: is it a captions file?") from e
        except (ValueError, RecursionError) as e:
            raise InputError(f"{self.path}{place} is not JSON: {e}") from e

    def _none(self) -> InputError:
        return InputError(f"{self.path} is empty or not JSON: captions are a JSON object, a JSON list or JSON Lines")


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Turn what the system says of a captions file into an `InputError`."""
    try:
        yield
    except OSError as e:
        raise InputError(f"cannot read the captions file {path}: {e.strerror}") from e


def _skip(data: mmap.mmap, at: int) -> int:
    match = _SPACE.match(data, at)
    return match.end() if match else at


def _stamp(descriptor: int) -> tuple[int, int, int]:
    state = os.fstat(descriptor)
    return state.st_ino, state.st_size, state.st_mtime_ns
