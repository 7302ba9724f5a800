"""What reading through a file's packets, without decoding more than the first frame, says about its timeline."""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path

from av import Packet, VideoFrame
from av.video.stream import VideoStream

from videohv.errors import DecodeError
from videohv.video.identity import PerFile
from videohv.video.picture import Orientation
from videohv.video.source import Source

_FIRST_FRAME_TRIES = 2000
_CUT_SHORT_SECONDS = 1.0
_CUT_SHORT_SHARE = 0.02
_USUAL_RATE = Fraction(25)


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
        timed: Whether packets carry presentation times that can be relied on.
        seekable: Whether they still can after a seek.
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
    timed: bool
    seekable: bool
    irregular: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def duration(self) -> float:
        """Seconds from the first shown frame to the end of the last."""
        return float((self.end - self.origin) * self.tick)

    def seconds(self, pts: int) -> float:
        """The time of a tick, in seconds from the first shown frame."""
        return float((pts - self.origin) * self.tick)

    def ticks(self, seconds: float) -> int:
        """The last tick at or before a time. A microsecond of slack undoes what rounding to decimals took away."""
        return self.origin + int((seconds + 1e-6) / float(self.tick))


@dataclass
class _Tally:
    """Adds up the packets of a stream in decoding order."""

    packets: int = 0
    hidden: int = 0
    early: list[int] = field(default_factory=list)
    first_dts: int | None = None
    last_dts: int | None = None
    last: int | None = None
    last_duration: int = 0
    key: int | None = None
    untimed: bool = False
    leading: bool = False
    jumps: bool = False
    encrypted: bool = False

    def add(self, packet: Packet[VideoStream], started: bool) -> None:
        self.packets += 1
        if packet.dts is not None:
            self.first_dts = packet.dts if self.first_dts is None else self.first_dts
            self.last_dts = packet.dts
        if packet.pts is None:
            self.untimed = True
            return
        if packet.is_discard:
            self.hidden += 1
            return
        if not started:
            self.early.append(packet.pts)
        if packet.is_keyframe:
            self.jumps = self.jumps or (self.last is not None and packet.pts < self.last)
            self.key = packet.pts
        elif self.key is not None and packet.pts < self.key:
            self.leading = True
        if self.last is None or packet.pts >= self.last:
            self.last, self.last_duration = packet.pts, packet.duration or 0


def _scan(path: Path) -> Scan:
    with Source(path) as source:
        tally = _Tally()
        first: VideoFrame | None = None
        for packet in source.packets():
            tally.add(packet, started=first is not None)
            if tally.packets == 1:
                tally.encrypted = packet.has_sidedata("encryption_info")
            if first is None:
                first = next(iter(source.decode(packet)), None)
                if first is None and tally.packets >= _FIRST_FRAME_TRIES:
                    break
        if first is None:
            first = next(iter(source.decode(None)), None)
        if first is None:
            raise DecodeError(f"{path}: {_why_nothing(tally)}")
        return _summed_up(source, tally, first)


def _why_nothing(tally: _Tally) -> str:
    if tally.encrypted:
        return "is encrypted (common encryption), so that no frame can be decoded; give an unprotected copy"
    if not tally.packets:
        return "has a video stream without any data, perhaps cut short; download or copy it again"
    return f"none of its first {tally.packets} packets gives a frame, so it is damaged or protected; give another copy"


def _summed_up(source: Source, tally: _Tally, first: VideoFrame) -> Scan:
    stream, container = source.stream, source.container.format.name
    tick = stream.time_base or Fraction(1, 1000)
    rate = stream.average_rate or stream.guessed_rate or _USUAL_RATE
    nominal = max(1, round(1 / (rate * tick)))
    # AVI stores no presentation times; those that FFmpeg makes up are wrong where frames are reordered.
    timed = not tally.untimed and "avi" not in container.split(",") and tally.last is not None and first.pts is not None
    if timed and first.pts is not None and tally.last is not None:
        origin = first.pts
        frames = tally.packets - tally.hidden - sum(pts < origin for pts in tally.early)
        step = round((tally.last - origin) / (frames - 1)) if frames > 1 else tally.last_duration or nominal
        last, end = tally.last, tally.last + (tally.last_duration or step)
    else:
        origin, frames, step = first.pts or 0, tally.packets, nominal
        read = None if tally.last_dts is None or tally.first_dts is None else tally.last_dts - tally.first_dts
        end = origin + (read + step if read else frames * step)
        last = end - step
    orientation = Orientation.of(first)
    width, height = orientation.size(first.width, first.height)
    notes = {
        "packets without presentation times": not timed,
        "frames hidden by an edit list": bool(tally.hidden),
        "frames that refer across key frames": tally.leading,
        "timestamps that jump back": tally.jumps,
    }
    irregular = tuple(note for note, found in notes.items() if found)
    return Scan(
        stream=stream.index,
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
        timed=timed,
        # An MPEG program stream has few times; those between are guessed, and guessed differently after a seek.
        seekable=container != "mpeg",
        irregular=irregular,
        warnings=_warnings(source, tally, float((end - origin) * tick), timed),
    )


def _warnings(source: Source, tally: _Tally, duration: float, timed: bool) -> tuple[str, ...]:
    warnings = []
    promised = _promised(source) if timed and not tally.hidden else 0.0
    if duration < promised * (1 - _CUT_SHORT_SHARE) - _CUT_SHORT_SECONDS:
        warnings.append(f"cut short: of {promised:.1f} s of video in the header, {duration:.1f} s are there and used")
    if tally.jumps:
        warnings.append("timestamps jump back: of two stretches with the same times one is left out")
    if source.failures:
        warnings.append(f"damaged: {source.failures} places cannot be read and were passed over")
    return tuple(warnings)


def _promised(source: Source) -> float:
    """Seconds of video that the header speaks of; 0 when it does not."""
    stream, whole = source.stream, source.container.duration
    if stream.duration is not None and stream.time_base is not None:
        return float(stream.duration * stream.time_base)
    return whole / 1e6 if whole is not None else 0.0


scan: PerFile[Scan] = PerFile(_scan)
"""The scan of a file, made once per file and process: one pass over its packets, about 0.7 s for an hour of video."""
