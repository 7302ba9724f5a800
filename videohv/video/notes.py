"""What is only found out about a file while frames are read from it."""

from __future__ import annotations

from collections import OrderedDict
from pathlib import Path
from threading import Lock

from videohv.errors import NotVideo
from videohv.video.identity import FileId, check_file

_REMEMBERED = 1024


class Notes:
    """Remarks about files, kept for the process, each once. Safe for threads.

    Remarks about at most 1024 files are kept, the oldest going first; a file that has changed has none.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._of: OrderedDict[FileId, tuple[str, ...]] = OrderedDict()

    def add(self, path: Path, note: str) -> None:
        """Remarks something about a file.

        Raises:
            NotVideo: The file cannot be looked at.
        """
        key = check_file(path)
        with self._lock:
            before = self._of.get(key, ())
            if note not in before:
                self._of[key] = (*before, note)
            while len(self._of) > _REMEMBERED:
                self._of.popitem(last=False)

    def of(self, path: Path) -> tuple[str, ...]:
        """What was remarked about the file as it is now; nothing when it is gone."""
        try:
            key = check_file(path)
        except NotVideo:
            return ()
        with self._lock:
            return self._of.get(key, ())


NOTES = Notes()
"""For users to see: `Video.warnings` ends with them."""
