"""The only files that the page may read: those below the allowed folders, and what was uploaded to it."""

from __future__ import annotations

import hashlib
import os
import re
import secrets
import stat
import threading
from collections.abc import Iterator, Sequence
from pathlib import Path

from videohv.app.uploads import Room, TooLarge, Upload, size_of
from videohv.errors import InputError
from videohv.types import Value, whole

KINDS = {
    ".mp4": "video/mp4",
    ".m4v": "video/mp4",
    ".mov": "video/quicktime",
    ".mkv": "video/x-matroska",
    ".webm": "video/webm",
    ".avi": "video/x-msvideo",
    ".ts": "video/mp2t",
    ".mts": "video/mp2t",
    ".m2ts": "video/mp2t",
    ".mpg": "video/mpeg",
    ".mpeg": "video/mpeg",
    ".vob": "video/mpeg",
    ".ogv": "video/ogg",
    ".3gp": "video/3gpp",
    ".wmv": "video/x-ms-wmv",
    ".asf": "video/x-ms-asf",
    ".flv": "video/x-flv",
    ".mxf": "application/mxf",
}
"""What a file is served as, by its ending. No other file is served at all, so that none is taken for a page."""

SUFFIXES = tuple(KINDS)
MOST_LISTED = 500
_MOST_VISITED = 20_000
_LONGEST_NAME = 120
_UNSAFE = re.compile(r"[^\w.,()\[\] +-]")


class WrongKind(InputError):
    """An upload is no video by its name or its content."""


class Found(Value):
    """A video file that may be asked about.

    Args:
        id: Names it towards the page; it says nothing of where the file lies.
        name: File name.
        folder: The allowed folder's name and the way below it.
        bytes: Size.
    """

    id: str
    name: str
    folder: str
    bytes: int


class Places:
    """What may be read.

    Args:
        folders: Files below them may be read, and no others.
        uploads: Where uploads go; made when absent. None takes none.
        upload_bytes: Most that one upload may have; all together may have four times that.

    Raises:
        InputError: A folder is not there.
    """

    def __init__(self, folders: Sequence[Path], uploads: Path | None = None, upload_bytes: int = 4 << 30) -> None:
        self.folders = tuple(_folder(folder) for folder in folders)
        self.uploads = uploads
        self.upload_bytes = upload_bytes
        if uploads is not None:
            uploads.mkdir(parents=True, exist_ok=True)
            self.uploads = uploads.resolve()
        self._known: dict[str, Path] = {}
        self._lock = threading.Lock()
        self._room = Room(4 * upload_bytes - size_of(self.uploads))

    def video(self, given: str) -> Path:
        """The same as `resolve`, for files that are named like a video; no others are shown to anybody.

        Raises:
            InputError: As `resolve`.
            WrongKind: It is not named like a video.
        """
        path = self.resolve(given)
        if path.suffix.lower() not in KINDS:
            raise WrongKind(f"{whole(given)!r} is not named like a video; known endings: {' '.join(SUFFIXES)}")
        return path

    def resolve(self, given: str) -> Path:
        """The file that a path means, if it may be read.

        Args:
            given: An absolute path, or one below an allowed folder.

        Raises:
            InputError: It is no regular file below an allowed folder once links are followed, or it is hidden. The
                message does not tell which, so that nothing is learnt of other places.
        """
        for start in (None, *self._roots()):
            path = _real(Path(given) if start is None else start / given) if _usable(given, start is None) else None
            if path is not None and self._root_of(path) is not None:
                return path
        raise InputError(
            f"{whole(given)!r} is not a file that may be read: give a path below one of the allowed folders"
        )

    def add(self, path: Path) -> Found:
        """Give a file that `video` returned an id."""
        root = self._root_of(path)
        name = hashlib.sha256(os.fsencode(path)).hexdigest()[:20]
        with self._lock:
            self._known[name] = path
        if root is None or root == self.uploads:
            folder, shown = "uploads", path.name.partition("~")[2] or path.name
        else:
            folder, shown = str(Path(root.name) / path.parent.relative_to(root)), path.name
        return Found(id=name, name=whole(shown), folder=whole(folder), bytes=path.stat().st_size)

    def path_of(self, name: str) -> Path:
        """The file of an id, looked at anew: it may have become a link meanwhile.

        Raises:
            InputError: There is none of that id, or it may not be read any longer.
        """
        with self._lock:
            path = self._known.get(name)
        if path is None:
            raise InputError(f"no video has the id {name!r}: list the videos, or open it by its path")
        return self.video(str(path))

    def list(self, most: int = MOST_LISTED) -> tuple[tuple[Found, ...], bool]:
        """Video files that may be read, by folder and name, and whether there are more than are listed."""
        found: dict[str, Found] = {}
        for path in self._walk():
            if path is None or len(found) == most:
                return tuple(found.values()), True
            try:
                one = self.add(self.video(str(path)))
            except (InputError, OSError):
                continue
            # A link beside the file that it leads to is the same video.
            found.setdefault(one.id, one)
        return tuple(found.values()), False

    def _walk(self) -> Iterator[Path | None]:
        """Files that are named like a video; None where it stops before it has seen all."""
        visited = 0
        for root in self._roots():
            for folder, folders, files in os.walk(root):
                folders[:] = sorted(name for name in folders if not name.startswith("."))
                visited += 1 + len(files)
                if visited > _MOST_VISITED:
                    yield None
                    return
                for name in sorted(files):
                    if name.lower().endswith(SUFFIXES) and not name.startswith("."):
                        yield Path(folder) / name

    def _roots(self) -> tuple[Path, ...]:
        return (*self.folders, *((self.uploads,) if self.uploads is not None else ()))

    def _root_of(self, path: Path) -> Path | None:
        for root in self._roots():
            if path.is_relative_to(root) and not any(part.startswith(".") for part in path.relative_to(root).parts):
                return root
        return None

    def upload(self, name: str, announced: int | None = None) -> Upload:
        """Begin to take an upload.

        Args:
            name: As the user's file is called; only its last part counts, and only harmless characters are kept.
            announced: Bytes that are going to come, if that was said.

        Raises:
            WrongKind: The name is not that of a video.
            TooLarge: It is announced to be too large.
            NoRoom: There is no room for it.
            InputError: No uploads are taken.
        """
        if self.uploads is None:
            raise InputError("no uploads are taken here; ask about a file in an allowed folder")
        last = whole(name).replace("\\", "/").rpartition("/")[2]
        stem, dot, suffix = last.rpartition(".")
        if f".{suffix.lower()}" not in SUFFIXES or not dot:
            raise WrongKind(f"{last!r} is not named like a video; known endings: {' '.join(SUFFIXES)}")
        if announced is not None and announced > self.upload_bytes:
            raise TooLarge(f"{last!r} has {announced:,} bytes; {self.upload_bytes:,} are possible")
        self._room.require(announced or 0)
        # A name has a most in bytes, not in letters.
        short = _UNSAFE.sub("_", stem).strip(" .").encode()[:_LONGEST_NAME].decode(errors="ignore")
        path = self.uploads / f"{secrets.token_hex(8)}~{short or 'video'}.{suffix.lower()}"
        return Upload(path, self.upload_bytes, self._room)


def _folder(path: Path) -> Path:
    try:
        real = path.expanduser().resolve(strict=True)
    except (OSError, ValueError, RuntimeError) as error:
        raise InputError(f"{path} cannot be used as an allowed folder ({error})") from error
    if not real.is_dir():
        raise InputError(f"{path} is no folder; give folders whose videos may be asked about")
    return real


def _usable(given: str, absolute: bool) -> bool:
    """Whether a text can be a path of that kind at all."""
    return bool(given) and "\0" not in given and Path(given).is_absolute() is absolute


def _real(path: Path) -> Path | None:
    """The regular file that a path leads to, all links followed; None if there is none."""
    try:
        real = path.resolve(strict=True)
        return real if stat.S_ISREG(real.lstat().st_mode) else None
    except (OSError, ValueError, RuntimeError):
        return None
