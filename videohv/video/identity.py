"""What a file is: checks before anything opens it, and values that are worked out once per file and process."""

from __future__ import annotations

import hashlib
import os
import stat
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Generic, NamedTuple, TypeVar

from videohv.errors import NotVideo

T = TypeVar("T")

_CHUNK = 1 << 20
_REMEMBERED = 1024


class FileId(NamedTuple):
    """Names the contents of a file for as long as nobody writes to it."""

    path: str
    size: int
    mtime_ns: int
    inode: int


def check_file(path: Path) -> FileId:
    """Looks at a file without reading it.

    Args:
        path: Any path; taken relative to the working directory, and never as a pattern or an address.

    Returns:
        The file's identity. Its path is absolute.

    Raises:
        NotVideo: The path is missing, not an ordinary file, empty, or may not be read.
    """
    full = path.absolute()
    try:
        found = full.stat()
    except FileNotFoundError:
        raise NotVideo(f"{path}: there is no such file; check the path") from None
    except (OSError, ValueError) as error:
        raise NotVideo(f"{path}: cannot be looked at ({_reason(error)}); check the path and its permissions") from error
    if stat.S_ISDIR(found.st_mode):
        raise NotVideo(f"{path}: is a directory; give a video file in it")
    if not stat.S_ISREG(found.st_mode):
        raise NotVideo(f"{path}: is not an ordinary file; copy the video to a file first")
    if found.st_size == 0:
        raise NotVideo(f"{path}: is empty (0 bytes); download or copy it again")
    if not os.access(full, os.R_OK):
        raise NotVideo(f"{path}: may not be read by this user; change its permissions")
    return FileId(str(full), found.st_size, found.st_mtime_ns, found.st_ino)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


class _Slot(Generic[T]):
    """One remembered value with the lock under which it is made."""

    def __init__(self) -> None:
        self.lock = Lock()
        self.values: list[T] = []


class PerFile(Generic[T]):
    """Calls a function of a path once per file, however many threads ask, and again when the file has changed.

    At most 1024 values are kept, the longest unused going first; a call that raises is not remembered.
    """

    def __init__(self, make: Callable[[Path], T]) -> None:
        self._make = make
        self._lock = Lock()
        self._slots: OrderedDict[FileId, _Slot[T]] = OrderedDict()

    def __call__(self, path: Path) -> T:
        """The value for the file as it is now.

        Raises:
            NotVideo: The file cannot be read at all.
        """
        key = check_file(path)
        with self._lock:
            slot = self._slots.setdefault(key, _Slot())
            self._slots.move_to_end(key)
            while len(self._slots) > _REMEMBERED:
                self._slots.popitem(last=False)
        with slot.lock:
            if not slot.values:
                slot.values.append(self._make(path))
            return slot.values[0]


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    try:
        with path.absolute().open("rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
    except OSError as error:
        raise NotVideo(f"{path}: cannot be read to the end ({_reason(error)})") from error
    return digest.hexdigest()


_hashes = PerFile(_sha256)


def content_hash(path: Path) -> str:
    """SHA-256 over the whole file, in hexadecimal.

    The file is read once in this process, in chunks of 1 MiB, and the result is kept for its path, size, time of change
    (nanoseconds) and inode; only when one of these differs is the file read again.

    Raises:
        NotVideo: The file cannot be read.
    """
    return _hashes(path)
