"""Decoding everything in order: for files without usable timestamps, and where the cheaper way met damage."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from av import Packet, VideoFrame
from av.video.stream import VideoStream

from videohv.video.scan import Scan
from videohv.video.source import Source
from videohv.video.wanted import Wanted


class Target(NamedTuple):
    """A wanted time in seconds, and the tick at which its frame is looked for."""

    wanted: float
    tick: int


class Pick(NamedTuple):
    """The frame for a wanted time (seconds), and its presentation tick."""

    wanted: float
    pts: int
    frame: VideoFrame


def every_frame(
    source: Source, packets: Iterable[Packet[VideoStream]], index: Scan
) -> Iterator[tuple[int, VideoFrame]]:
    """Decodes packets one after the other, leaving out only what follows a key frame that is broken.

    Yields:
        Each shown frame with its tick, never smaller than the one before. A frame without a time of its own is placed
        by counting. Where packets have no times to rely on and those of the frames begin anew, they go on from the
        frame before.
    """
    source.flush()
    last = index.origin - index.step
    second = int(1 / index.tick)
    anew = last - second
    shift = 0

    def decoded() -> Iterator[VideoFrame]:
        broken = False
        for packet in packets:
            broken = broken and not packet.is_keyframe
            if broken:
                continue
            failures = source.failures
            yield from source.decode(packet)
            # After a broken key frame decoders carry on from whatever picture came before, and give pictures that look
            # whole but never were. (A container's parser may take the mark of a key frame away when it is destroyed.)
            broken = packet.is_keyframe and source.failures > failures
            if broken:
                yield from source.decode(None)
                source.flush()
        yield from source.decode(None)

    for frame in decoded():
        placed = index.place(frame)
        tick = last + index.step if placed is None else placed + shift
        if not index.timed and tick < anew:
            shift, tick = shift + last + index.step - tick, last + index.step
        if tick >= index.origin:
            last = max(last, tick)
            # A counted frame has no time that the next one's could overlap with.
            anew = last if placed is None else last - second
            yield last, frame


def on_screen(
    frames: Iterable[tuple[int, VideoFrame]], targets: Iterable[Target], held: Pick | None = None
) -> Iterator[Pick]:
    """Gives for each target the last frame at or before it.

    Args:
        frames: With their ticks, ascending.
        targets: Ascending; read one ahead. One that lies before every frame is left out.
        held: What was on screen before the first of the frames.
    """
    queue = iter(targets)
    target = next(queue, None)
    for pts, frame in frames:
        while target is not None and target.tick < pts:
            if held is not None:
                yield held._replace(wanted=target.wanted)
            target = next(queue, None)
        if target is None:
            return
        if held is None or pts >= held.pts:
            held = Pick(target.wanted, pts, frame)
    while target is not None and held is not None:
        yield held._replace(wanted=target.wanted)
        target = next(queue, None)


def decode_in_order(source: Source, index: Scan, wanted: Wanted) -> Iterator[Pick]:
    """Picks frames by decoding the whole file up to the last wanted time."""

    def targets() -> Iterator[Target]:
        while (tick := wanted.tick) is not None:
            yield Target(wanted.take(), tick)

    return on_screen(every_frame(source, source.packets(), index), targets())
