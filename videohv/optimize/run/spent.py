"""What a compile has spent, kept from one sitting to the next however the last one ended."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path
from types import TracebackType
from typing import Self

from videohv.errors import InputError
from videohv.lm.counter import Amount, Change, Totals

_WIDTH = 128


class KeptCounter:
    """A counter for the threads of one process, whose sum is in a file before the next call is sent.

    The file is one short line of fixed width, written over in place: a process that is killed leaves the old line or
    the new one. What calls under way at that moment would have cost is not in it.

    Args:
        path: Made when absent.

    Raises:
        InputError: If it can't be read or written, or holds something else.
    """

    def __init__(self, path: Path) -> None:
        self._lock = threading.Lock()
        self._path = path
        try:
            self._file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            text = os.read(self._file, _WIDTH)
        except OSError as error:
            raise InputError(f"{path} cannot be used ({error.strerror})") from error
        try:
            self._totals = Totals(Amount(*map(float, json.loads(text)))) if text.strip() else Totals()
        except (ValueError, TypeError) as error:
            os.close(self._file)
            raise InputError(f"{path} does not say what was spent ({error}): delete it to count anew") from error

    def totals(self) -> Totals:
        """See `Counter`."""
        with self._lock:
            return self._totals

    def update(self, change: Change) -> Totals:
        """See `Counter`."""
        with self._lock:
            before, self._totals = self._totals, change(self._totals)
            if self._totals.spent != before.spent and self._file >= 0:
                line = json.dumps(list(self._totals.spent)).ljust(_WIDTH - 1) + "\n"
                try:
                    os.lseek(self._file, 0, os.SEEK_SET)
                    os.write(self._file, line.encode())
                except OSError as error:
                    raise InputError(f"{self._path} cannot be written ({error.strerror})") from error
            return self._totals

    def close(self) -> None:
        """Write no more; what is counted after this is only in memory."""
        with self._lock:
            if self._file >= 0:
                os.close(self._file)
                self._file = -1

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
