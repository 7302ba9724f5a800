"""Packets in groups that can be decoded, or left alone, together."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from av import Packet
from av.video.stream import VideoStream

MAX_PACKETS = 600
MAX_BYTES = 16 << 20


@dataclass(frozen=True)
class Segment:
    """A key frame and what follows it in decoding order up to the next one, or a part of that when it is long.

    Args:
        packets: In decoding order.
        key: Presentation tick of the first packet.
        shown: Presentation ticks of the frames that come to be shown, ascending; never hidden ones.
        continues: True for a later part of a long group: it can only be decoded after the parts before it.
    """

    packets: Sequence[Packet[VideoStream]]
    key: int
    shown: Sequence[int]
    continues: bool = False

    @property
    def first(self) -> int:
        """Tick of its first shown frame."""
        return self.shown[0] if self.shown else self.key

    @property
    def last(self) -> int:
        """Tick of its last shown frame."""
        return self.shown[-1] if self.shown else self.key

    @property
    def shows_key(self) -> bool:
        """Whether decoding it from the start first gives its key frame, as it does unless that one is hidden."""
        return not self.continues and self.key in self.shown

    def on_screen(self, tick: int) -> int:
        """Tick of the frame that is on screen at `tick`; the first frame when `tick` lies before all."""
        return self.shown[max(0, bisect_right(self.shown, tick) - 1)] if self.shown else self.key

    def cheapest(self, start: int, end: int) -> int | None:
        """Tick of the frame shown from `start` up to before `end` that is decoded first; None when there is none."""
        inside = set(self.shown[bisect_left(self.shown, start) : bisect_left(self.shown, end)])
        return next((p.pts for p in self.packets if p.pts in inside), None) if inside else None

    def needs_before(self, tick: int) -> bool:
        """Whether the segment before must be decoded to its end when `tick`, not on screen in it, is wanted next."""
        return self.continues or tick < self.key

    def leads(self, packet: Packet[VideoStream]) -> bool:
        """Whether a packet is shown before the key frame, so that it also needs the group before (an open group)."""
        return not self.continues and packet.pts is not None and packet.pts < self.key


def segments(packets: Iterable[Packet[VideoStream]], origin: int) -> Iterator[Segment]:
    """Groups a stream's packets.

    A group longer than 600 packets or 16 MiB is given in parts, so that what is held stays small in files with few key
    frames. Parts end where no later packet is shown before an earlier one, or at twice the limits if there is no such
    place.

    Args:
        packets: In decoding order, the first one a key frame.
        origin: Tick of the first shown frame; packets before it are decoded with the others but never shown.
    """
    held: list[Packet[VideoStream]] = []
    size = 0
    top = origin
    continues = False
    for packet in packets:
        load = max(len(held) / MAX_PACKETS, size / MAX_BYTES)
        cut = load >= 1 and packet.pts is not None and packet.pts > top
        if held and (packet.is_keyframe or cut or load >= 2):
            segment = _segment(held, origin, continues)
            # A whole group that is hidden (an edit list cut it off) leads to nothing that is shown.
            if segment.shown or not packet.is_keyframe:
                yield segment
            continues = not packet.is_keyframe
            held, size = [], 0
        held.append(packet)
        size += packet.size
        if packet.pts is not None:
            top = packet.pts if packet.is_keyframe else max(top, packet.pts)
    if held:
        segment = _segment(held, origin, continues)
        if segment.shown:
            yield segment


def _segment(packets: list[Packet[VideoStream]], origin: int, continues: bool) -> Segment:
    shown = sorted(p.pts for p in packets if p.pts is not None and p.pts >= origin and not p.is_discard)
    key = packets[0].pts
    return Segment(packets, key if key is not None else (shown[0] if shown else origin), shown, continues)
