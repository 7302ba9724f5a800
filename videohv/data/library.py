"""Captions of a whole benchmark, as published: indexed once, each video parsed when it is asked for."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Self

from videohv.data.caption_index import CaptionIndex, reading
from videohv.data.forms import RawCaption, plain
from videohv.data.names import Names, some
from videohv.errors import InputError
from videohv.types import Caption

_SUFFIXES = {".json", ".jsonl", ".ndjson"}


class CaptionLibrary:
    """The captions of many videos. Made by `CaptionLibrary.open`; any number of threads may use one at once.

    What is held in memory is where each video's captions lie, not the captions.
    """

    def __init__(self, path: Path, files: dict[str, tuple[CaptionIndex | Path, str]]) -> None:
        self.path = path
        self._files = files
        self._names = Names(files)

    @classmethod
    def open(cls, path: Path | str) -> Self:
        """Index a file that names its videos, or a folder with one file a video.

        Args:
            path: A JSON or JSON Lines file in one of the forms of `videohv.data.captions`, with the video's name in
                it; or a folder with such files (`.json`, `.jsonl`, `.ndjson`, looked for in its subfolders too), each
                about the one video that it is called after.

        Raises:
            InputError: The file or folder cannot be read, has another form, does not say what video its captions
                belong to, or has two files for one video.
        """
        path = Path(path)
        if path.is_dir():
            return cls(path, _folder(path))
        index = CaptionIndex(path)
        if "" in index.pieces:
            raise InputError(
                f"{path} has captions that name no video: for many videos it must be an object by video, "
                'or each record needs a "video"'
            )
        return cls(path, {name: (index, name) for name in index.pieces})

    @property
    def videos(self) -> tuple[str, ...]:
        """The names of the videos, in the order of the file or, of a folder, sorted."""
        return tuple(self._files)

    def __len__(self) -> int:
        return len(self._files)

    def find(self, video: str) -> str | None:
        """The library's own name of a video, given its name or path: exact, or without directory and extension."""
        return self._names.find(video)

    def captions(self, video: str) -> tuple[Caption, ...] | None:
        """The captions of a video in the order of time, through `normalise`; None when it has none of it.

        Raises:
            InputError: The video's entry is wrong, or the file changed; the message names file, key and index.
        """
        name = self.find(video)
        return None if name is None else plain(self.raw(name))

    def raw(self, name: str) -> Iterator[RawCaption]:
        """The captions of one of `videos` as they were published, in the order of the file.

        Raises:
            InputError: The library has no such name; or as `captions`.
        """
        if name not in self._files:
            raise InputError(f"{self.path} has no captions of {name!r}; it has: {some(self.videos)}")
        place, inner = self._files[name]
        if isinstance(place, CaptionIndex):
            yield from place.raw(inner)
            return
        index = CaptionIndex(place)
        if len(index.pieces) > 1:
            raise InputError(f"{place} holds {len(index.pieces)} videos: in a folder each file is about one")
        for only in index.pieces:
            yield from index.raw(only)

    @cached_property
    def digest(self) -> str:
        """See `captions_digest`."""
        return captions_digest(self.path)


def captions_digest(path: Path) -> str:
    """SHA-256 of a captions file; of a folder, of its files' names and contents. Nothing in it is parsed.

    Raises:
        InputError: It cannot be read, or the folder has no captions.
    """
    if path.is_file():
        return _sha256(path)
    total = hashlib.sha256()
    for name, (place, _) in _folder(path).items():
        if isinstance(place, Path):
            total.update(f"{name}\t{_sha256(place)}\n".encode())
    return total.hexdigest()


def _folder(path: Path) -> dict[str, tuple[CaptionIndex | Path, str]]:
    files: dict[str, tuple[CaptionIndex | Path, str]] = {}
    with reading(path):
        for file in sorted(path.rglob("*"), key=lambda p: (p.stem, p)):
            if file.suffix.lower() in _SUFFIXES and not file.name.startswith(".") and file.is_file():
                if file.stem in files:
                    raise InputError(f"two files of captions for {file.stem!r}: {files[file.stem][0]} and {file}")
                files[file.stem] = (file, "")
    if not files:
        raise InputError(f"{path} has no captions: one {', '.join(sorted(_SUFFIXES))} file a video was looked for")
    return files


def _sha256(path: Path) -> str:
    with reading(path), path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
