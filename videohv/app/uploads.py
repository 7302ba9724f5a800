"""Uploads on their way in: in pieces, within their limits, whole or not at all."""

from __future__ import annotations

import threading
from contextlib import suppress
from pathlib import Path

from videohv.errors import InputError


class TooLarge(InputError):
    """An upload is larger than is allowed."""


class NoRoom(TooLarge):
    """There is no room left for it, on the disk or among the uploads."""


class Upload:
    """A file that is coming in: `write` its pieces, then `finish`. When it is dropped, nothing remains of it."""

    def __init__(self, path: Path, most: int, room: Room) -> None:
        self.path, self._most, self._room, self._size = path, most, room, 0
        self._part = path.with_name(f".{path.name}.part")
        self._file = self._part.open("xb")

    def write(self, piece: bytes) -> None:
        """Add a piece.

        Raises:
            TooLarge: It is more than is allowed.
            NoRoom: There is no room left.
        """
        if self._size + len(piece) > self._most:
            raise TooLarge(f"the upload has more than the {self._most:,} bytes that are possible")
        self._room.take(len(piece))
        self._size += len(piece)
        try:
            self._file.write(piece)
        except OSError as error:
            raise NoRoom(f"the upload cannot be kept: {error.strerror}") from error

    def finish(self) -> Path:
        """The whole file, under its name."""
        try:
            self._file.close()
            return self._part.replace(self.path)
        except OSError as error:
            raise NoRoom(f"the upload cannot be kept: {error.strerror}") from error

    def drop(self) -> None:
        """Remove what there is of it."""
        with suppress(OSError):
            self._file.close()
        self._part.unlink(missing_ok=True)
        self.path.unlink(missing_ok=True)
        self._room.take(-self._size)
        self._size = 0


class Room:
    """Bytes that uploads may still take, together."""

    def __init__(self, left: int) -> None:
        self._left, self._lock = left, threading.Lock()

    def require(self, size: int) -> None:
        """Raise NoRoom where so many are not left."""
        if size > self._left:
            raise NoRoom("there is no room left for uploads: start the command anew, which removes them")

    def take(self, size: int) -> None:
        """Take some of them, or give some back; raises as `require`."""
        with self._lock:
            if size > 0:
                self.require(size)
            self._left -= size


def size_of(folder: Path | None) -> int:
    """Bytes of the files in a folder; 0 without one."""
    return sum(file.stat().st_size for file in folder.iterdir() if file.is_file()) if folder is not None else 0
