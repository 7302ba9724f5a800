"""Thousands of page fragments in one page: compressed in chunks, and unpacked by the browser when one is looked at."""

from __future__ import annotations

import base64
import gzip
import json
from typing import NamedTuple

from videohv.report.markup import Markup, joined, tag

BUDGET = 32_000_000
"""Bytes of packed fragments in one page at most."""

_CHUNK = 400_000
"""Characters that are compressed together: enough for what fragments share to be found, and unpacked in no time."""


class Place(NamedTuple):
    """Where a fragment lies: which chunk, and which of the fragments in it."""

    chunk: int
    item: int


class Packer:
    """Takes fragments one at a time and holds them compressed.

    Args:
        budget: Bytes at most; fragments beyond it are left out.
    """

    def __init__(self, budget: int = BUDGET) -> None:
        self._left = budget
        self._chunks: list[Markup] = []
        self._open: list[str] = []
        self._size = 0
        self.left_out = 0

    def add(self, fragment: Markup) -> Place | None:
        """Keep one; None when the budget is spent."""
        if self._left <= 0:
            self.left_out += 1
            return None
        self._open.append(fragment)
        self._size += len(fragment)
        place = Place(len(self._chunks), len(self._open) - 1)
        if self._size >= _CHUNK:
            self._close()
        return place

    @property
    def full(self) -> bool:
        """Whether nothing more is taken, so that a fragment need not be made."""
        return self._left <= 0

    def markup(self) -> Markup:
        """All chunks as elements for the end of a page; a browser neither shows nor runs them."""
        if self._open:
            self._close()
        return joined(self._chunks)

    def _close(self) -> None:
        whole = json.dumps(self._open, ensure_ascii=False, separators=(",", ":")).encode()
        # Level 6 of 9; a fixed time in its head, so that one run always gives one file.
        text = base64.b64encode(gzip.compress(whole, 6, mtime=0)).decode("ascii")
        self._left -= len(text)
        self._chunks.append(tag("script", Markup(text), type="text/plain", class_="chunk"))
        self._open, self._size = [], 0
