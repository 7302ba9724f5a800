"""Files that appear whole or not at all."""

from __future__ import annotations

import os
import tempfile
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
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
        try:
            with os.fdopen(handle, "w", encoding="utf-8") as file:
                yield file
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)
    except OSError as e:
        raise InputError(f"cannot write the captions file {path}: {e.strerror}") from e
