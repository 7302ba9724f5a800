"""Key frames alone: the coarse view of a video, for a tenth of the work."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain, pairwise

from videohv.video.gop import Segment
from videohv.video.plain import Pick, Target
from videohv.video.rescue import rescue
from videohv.video.sampler import AT_ONCE, FAR_SECONDS
from videohv.video.scan import Scan
from videohv.video.seek import start_at
from videohv.video.source import Source
from videohv.video.wanted import Wanted


def key_frames(source: Source, index: Scan, wanted: Wanted) -> Iterator[Pick]:
    """Picks for each time the last key frame at or before it, in a file whose packets carry presentation times.

    Nothing else is decoded but where that does not give a picture: before the first key frame that is shown, at a
    damaged one, and at one that only begins a gradual refresh.

    Args:
        source: The open file; it is read by nobody else.
        index: Its scan.
        wanted: The times.
    """
    last: Pick | None = None
    far = int(FAR_SECONDS / index.tick)
    while (tick := wanted.tick) is not None:
        begun = wanted.taken
        run = start_at(source, index, tick)
        whole_groups = (segment for segment in run.segments if not segment.continues)
        for segment, following in pairwise(chain(whole_groups, (None,))):
            assert segment is not None
            horizon = index.end if following is None else following.key
            while (tick := wanted.tick) is not None and tick < horizon:
                due: list[float] = []
                while len(due) < AT_ONCE and (tick := wanted.tick) is not None and tick < horizon:
                    due.append(wanted.take())
                for pick in _serve(source, index, segment, due, last):
                    last = pick
                    yield pick
            if tick is None:
                return
            if run.seekable and wanted.taken > begun and tick > horizon + far:
                break
        if wanted.taken == begun:
            return


def _serve(source: Source, index: Scan, segment: Segment, due: list[float], last: Pick | None) -> Iterator[Pick]:
    before = [Target(time, index.origin) for time in due if index.ticks(time) < segment.key]
    after = [Target(time, segment.key) for time in due[len(before) :]]
    if before or (after and not segment.shows_key):
        missing = [*before, *(target._replace(tick=max(segment.first, index.origin)) for target in after)]
        yield from rescue(source.path, index, missing, max(segment.key, index.origin), 1, last)
        return
    source.flush()
    frame = next(chain(source.decode(segment.packets[0]), source.decode(None)), None)
    if frame is None:
        yield from rescue(source.path, index, after, segment.key, 2 * max(segment.last - segment.key, 0) + 1, last)
        return
    for target in after:
        yield Pick(target.wanted, segment.key, frame)
