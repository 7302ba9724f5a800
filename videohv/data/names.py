"""By which name a video is found: its exact name first, then its name without directory and extension."""

from __future__ import annotations

import re
from collections.abc import Iterable

_SHOWN = 5


def stem(name: str) -> str:
    """A video's name without directory and without a file's extension (`a/b.mp4` is `b`, `v1.5` stays)."""
    base = re.split(r"[/\\]", name)[-1]
    return re.sub(r"\.[A-Za-z][A-Za-z0-9]{1,4}$", "", base) or base


class Names:
    """Names that are looked up by the rule above; of several with one stem the first is found.

    Args:
        names: In the order of their preference.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._exact = dict.fromkeys(names)
        self._by_stem: dict[str, str] = {}
        for name in self._exact:
            self._by_stem.setdefault(stem(name), name)

    def find(self, name: str) -> str | None:
        """The name that is meant, or None."""
        return name if name in self._exact else self._by_stem.get(stem(name))


def some(names: Iterable[str]) -> str:
    """The first few names, quoted, for a message; `nothing` when there are none."""
    every = [repr(name) for name in names]
    return (", ".join(every[:_SHOWN]) + (", …" if len(every) > _SHOWN else "")) or "nothing"
