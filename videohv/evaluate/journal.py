"""The journal of a run: one line a finished question, appended and synced before it counts.

`results.jsonl` is only ever appended to. A line holds the question's `Row` first and its full trace after it, so that
tables are made without parsing traces. A question that was asked again has a later line, and the latest counts. A line
that a killed process left half written is cut off when the run is opened again; readers skip it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

from pydantic import ValidationError

from videohv.data.taken import take
from videohv.errors import InputError, VideoHVError
from videohv.evaluate.row import Row
from videohv.types import Trace

NAME = "results.jsonl"

_HEAD, _BETWEEN, _TAIL = b'{"row":', b',"trace":', b"}\n"

Key = tuple[str, int]


class Entry(NamedTuple):
    """Where the latest line of a question lies in the file, and its row."""

    row: Row
    offset: int
    length: int


class Spent(NamedTuple):
    """What all lines of a run together cost, repeated questions included."""

    calls: int = 0
    tokens: int = 0
    cost: float = 0.0

    def plus(self, row: Row) -> Spent:
        """With one more line."""
        tokens = row.prompt_tokens + row.completion_tokens
        return Spent(self.calls + row.calls, self.tokens + tokens, self.cost + (row.cost or 0.0))


class Journal:
    """The journal of one run, opened for writing. Only one process can have it open.

    Args:
        folder: The run's directory, made when absent.

    Raises:
        InputError: If another process has it open, or a line in it is damaged.
        VideoHVError: If it cannot be read or written.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / NAME
        try:
            self._lock = take(folder)
        except OSError as error:
            raise VideoHVError(f"the run directory {folder} cannot be used ({error.strerror})") from error
        try:
            self.repaired = _cut_torn_line(self.path)
            self.entries: dict[Key, Entry] = {}
            self.spent = Spent()
            for entry in _entries(self.path):
                self.entries[entry.row.key] = entry
                self.spent = self.spent.plus(entry.row)
            self._file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        except BaseException:
            self._lock.release()
            raise

    def append(self, row: Row, trace_json: str) -> None:
        """Write one finished question and wait until it is on disk.

        Raises:
            VideoHVError: If it can't be written. The journal is then as it was before.
        """
        line = line_of(row, trace_json)
        offset = os.fstat(self._file).st_size
        try:
            written = 0
            while written < len(line):
                written += os.write(self._file, line[written:])
            os.fsync(self._file)
        except OSError as error:
            os.ftruncate(self._file, offset)
            raise VideoHVError(
                f"{self.path} cannot be written ({error.strerror}): what is finished is kept; make room and run the "
                "same command again"
            ) from error
        self.entries[row.key] = Entry(row, offset, len(line))
        self.spent = self.spent.plus(row)

    def close(self) -> None:
        """Let others have it."""
        os.close(self._file)
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def line_of(row: Row, trace_json: str) -> bytes:
    """A line of the journal."""
    return b"".join((_HEAD, row.model_dump_json().encode(), _BETWEEN, trace_json.encode(), _TAIL))


def read_rows(folder: Path) -> list[Row]:
    """The latest row of every question of a run, in the order in which they were first finished.

    Raises:
        InputError: If there is no run, or a line is damaged.
    """
    return [entry.row for entry in read_entries(folder).values()]


def read_entries(folder: Path) -> dict[Key, Entry]:
    """The latest entry of every question of a run, for `read_trace`; raises as `read_rows`."""
    if not (folder / NAME).is_file():
        raise InputError(f"{folder} holds no run: {NAME} is not there")
    return {entry.row.key: entry for entry in _entries(folder / NAME)}


def read_trace(folder: Path, entry: Entry) -> Trace:
    """The full trace of one entry."""
    with (folder / NAME).open("rb") as file:
        file.seek(entry.offset)
        return _trace(file.read(entry.length), folder / NAME, entry.row.id)


def read_traces(folder: Path, entries: Mapping[Key, Entry] | None = None) -> Iterator[tuple[Row, Trace]]:
    """The latest row and trace of every question, one at a time; raises as `read_rows`.

    Args:
        folder: The run's directory.
        entries: Those to read; None is all that `read_entries` finds.
    """
    entries = read_entries(folder) if entries is None else entries
    with (folder / NAME).open("rb") as file:
        for entry in entries.values():
            file.seek(entry.offset)
            yield entry.row, _trace(file.read(entry.length), folder / NAME, entry.row.id)


def _trace(line: bytes, path: Path, question_id: str) -> Trace:
    try:
        return Trace.model_validate_json(line.partition(_BETWEEN)[2].removesuffix(_TAIL))
    except ValidationError as error:
        raise InputError(f"{path}: the trace of question {question_id!r} is damaged or of another version") from error


def _entries(path: Path) -> Iterator[Entry]:
    """All whole lines in their order."""
    if not path.exists():
        return
    offset = 0
    with path.open("rb") as file:
        for number, line in enumerate(file, start=1):
            if not line.endswith(b"\n"):
                return
            head, between, _ = line.partition(_BETWEEN)
            if not (head.startswith(_HEAD) and between and line.endswith(b"}" + _TAIL)):
                raise _damaged(path, number, "it is not a line of a journal")
            try:
                row = Row.model_validate_json(head[len(_HEAD) :])
            except ValidationError as error:
                first = error.errors(include_url=False, include_input=False)[0]
                raise _damaged(path, number, f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error
            yield Entry(row, offset, len(line))
            offset += len(line)


def _damaged(path: Path, number: int, why: str) -> InputError:
    return InputError(
        f"{path}, line {number} is damaged ({why}): delete that line, and its question will be asked again"
    )


def _cut_torn_line(path: Path) -> bool:
    """Cut off what a killed process left after the last whole line; whether there was such a thing."""
    if not path.exists():
        return False
    with path.open("rb+") as file:
        size = file.seek(0, os.SEEK_END)
        end = size
        while end > 0:
            start = max(0, end - (1 << 16))
            file.seek(start)
            newline = file.read(end - start).rfind(b"\n")
            if newline >= 0:
                end = start + newline + 1
                break
            end = start
        if end == size:
            return False
        file.truncate(end)
        return True
