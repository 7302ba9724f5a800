"""Finding out what was on screen where the cheap way to a frame met damage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from videohv.video.plain import Pick, Target, every_frame, on_screen
from videohv.video.scan import Scan
from videohv.video.seek import start_at
from videohv.video.source import Source

_FURTHER = 8


def rescue(
    path: Path, index: Scan, missing: Sequence[Target], before: int, run_up: int, held: Pick | None
) -> Iterator[Pick]:
    """Serves targets although a decoder did not give their frames.

    Their packets were damaged, or never meant to be shown, or the decoder needs more of a run-up than a key frame.
    Everything from some way before is decoded, in a reader of its own, so that the state of the caller's is kept. The
    last whole frame at or before a target is the one for it.

    Args:
        path: The file.
        index: Its scan.
        missing: Ascending.
        before: Tick of the key frame from which they could not be decoded.
        run_up: By how many ticks to begin earlier than that; without anything held, also by eight times as many.
        held: A frame seen earlier, for when there is nothing better.
    """
    reaches = [run_up] if held is not None else [run_up, _FURTHER * run_up]
    aims = [max(index.origin, before - reach) for reach in reaches]
    for aim in aims:
        with Source(path, index.stream, index.whole) as again:
            packets = (packet for part in start_at(again, index, aim).segments for packet in part.packets)
            picks = on_screen(every_frame(again, packets, index), missing, held)
            first = next(picks, None)
            # Without the first one, this run-up did not lead out of the damage.
            if first is not None and (first.wanted == missing[0].wanted or aim == aims[-1]):
                yield first
                yield from picks
                return
