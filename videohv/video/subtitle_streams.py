"""What is said in a video, out of the subtitles inside its container."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from av import Packet
from av.error import FFmpegError
from av.stream import Disposition, Stream
from av.subtitles.stream import SubtitleStream as OpenStream

from videohv.types import Value
from videohv.video.scan import scan
from videohv.video.source import Source

_MOST_TEXT = 8 << 20
_MOST_FAILURES = 50
_UNKNOWN = ("", "und")
_ENGLISH = ("en", "eng")
_ASIDE = Disposition.comment | Disposition.lyrics


class SubtitleStream(Value):
    """Subtitles inside a video file.

    Args:
        index: Of the stream in its container.
        codec: FFmpeg's name of its decoder; empty if there is none.
        text: Whether they are text; others are pictures, which only a reader of pictures could use.
        language: As the file says, such as `eng`; empty if it does not.
        title: As the file says.
        default: Whether players show it unasked.
        forced: Whether it holds only what a viewer could not understand otherwise.
        aside: Whether it holds comments or lyrics.
    """

    index: int
    codec: str
    text: bool
    language: str = ""
    title: str = ""
    default: bool = False
    forced: bool = False
    aside: bool = False

    def __str__(self) -> str:
        words = (self.language, self.codec, "forced" if self.forced else "", "" if self.text else "pictures")
        return f"stream {self.index} ({', '.join(word for word in words if word)})"


class SubtitleLine(NamedTuple):
    """One entry: seconds from the first shown frame, and text with line breaks and the mark-up of SubStation Alpha."""

    start: float
    text: str


def subtitle_streams(path: Path) -> tuple[SubtitleStream, ...]:
    """The subtitles inside a video file, in the order of their streams.

    Raises:
        NotVideo: The file cannot be opened, or holds no video.
        DecodeError: Its video cannot be decoded.
    """
    with Source(path, whole=True) as source:
        return tuple(_described(stream) for stream in source.container.streams.subtitles)


def best_subtitles(streams: Sequence[SubtitleStream]) -> SubtitleStream | None:
    """The one to read: text; rather whole than forced or an aside; then one that players show unasked, English, of a
    language that the file does not tell, and the first.
    """
    return min(
        (stream for stream in streams if stream.text),
        key=lambda s: (
            s.forced or s.aside,
            not s.default,
            s.language.lower() not in _ENGLISH,
            s.language.lower() not in _UNKNOWN,
            s.index,
        ),
        default=None,
    )


def subtitle_lines(path: Path, index: int) -> Iterator[SubtitleLine]:
    """The entries of one subtitle stream, in the order of the file.

    Entries that are over before the first frame is shown, and damaged ones, are left out; after 8 MiB of text the rest
    is left.

    Args:
        path: The video file.
        index: Of the stream.

    Raises:
        NotVideo: The file cannot be opened, or holds no video.
        DecodeError: Its video cannot be decoded.
    """
    timeline = scan(path)
    origin = float(timeline.origin * timeline.tick)
    size = 0
    with Source(path, whole=True) as source:
        stream = next((s for s in source.container.streams.subtitles if s.index == index), None)
        if stream is None or stream.time_base is None:
            return
        for packet in _packets(source, stream):
            if packet.pts is None or packet.is_discard:
                continue
            start = float(packet.pts * stream.time_base) - origin
            if start + float((packet.duration or 0) * stream.time_base) <= 0 and start < 0:
                continue
            for text in _texts(stream, packet):
                size += len(text)
                if size > _MOST_TEXT:
                    return
                yield SubtitleLine(max(0.0, start), text)


def _packets(source: Source, stream: OpenStream) -> Iterator[Packet[OpenStream]]:
    failures = 0
    while failures < _MOST_FAILURES:
        try:
            yield from (packet for packet in source.container.demux(stream) if packet.size)
            return
        except (FFmpegError, IndexError):
            failures += 1


def _texts(stream: OpenStream, packet: Packet[OpenStream]) -> list[str]:
    try:
        return [
            entry.dialogue.decode("utf-8", "replace")
            for entry in stream.decode(packet) or ()
            if hasattr(entry, "dialogue")
        ]
    except (FFmpegError, TypeError, ValueError):
        # An entry without any text gives nothing that could be gone through.
        return []


def _described(stream: Stream) -> SubtitleStream:
    context = stream.codec_context
    disposition, metadata = stream.disposition, stream.metadata
    return SubtitleStream(
        index=stream.index,
        codec=context.name if context is not None else "",
        text=context is not None and bool(context.codec.text_sub),
        language=stream.language or "",
        title=metadata.get("title", ""),
        default=bool(disposition & Disposition.default),
        forced=bool(disposition & Disposition.forced),
        aside=bool(disposition & _ASIDE),
    )
