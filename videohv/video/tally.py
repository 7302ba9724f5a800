"""The times of a stream's packets, added up as they go by."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

from av import Packet
from av.video.stream import VideoStream

_MARK_SECONDS = 8
_MOST_KEYS = 20_000


@dataclass
class Tally:
    """Adds up the packets of a stream in decoding order.

    Args:
        second: Ticks in a second.
        packets: How many there were.
        hidden: Of those, how many an edit list hides.
        undated: Of those, how many have no decoding time.
        restarts: How often decoding times went back by more than a second.
        carried: Ticks by which they went back in all.
        early: Presentation times before the first frame was there.
        first_dts: First decoding time.
        last_dts: Latest decoding time.
        last: Largest presentation time shown.
        last_duration: Ticks that its packet lasts.
        ends: The largest tick at which a packet says that it ends.
        key: Presentation time of the latest key frame.
        gap: Ticks between the two key frames that lie furthest apart.
        marks: Presentation times of key frames at least 8 s apart.
        keys: Presentation times of all key frames; empty after 20,000.
        untimed: Whether a packet had no presentation time.
        leading: Whether a packet is shown before the key frame that it follows.
        jumps: Whether a key frame is shown before something that came earlier.
        all_keys: Whether every packet is a key frame.
    """

    second: int
    packets: int = 0
    hidden: int = 0
    undated: int = 0
    restarts: int = 0
    carried: int = 0
    early: list[int] = field(default_factory=list)
    first_dts: int | None = None
    last_dts: int | None = None
    last: int | None = None
    last_duration: int = 0
    ends: int = 0
    key: int | None = None
    gap: int = 0
    marks: array[int] = field(default_factory=lambda: array("q"))
    keys: array[int] = field(default_factory=lambda: array("q"))
    untimed: bool = False
    leading: bool = False
    jumps: bool = False
    all_keys: bool = True

    def add(self, packet: Packet[VideoStream], started: bool) -> None:
        """Adds a packet; `started` says whether one before it gave a frame."""
        self.packets += 1
        is_key = packet.is_keyframe
        self.all_keys = self.all_keys and is_key
        self._follow(packet)
        pts = packet.pts
        if pts is None:
            self.untimed = True
            return
        if packet.is_discard:
            self.hidden += 1
            return
        if not started:
            self.early.append(pts)
        if is_key:
            self.jumps = self.jumps or (self.last is not None and pts < self.last)
            self._mark(pts)
        elif self.key is not None and pts < self.key:
            self.leading = True
        duration = packet.duration or 0
        self.ends = max(self.ends, pts + duration)
        if self.last is None or pts >= self.last:
            self.last, self.last_duration = pts, duration

    def largest_gap(self, origin: int, end: int) -> int:
        """Ticks for which a video shown from `origin` to `end` goes without a key frame at most."""
        first = self.marks[0] if self.marks else end
        return max(self.gap, first - origin, end - max(origin, self.key or origin))

    def _follow(self, packet: Packet[VideoStream]) -> None:
        dts, before = packet.dts, self.last_dts
        if dts is None:
            self.undated += 1
            return
        if before is None:
            self.first_dts = dts
        elif dts < before - self.second:
            self.restarts += 1
            self.carried += before - dts + (packet.duration or 0)
        self.last_dts = dts

    def _mark(self, key: int) -> None:
        if self.key is not None:
            self.gap = max(self.gap, key - self.key)
        if self.key is None or self.keys:
            self.keys.append(key)
            if len(self.keys) > _MOST_KEYS:
                self.keys = array("q")
        self.key = key
        if not self.marks or key - self.marks[-1] >= _MARK_SECONDS * self.second:
            self.marks.append(key)
