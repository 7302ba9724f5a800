"""Exactly the frames that are wanted, for as little decoding as the groups of pictures allow."""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from itertools import chain, pairwise

from av import Packet, VideoFrame
from av.video.stream import VideoStream

from videohv.video.gop import Segment
from videohv.video.plain import Pick, Target
from videohv.video.references import Plan, References
from videohv.video.rescue import rescue
from videohv.video.scan import Scan
from videohv.video.seek import Run, start_at
from videohv.video.source import Source
from videohv.video.wanted import Wanted

FAR_SECONDS = 60
"""How far ahead the next wanted time must be for seeking to be better than reading on."""

AT_ONCE = 4096
"""Times that are taken at once for frames that stay for hours, or say so: no more are held."""


class GopSampler:
    """Picks wanted frames out of a file whose packets carry presentation times.

    Packets are read group by group. In a group where something is wanted, frames to which no other frame refers are
    not decoded unless they are wanted themselves, and nothing is decoded behind the last wanted one; groups where
    nothing is wanted are not decoded at all. Held at any time: the packets of two groups, and one frame.

    Args:
        source: The open file; the sampler alone reads from it.
        index: Its scan.
        wanted: The times.
        near: Lets any frame stand for a time that is shown at or after it and before the next one: the key frame, if
            there is one, or that which takes the least decoding. Where there is none, it is the one on screen.
    """

    def __init__(self, source: Source, index: Scan, wanted: Wanted, near: bool = False) -> None:
        self._near = near
        self._source = source
        self._index = index
        self._wanted = wanted
        self._due: deque[Target] = deque()
        self._last: Pick | None = None
        self._begun: Segment | None = None
        self._key: int | None = None
        self._clean = True
        self._references = References(source.codec.extradata if source.codec.name == "h264" else None)

    def picks(self) -> Iterator[Pick]:
        """The frames, one for each time for which a frame can be had, in the order of the times."""
        while (tick := self._wanted.tick) is not None:
            before = self._wanted.taken
            yield from self._run(start_at(self._source, self._index, tick))
            if self._wanted.taken == before:
                return

    def _run(self, run: Run) -> Iterator[Pick]:
        """Goes through segments until nothing more is wanted, or the next wanted time is better sought for."""
        primed = False
        begun = self._wanted.taken
        far = int(FAR_SECONDS / self._index.tick)
        for segment, following in pairwise(chain(run.segments, (None,))):
            assert segment is not None
            while self._assign(segment, following):
                yield from self._decode(segment, primed, chained=False)
                primed = False
            upcoming = self._wanted.tick
            # The next segment needs this one decoded to its end when it is a part of the same group, or when one of the
            # frames shown before its key frame is wanted.
            chained = (
                following is not None
                and upcoming is not None
                and following.needs_before(upcoming)
                and not self._may_be_key(following, upcoming)
            )
            if self._due or chained:
                yield from self._decode(segment, primed, chained)
            primed = chained
            if upcoming is None or following is None:
                return
            if run.seekable and not chained and self._wanted.taken > begun and upcoming > following.last + far:
                return

    def _assign(self, segment: Segment, following: Segment | None) -> bool:
        """Takes the wanted times that fall to a segment, and notes which frame each one means.

        Returns:
            Whether there are more: of a group that lasts for hours, or says so, only some thousand are taken at once.
        """
        if following is None:
            horizon = self._index.end
        elif following.first > segment.last:
            horizon = following.first
        else:
            horizon = segment.last + self._index.step
        while (tick := self._wanted.tick) is not None and tick < horizon:
            chosen = self._near_to(tick, segment, following) if self._near else segment.on_screen(tick)
            if chosen is None:
                return False
            if len(self._due) >= AT_ONCE and not segment.continues:
                return True
            self._due.append(Target(self._wanted.take(), chosen))
        return False

    def _near_to(self, tick: int, segment: Segment, following: Segment | None) -> int | None:
        """The frame of a segment that is to stand for the next time, at `tick`; None if one of the next segment is."""
        if self._may_be_key(segment, tick):
            return segment.key
        if following is not None and self._may_be_key(following, tick):
            return None
        until = self._wanted.until
        inside = segment.cheapest(tick, until)
        if inside is None and (following is None or following.first >= until):
            return segment.on_screen(tick)
        return inside

    def _may_be_key(self, segment: Segment, tick: int) -> bool:
        """Whether a segment's key frame may stand for the next time, which is at `tick`."""
        return self._near and segment.shows_key and tick <= segment.key < self._wanted.until

    def _decode(self, segment: Segment, primed: bool, chained: bool) -> Iterator[Pick]:
        """Decodes what the due targets need of a segment.

        Args:
            segment: The segment.
            primed: The decoder has just decoded the segment before it to its end.
            chained: The segment after it is going to need the decoder so.
        """
        ticks = {target.tick for target in self._due}
        packets = segment.packets
        if not primed:
            self._source.flush()
            self._begun, self._clean = segment, True
            self._key = segment.key if segment.shows_key else None
        if not chained:
            packets = packets[: 1 + max((i for i, p in enumerate(packets) if p.pts in ticks), default=-1)]
        plan = None if primed or chained or segment.continues else self._plan(packets, ticks)
        good = None if plan is None else {packets[i].pts for i in plan.good}
        for i, packet in enumerate(packets):
            if (primed or not segment.leads(packet)) and (plan is None or i in plan.given):
                for frame in self._source.decode(packet, needed=plan is not None or i == 0 or packet.pts in ticks):
                    if good is None or frame.pts in good:
                        yield from self._settle(frame, segment)
        if not chained:
            for frame in self._source.decode(None):
                if good is None or frame.pts in good:
                    yield from self._settle(frame, segment)
            yield from self._rescue(len(self._due), segment)

    def _plan(self, packets: Sequence[Packet[VideoStream]], ticks: Collection[int]) -> Plan | None:
        """Which packets are decoded; None leaves that to the decoder, so that no sign of damage is passed over."""
        if self._source.failures or self._source.withheld or not self._index.reusable:
            return None
        return self._references.plan(packets, {i for i, packet in enumerate(packets) if packet.pts in ticks})

    def _settle(self, frame: VideoFrame, segment: Segment) -> Iterator[Pick]:
        """Hands out a decoded frame to the targets that mean it. Frames come in the order in which they are shown."""
        pts = frame.pts
        if pts is None:
            return
        if self._key is not None:
            # What comes after a key frame that was not given itself is not to be trusted: it was damaged, or it only
            # begins a gradual refresh of the picture, whose length some encoders understate.
            self._clean, self._key = pts <= self._key, None
        if not self._clean:
            return
        yield from self._rescue(sum(target.tick < pts for target in self._due), segment)
        while self._due and self._due[0].tick == pts:
            yield Pick(self._due.popleft().wanted, pts, frame)
        self._last = Pick(0.0, pts, frame)

    def _rescue(self, count: int, segment: Segment) -> Iterator[Pick]:
        """Serves the first `count` due targets although the decoder did not give their frames."""
        missing = [self._due.popleft() for _ in range(count)]
        if missing:
            bad = segment if self._clean or self._begun is None else self._begun
            run_up = 2 * max(bad.last - bad.key, 0) + 1
            yield from rescue(self._source.path, self._index, missing, bad.key, run_up, self._last)
