"""The video files of a benchmark: found by the video's name wherever they lie in a folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from videohv.data.names import stem
from videohv.errors import InputError

_SUFFIXES = {".mp4", ".mkv", ".webm", ".avi", ".mov", ".m4v", ".mpg", ".mpeg", ".ts", ".flv", ".wmv", ".ogv", ".3gp"}


class VideoFolder:
    """A folder with videos, looked through once; any number of threads may use it at once.

    Args:
        path: The folder. Files lie in it or in its subfolders, at any depth, under the video's name with a video's
            extension (`0101/2909445186.mp4` is `2909445186`).

    Raises:
        InputError: It is not a folder, or cannot be read.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        if not self.path.is_dir():
            raise InputError(f"the video folder {self.path} is not a folder")
        self._files: dict[str, list[Path]] = {}
        try:
            for folder, subfolders, names in os.walk(self.path):
                subfolders.sort()
                for name in sorted(names):
                    file = Path(folder, name)
                    if file.suffix.lower() in _SUFFIXES and not name.startswith("."):
                        self._files.setdefault(file.stem, []).append(file)
        except OSError as e:
            raise InputError(f"cannot read the video folder {self.path}: {e.strerror}") from e

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[Path]:
        """The files, in the order of their folders and names."""
        return (file for files in self._files.values() for file in files)

    def find(self, *names: str) -> Path | None:
        """The file of the video that has one of these names; None if there is none.

        Args:
            names: The video's names, tried in their order, such as `Dataset.names_of(question)` gives. A directory or
                extension in a name does not matter.

        Raises:
            InputError: Several files have the name; the message names two.
        """
        for name in names:
            found = self._files.get(name) or self._files.get(stem(name), [])
            if len(found) > 1:
                raise InputError(f"two files could be the video {name!r}: {found[0]} and {found[1]}; remove one")
            if found:
                return found[0]
        return None

    def need(self, *names: str) -> Path:
        """As `find`, for a video that must be there.

        Raises:
            InputError: As `find`; or there is no such file.
        """
        found = self.find(*names)
        if found is None:
            wanted = " or ".join(repr(name) for name in names if name) or "a video without a name"
            raise InputError(f"no video file is called {wanted} in {self.path}, which has {len(self)} videos")
        return found
