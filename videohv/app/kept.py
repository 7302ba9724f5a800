"""What was asked before: ended questions as files of their own, and the runs of a folder."""

from __future__ import annotations

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from pydantic import ValidationError

from videohv.app.job import Asked, Job, State
from videohv.data.whole import write_whole
from videohv.errors import InputError
from videohv.evaluate.manifest import NAME as MANIFEST
from videohv.types import Trace, Value

MOST = 200
"""Questions that are kept; with more, the oldest ones are removed."""

_MOST_RUNS = 200


class Ended(Value):
    """A question that was asked, as it is kept.

    Args:
        id: Of its job.
        asked: What it was about.
        created: Seconds since the epoch.
        seconds: How long it took.
        state: How it ended.
        error: Why there is no answer, or empty.
        trace: What happened; None if it did not come so far.
    """

    id: str
    asked: Asked
    created: float
    seconds: float
    state: State
    error: str = ""
    trace: Trace | None = None


def as_ended(job: Job) -> Ended:
    """A job as it is kept."""
    return Ended(
        id=job.id,
        asked=job.asked,
        created=job.created,
        seconds=job.seconds,
        state=job.ending,
        error=job.error,
        trace=job.trace,
    )


class Kept:
    """Ended questions in a folder, one file each.

    Args:
        folder: Made when absent.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, ended: Ended) -> None:
        """Keep one, whole or not at all."""
        write_whole(self._folder / f"{ended.id}.json", ended.model_dump_json())
        for path in self._paths()[MOST:]:
            path.unlink(missing_ok=True)

    def get(self, name: str) -> Ended | None:
        """The one of an id; None if there is none that could be read."""
        if not name or set(name) - set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"):
            return None
        return _read(self._folder / f"{name}.json")

    def all(self, most: int = 50) -> Sequence[Ended]:
        """The newest ones, newest first; files that are damaged are passed over."""
        return [ended for path in self._paths()[:most] if (ended := _read(path)) is not None]

    def _paths(self) -> list[Path]:
        """Newest first."""
        files: list[tuple[float, str]] = []
        with os.scandir(self._folder) as entries:
            for entry in entries:
                # Another process may be removing it.
                with suppress(FileNotFoundError):
                    if entry.name.endswith(".json"):
                        files.append((entry.stat().st_mtime, entry.path))
        return [Path(path) for _, path in sorted(files, reverse=True)]


class Runs:
    """Benchmark runs in a folder, at any depth up to three.

    Args:
        folder: None has none.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder.resolve() if folder is not None else None

    def names(self) -> list[str]:
        """Their names below the folder, sorted."""
        if self._folder is None:
            return []
        found = {path.parent for depth in ("*", "*/*", "*/*/*") for path in self._folder.glob(f"{depth}/{MANIFEST}")}
        return sorted(str(path.relative_to(self._folder)) for path in found)[:_MOST_RUNS]

    def path_of(self, name: str) -> Path:
        """The directory of a run.

        Raises:
            InputError: There is no run of that name.
        """
        if self._folder is None or name not in self.names():
            raise InputError(f"there is no run {name!r} in the folder of runs")
        return self._folder / name


def _read(path: Path) -> Ended | None:
    try:
        return Ended.model_validate_json(path.read_bytes())
    except (OSError, ValidationError):
        return None
