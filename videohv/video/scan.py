"""What reading through a file's packets, without decoding more than the first frame, says about its timeline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Literal

from av import VideoFrame

from videohv.errors import DecodeError
from videohv.video.identity import PerFile, check_file
from videohv.video.picture import Orientation
from videohv.video.pool import SOURCES
from videohv.video.source import Source
from videohv.video.tally import Tally

_FIRST_FRAME_TRIES = 2000
_CUT_SHORT_SECONDS = 1.0
_CUT_SHORT_SHARE = 0.02
_USUAL_RATE = Fraction(25)
# Streams of pictures without a container around them, and so without any time.
_BARE = frozenset({"h264", "hevc", "m4v", "mpegvideo", "obu"})

_ACROSS = "frames that refer across key frames"

_CLOCK_TIME = re.compile(r"(\d+):(\d\d):(\d\d(?:\.\d+)?)")

Clock = Literal["shown", "decoded", "counted"]
"""Where the time of a decoded frame comes from: its own, that of its packet's turn in decoding, or its number."""


@dataclass(frozen=True)
class Scan:
    """The timeline and form of one video stream. Ticks are units of `tick` seconds.

    Args:
        stream: Index of the stream in its container.
        tick: Seconds a tick lasts.
        origin: Ticks of the first shown frame; every time handed out counts from here.
        last: Ticks of the last shown frame.
        end: Ticks at which it leaves the screen.
        step: Ticks a frame lasts on average, at least 1.
        frames: Number of frames shown.
        width: Pixels across, upright and unscaled.
        height: Pixels down, upright and unscaled.
        orientation: How stored pictures are turned upright.
        codec: FFmpeg's name of the decoder.
        container: FFmpeg's name of the container format.
        clock: Where the times of frames come from.
        timed: Whether packets carry presentation times that can be relied on.
        seekable: Whether they still can after a seek.
        whole: Whether the decoder's marks of damage mean anything: False when not one frame is without.
        largest_gop: Seconds between the two key frames that lie furthest apart, or the last and the end; None when
            packets have no times.
        marks: Ticks of key frames at least 8 s apart, ascending; where the file may be read from by several readers.
        keys: Ticks of all key frames that are shown, in their order; empty where they are too many to be kept.
        irregular: What about the timeline only a careful reader gets right; empty for plain files.
        warnings: What a user should know about the file.
    """

    stream: int
    tick: Fraction
    origin: int
    last: int
    end: int
    step: int
    frames: int
    width: int
    height: int
    orientation: Orientation
    codec: str
    container: str
    clock: Clock
    timed: bool
    seekable: bool
    whole: bool
    largest_gop: float | None
    marks: Sequence[int]
    keys: Sequence[int]
    irregular: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def reusable(self) -> bool:
        """Whether a source of the file can be read from anywhere, whatever was read from it before."""
        return self.timed and self.seekable and self.whole and not set(self.irregular) - {_ACROSS}

    @property
    def duration(self) -> float:
        """Seconds from the first shown frame to the end of the last."""
        return float((self.end - self.origin) * self.tick)

    def seconds(self, pts: int) -> float:
        """The time of a tick, in seconds from the first shown frame."""
        return float((pts - self.origin) * self.tick)

    def place(self, frame: VideoFrame) -> int | None:
        """The tick at which a frame is shown, by the stream's clock; None when it has none."""
        if self.clock == "counted":
            return None
        return frame.dts if self.clock == "decoded" else frame.pts

    def ticks(self, seconds: float) -> int:
        """The last tick at or before a time. A microsecond of slack undoes what rounding to decimals took away."""
        return self.origin + int((seconds + 1e-6) / float(self.tick))


_ENCRYPTED = "is encrypted (common encryption), so that no frame can be decoded; give an unprotected copy"


def _scan(path: Path) -> Scan:
    file = check_file(path)
    for wary in (True, False):
        with ExitStack() as opened:
            source = opened.enter_context(Source(path, wary=wary))
            found = _looked_through(source)
            if found is not None:
                if found.reusable:
                    opened.pop_all()
                    SOURCES.give(source, file)
                return found
    raise AssertionError("a source that is not wary holds nothing back")


def _looked_through(source: Source) -> Scan | None:
    """The scan; None when there are frames, but a wary source holds back each."""
    path = source.path
    tally = Tally(max(1, int(1 / source.tick)))
    first: VideoFrame | None = None
    for packet in source.packets():
        tally.add(packet, started=first is not None)
        if tally.packets == 1 and packet.has_sidedata("encryption_info"):
            # Before anything is decoded: now and then a decoder takes such noise for a picture.
            raise DecodeError(f"{path}: {_ENCRYPTED}")
        if first is None:
            first = next(iter(source.decode(packet)), None)
            if first is None and tally.packets >= _FIRST_FRAME_TRIES:
                break
    if first is None:
        first = next(iter(source.decode(None)), None)
    if first is not None:
        return _summed_up(source, tally, first, source.wary)
    if source.wary and source.withheld:
        return None
    raise DecodeError(f"{path}: {_why_nothing(tally)}")


def _why_nothing(tally: Tally) -> str:
    if not tally.packets:
        return "has a video stream without any data, perhaps cut short; download or copy it again"
    return f"none of its first {tally.packets} packets gives a frame, so it is damaged or protected; give another copy"


def _summed_up(source: Source, tally: Tally, first: VideoFrame, whole: bool) -> Scan:
    container, tick = source.container.format.name, source.tick
    nominal = max(1, round(1 / (_rate(source) * tick)))
    clock = _clock(tally, container)
    timed = clock == "shown" and not tally.untimed and not tally.restarts and tally.last is not None
    timed = timed and first.pts is not None
    if timed and first.pts is not None and tally.last is not None:
        # A spoilt beginning is not shown, but time runs from it all the same: nothing behind it may shift.
        spoilt = source.withheld_from
        origin = first.pts if spoilt is None else min(spoilt, first.pts)
        frames = tally.packets - tally.hidden - sum(pts < origin for pts in tally.early)
        step = round((tally.last - origin) / (frames - 1)) if frames > 1 else tally.last_duration or nominal
        last, end = tally.last, tally.last + (tally.last_duration or step)
    else:
        placed = {"shown": first.pts, "decoded": first.dts, "counted": None}[clock]
        origin, frames, step = placed or 0, tally.packets, nominal
        dated = tally.last_dts is not None and tally.first_dts is not None and clock != "counted"
        read = (tally.last_dts or 0) - (tally.first_dts or 0) + tally.carried + step if dated else 0
        end = origin + read + (tally.undated if dated else frames) * step
        last = end - step
    orientation = Orientation.of(first)
    width, height = orientation.size(first.width, first.height)
    notes = {
        "packets without presentation times": not timed and not tally.restarts,
        "timestamps that begin anew": bool(tally.restarts),
        "frames hidden by an edit list": bool(tally.hidden),
        _ACROSS: tally.leading,
        "timestamps that jump back": tally.jumps and not tally.restarts,
    }
    return Scan(
        stream=source.index,
        tick=tick,
        origin=origin,
        last=last,
        end=max(end, origin + 1),
        step=max(1, step),
        frames=frames,
        width=width,
        height=height,
        orientation=orientation,
        codec=source.codec.name,
        container=container,
        clock=clock,
        timed=timed,
        # An MPEG program stream has few times; those between are guessed, and guessed differently after a seek.
        seekable=container != "mpeg",
        whole=whole,
        largest_gop=float(tally.largest_gap(origin, end) * tick) if timed else None,
        marks=tally.marks if timed else (),
        keys=tally.keys if timed else (),
        irregular=tuple(note for note, found in notes.items() if found),
        warnings=_warnings(source, tally, float((end - origin) * tick), timed),
    )


def _rate(source: Source) -> Fraction:
    """Frames a second; of a stream without a container, what its own header says."""
    stream, bare = source.stream, source.container.format.name in _BARE
    rate = (bare and source.codec.framerate) or stream.average_rate or stream.guessed_rate
    return Fraction(rate.numerator, rate.denominator) if rate and 1 <= rate <= 1000 else _USUAL_RATE


def _clock(tally: Tally, container: str) -> Clock:
    if container in _BARE:
        return "counted"
    # AVI only knows when a frame is decoded. The presentation times that FFmpeg makes up from that are wrong where
    # frames are reordered, unless there is nothing to reorder.
    return "decoded" if "avi" in container.split(",") and not tally.all_keys else "shown"


def _warnings(source: Source, tally: Tally, duration: float, timed: bool) -> tuple[str, ...]:
    warnings = []
    promised, there = _promised(source, tally, duration) if timed and not tally.hidden else (0.0, 0.0)
    if there < promised * (1 - _CUT_SHORT_SHARE) - _CUT_SHORT_SECONDS:
        warnings.append(f"cut short: of {promised:.1f} s of video in the header, {there:.1f} s are there and used")
    if tally.restarts:
        warnings.append(f"timestamps begin anew {tally.restarts} times: the stretches are read one after the other")
    elif tally.jumps:
        warnings.append("timestamps jump back: of two stretches with the same times one is left out")
    if source.failures:
        warnings.append(f"damaged: {source.failures} places cannot be read and were passed over")
    return tuple(warnings)


def _promised(source: Source, tally: Tally, duration: float) -> tuple[float, float]:
    """Seconds of video that the header speaks of (0 when it does not), and the seconds that stand for them."""
    stream, whole = source.stream, source.container.duration
    if stream.duration is not None:
        return float(stream.duration * source.tick), duration
    # Such headers count from zero, and to the end of the stream that ends last; Matroska may add that of each.
    said = [whole / 1e6 if whole is not None else 0.0]
    tag = _CLOCK_TIME.fullmatch(stream.metadata.get("DURATION", ""))
    if tag:
        said.append(int(tag[1]) * 3600 + int(tag[2]) * 60 + float(tag[3]))
    return min(said), max(duration, float(tally.ends * source.tick))


scan: PerFile[Scan] = PerFile(_scan)
"""The scan of a file, made once per file and process: one pass over its packets, about 0.7 s for an hour of video."""
