"""Frames at a few times, by two threads where they lie in different groups of pictures and a core has nothing to do."""

from __future__ import annotations

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

from videohv.errors import DecodeError
from videohv.video.frame import Frame
from videohv.video.parallel import Lane
from videohv.video.scan import scan

Read = Callable[[Iterable[float]], Iterator[Frame]]

_SPARE = BoundedSemaphore(max(1, (os.cpu_count() or 1) - 1))
"""How many such second threads there may be in the process."""


def in_halves(read: Read, path: Path, times: Sequence[float]) -> list[Frame]:
    """The frames at these times, for which somebody waits.

    Args:
        read: Reads frames with PyAV.
        path: The file.
        times: Seconds, ascending.

    Raises:
        VideoError: As `read` does.
    """
    index = scan(path)
    cut = halfway(index.keys, times, index.seconds) if index.reusable else None
    if cut is None or not _SPARE.acquire(blocking=False):
        return list(read(times))
    try:
        with Lane(lambda: read(times[cut:])) as second:
            return [*read(times[:cut]), *second]
    except DecodeError:
        # Damage may leave nothing of one half; that is no reason not to show the other.
        return list(read(times))
    finally:
        _SPARE.release()


def halfway(keys: Sequence[float], times: Sequence[float], seconds: Callable[[Any], float] = float) -> int | None:
    """How many of the times the first of two threads should take, so that both are done soonest.

    In each group of pictures everything up to the last wanted time is decoded, about.

    Args:
        keys: When each group begins, ascending; of thousands only a few are looked at.
        times: Seconds, ascending.
        seconds: Makes seconds of a key.

    Returns:
        None when all times lie in one group.
    """
    groups = [bisect_right(keys, time, key=seconds) - 1 for time in times]
    ends = [i for i in range(1, len(times)) if groups[i] != groups[i - 1]]
    if not keys or not ends:
        return None
    work = [times[end - 1] - seconds(keys[max(groups[end - 1], 0)]) for end in (*ends, len(times))]
    return min(
        zip(ends, range(1, len(work)), strict=True), key=lambda cut: max(sum(work[: cut[1]]), sum(work[cut[1] :]))
    )[0]
