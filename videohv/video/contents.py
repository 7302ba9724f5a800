"""What lies in a video file besides the pictures that are read: every stream of the container."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from av.stream import Disposition, Stream

from videohv.types import Value
from videohv.video.scan import scan
from videohv.video.source import Source


class StreamInfo(Value):
    """One stream of a container.

    Args:
        index: Its number in the container.
        kind: `video`, `audio`, `subtitle`, `attachment` or `data`.
        codec: FFmpeg's name of its decoder; empty if there is none.
        form: What it looks or sounds like, such as `1280x720` or `48000 Hz, stereo`; empty if that is not known.
        language: As the file says, such as `eng`; empty if it does not.
        title: As the file says.
        marks: What the file says it is for: `default`, `forced`, `attached_pic` and others.
        read: Whether frames are read from it.
    """

    index: int
    kind: str
    codec: str = ""
    form: str = ""
    language: str = ""
    title: str = ""
    marks: tuple[str, ...] = ()
    read: bool = False


def streams_of(path: Path) -> tuple[StreamInfo, ...]:
    """Every stream of a video file, in the order of the container.

    Raises:
        NotVideo: The file cannot be opened, or holds no video.
        DecodeError: Its video cannot be decoded.
    """
    read = scan(path).stream
    with Source(path, read, whole=True) as source:
        return tuple(_described(stream, stream.index == read) for stream in source.container.streams)


def _described(stream: Stream, read: bool) -> StreamInfo:
    context: Any = stream.codec_context
    return StreamInfo(
        index=stream.index,
        kind=stream.type or "data",
        codec=context.name if context is not None else "",
        form=_form(stream.type, context) if context is not None else "",
        language="" if stream.language in (None, "und") else stream.language or "",
        title=stream.metadata.get("title", ""),
        marks=tuple(mark.name for mark in Disposition if mark in stream.disposition and mark.name),
        read=read,
    )


def _form(kind: str, context: Any) -> str:
    if kind == "video" and context.width:
        return f"{context.width}x{context.height}"
    if kind == "audio" and context.sample_rate:
        return f"{context.sample_rate} Hz, {context.layout.name}"
    return ""
