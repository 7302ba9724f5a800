"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO

from videohv.errors import InputError


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """A text file (UTF-8) to write to; it takes its name when the block ends, and never when the block fails.

    Raises:
        InputError: It cannot be written.
    """
    with _draft(path) as draft, draft.open("x", encoding="utf-8") as file:
        yield file
        file.flush()
        os.fsync(file.fileno())


def write_whole(path: Path, content: str | bytes) -> None:
    """Write a file at once; text is written as UTF-8.

    Raises:
        InputError: It cannot be written.
    """
    with _draft(path) as draft, draft.open("xb") as file:
        file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())


@contextmanager
def _draft(path: Path) -> Iterator[Path]:
    # Not made by `tempfile`: such files are for their owner alone, and this one is to be as open as any other.
    draft = path.with_name(f".{path.name}.{uuid.uuid4().hex[:12]}")
    try:
        try:
            yield draft
            draft.replace(path)
        finally:
            draft.unlink(missing_ok=True)
    except OSError as e:
        raise InputError(f"{path} cannot be written: {e.strerror}") from e
