"""Where a benchmark's rows come from: files that its authors publish, or the Hugging Face Hub."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from videohv.data.card import Card, File, HubSet, Split
from videohv.data.row import Row
from videohv.errors import InputError, MissingExtra, VideoHVError

HubLoader = Callable[[HubSet], Iterable[Mapping[str, Any]]]
"""Gives the rows of a data set on the Hub as plain objects."""


class Source:
    """What a benchmark reads one split from.

    Args:
        card: The benchmark's card.
        split: The split.
        root: The data root; None without one.
        loader: Gives rows of the Hub; None reads the rows from files.

    Attributes:
        used: Names of what was read: file names without directories, Hub ids.
        notes: What is unusual about it and no row's fault.
    """

    def __init__(self, card: Card, split: Split, root: Path | None, loader: HubLoader | None = None) -> None:
        self.card, self.split, self.root = card, split, root
        self.used: list[str] = []
        self.notes: list[str] = []
        self._loader = loader
        if loader is None and root is None:
            raise InputError(f"{card.name}: say where its files lie (--data-root DIR), or take it from the Hub (--hub)")
        if root is not None and not root.is_dir():
            raise InputError(f"the data root {root} is not a folder")

    @property
    def hub(self) -> bool:
        """Whether the rows come from the Hub."""
        return self._loader is not None

    def find(self, role: str, video: str = "") -> Path | None:
        """The file of that role (and of that video, where it is one of many), if it is there."""
        if self.root is None or "/" in video or "\\" in video:
            return None
        for file in self._files(role):
            for name in file.paths:
                path = self.root / name.format(split=self.split.name, video=video)
                if path.is_file():
                    if not video and path.name not in self.used:
                        self.used.append(path.name)
                    return path
        return None

    def need(self, *roles: str) -> Path:
        """The file of the first of these roles that is there.

        Raises:
            InputError: There is none; the message lists what was looked for, where, and where it comes from.
        """
        for role in roles:
            found = self.find(role)
            if found is not None:
                return found
        looked = [
            f"{' or '.join(name.format(split=self.split.name, video='VIDEO') for name in file.paths)} ({file.origin})"
            for role in roles
            for file in self._files(role)
        ]
        hub = f"; the Hub has it as {self.split.hub} (--hub)" if self.split.hub is not None else ""
        name = f"{self.card.name}:{self.split.name}"
        raise InputError(f"{name}: looked under {self.root} for {'; '.join(looked)}: not there{hub}")

    def own_file(self) -> Path:
        """The file that the split is called after, of a benchmark of one's own.

        Raises:
            InputError: It is not there.
        """
        path = Path(self.root or "", self.split.name)
        if not path.is_file():
            raise InputError(f"there is no file {path}")
        self.used.append(path.name)
        return path

    def rows(self, *roles: str) -> Iterator[Row]:
        """The rows of the split: of the Hub, or of the file of the first of these roles that is there.

        Raises:
            InputError: As `need`; the file has another form; the Hub does not have the split or cannot be read.
            MissingExtra: The package that reads it is not installed.
        """
        if self._loader is None:
            return read_rows(self.need(*(roles or ("questions",))))
        return self._hub_rows(self._loader)

    def json(self, role: str) -> dict[str, Any]:
        """A JSON object of the role's file; an empty one if the file is not there.

        Raises:
            InputError: The file is not JSON, or no object.
        """
        path = self.find(role)
        if path is None:
            return {}
        value = read_json(path)
        if not isinstance(value, dict):
            raise InputError(f"{path} is not a JSON object")
        return value

    def _files(self, role: str) -> list[File]:
        return [f for f in self.card.files if f.role == role and (not f.splits or self.split.name in f.splits)]

    def _hub_rows(self, loader: HubLoader) -> Iterator[Row]:
        where = self.split.hub
        if where is None:
            raise InputError(f"the Hub has no {self.card.name}:{self.split.name}: give its files with --data-root")
        self.used.append(str(where))
        for number, data in enumerate(loader(where)):
            yield Row(where.repo, f"row {number}", data)


def read_rows(path: Path) -> Iterator[Row]:
    """The rows of a file by its form: CSV or TSV, JSON Lines, Parquet, or JSON (a list, or an object of objects).

    Raises:
        InputError: It cannot be read or has another form.
        MissingExtra: It is Parquet and pyarrow is not installed.
    """
    match path.suffix.lower():
        case ".csv" | ".tsv":
            return _csv_rows(path)
        case ".jsonl" | ".ndjson":
            return _line_rows(path)
        case ".parquet":
            return _parquet_rows(path)
        case _:
            return _json_rows(path)


def read_json(path: Path) -> Any:
    """The parsed content of a JSON file.

    Raises:
        InputError: It cannot be read, or is not UTF-8 or JSON.
    """
    try:
        return json.loads(read_text(path))
    except (ValueError, RecursionError) as e:
        raise InputError(f"{path} is not JSON: {e}") from e


def hub_rows(where: HubSet) -> Iterable[Mapping[str, Any]]:
    """The rows of a data set on the Hub through the `datasets` package.

    Raises:
        MissingExtra: `datasets` is not installed.
        VideoHVError: The Hub cannot be reached, or does not have it.
    """
    try:
        import datasets
    except ImportError as e:
        raise MissingExtra("datasets", "hub", "reading benchmarks from the Hub") from e
    try:
        rows = datasets.load_dataset(
            where.repo, where.config or None, split=where.split, data_files=list(where.files) or None
        )
    except Exception as e:
        first = (str(e).splitlines() or [""])[0]
        raise VideoHVError(f"cannot load {where} from the Hub ({type(e).__name__}: {first})") from e
    return rows  # type: ignore[no-any-return]


def read_text(path: Path) -> str:
    """The content of a text file.

    Raises:
        InputError: It cannot be read or is not UTF-8.
    """
    try:
        return path.read_text(encoding="utf-8-sig")
    except OSError as e:
        raise InputError(f"cannot read {path}: {e.strerror}") from e
    except UnicodeDecodeError as e:
        raise InputError(f"{path} is not UTF-8 text (byte {e.start})") from e


def _csv_rows(path: Path) -> Iterator[Row]:
    text = io.StringIO(read_text(path), newline="")
    reader = csv.DictReader(text, delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
    try:
        if not reader.fieldnames:
            raise InputError(f"{path} is empty: a line with the columns' names was expected")
        for data in reader:
            yield Row(path.name, f"line {reader.line_num}", data)
    except csv.Error as e:
        raise InputError(f"{path}, line {reader.line_num} is not CSV: {e}") from e


def _line_rows(path: Path) -> Iterator[Row]:
    for number, line in enumerate(read_text(path).split("\n"), 1):
        if line.strip():
            try:
                yield Row(path.name, f"line {number}", json.loads(line))
            except (ValueError, RecursionError) as e:
                raise InputError(f"{path}, line {number} is not JSON: {e}") from e


def _json_rows(path: Path) -> Iterator[Row]:
    value = read_json(path)
    if isinstance(value, list):
        for number, item in enumerate(value):
            yield Row(path.name, f"item {number}", item)
    elif isinstance(value, dict):
        for key, item in value.items():
            yield Row(path.name, f"key {key!r}", item)
    else:
        raise InputError(f"{path} is neither a JSON list nor an object: it holds no rows")


def _parquet_rows(path: Path) -> Iterator[Row]:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError as e:
        raise MissingExtra("pyarrow", "hub", "reading Parquet files") from e
    try:
        number = 0
        with parquet.ParquetFile(path) as file:
            for batch in file.iter_batches():
                for data in batch.to_pylist():
                    yield Row(path.name, f"row {number}", data)
                    number += 1
    except (OSError, pyarrow.ArrowException) as e:
        raise InputError(f"{path} cannot be read as Parquet: {e}") from e
