"""`videohv probe`: what a video file is, how it will be read, and what is wrong with it."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from videohv.cli.caption import Videos
from videohv.cli.console import ERRORS, OUT, clean
from videohv.cli.lms import DecoderOption
from videohv.errors import VideoError
from videohv.modules.speech import find_speech
from videohv.types import Value, VideoInfo, clock, whole
from videohv.video import Video, get_decoder
from videohv.video.contents import StreamInfo, streams_of
from videohv.video.identity import check_file
from videohv.video.scan import scan

FAILED = 1
_BY_GROUPS = "exact frames; what lies between a key frame and the wanted frame is decoded, the rest is left alone"
_IN_ORDER = "exact frames; the file is decoded from its start, as its packets have no times that could be relied on"


class Report(Value):
    """What is known of a video file.

    Args:
        info: As every question about the video has it.
        bytes: Size of the file.
        frames: Number of frames shown.
        streams: Everything in the container.
        mode: How frames are got.
        why: Why by this decoder.
        speech: Where subtitles would be taken from; empty if there are none.
        lines: How many subtitles that are.
        timeline: What about its timeline only a careful reader gets right.
        trouble: What a user should know, a line each.
    """

    info: VideoInfo
    bytes: int
    frames: int
    streams: tuple[StreamInfo, ...]
    mode: str
    why: str
    speech: str
    lines: int
    timeline: tuple[str, ...]
    trouble: tuple[str, ...]


def probe(
    paths: Annotated[list[Path], typer.Argument(metavar="VIDEO...", help="Video files, or folders with some.")],
    decoder: DecoderOption = "auto",
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a line, one a file.")] = False,
) -> int:
    """Show what video files are, how they will be read, and any trouble. Exit code 1 if one cannot be read."""
    get_decoder(decoder)
    failed = False
    for number, path in enumerate(Videos(paths, None)):
        try:
            report = examine(path, decoder)
        except VideoError as error:
            failed = True
            if as_json:
                OUT.out(json.dumps({"path": whole(os.fspath(path)), "error": whole(str(error))}))
            else:
                ERRORS.print(f"error: {clean(str(error))}", style="bold red", markup=False, soft_wrap=True)
            continue
        if as_json:
            OUT.out(json.dumps(report.model_dump(mode="json")))
            continue
        if number:
            OUT.out("")
        for line in as_text(report):
            OUT.out(clean(line))
    return FAILED if failed else 0


def examine(path: Path, decoder: str = "auto") -> Report:
    """Look at a file.

    Args:
        path: The file.
        decoder: Who is to read it.

    Raises:
        VideoError: It cannot be read.
        InputError: No decoder has that name.
        MissingExtra: The decoder is not installed.
    """
    video = Video(path, decoder=decoder)
    timeline = scan(path)
    speech = find_speech(path)
    objections = [warning for warning in video.warnings if warning.startswith("decoder: ")]
    return Report(
        info=video.info,
        bytes=check_file(path).size,
        frames=timeline.frames,
        streams=streams_of(path),
        mode=_BY_GROUPS if timeline.timed else _IN_ORDER,
        why=_why(decoder, video.info.decoder, objections),
        speech=speech.origin,
        lines=len(speech.captions),
        timeline=timeline.irregular,
        trouble=(*video.warnings, *speech.notes),
    )


def as_text(report: Report) -> Iterator[str]:
    """The report as lines."""
    info = report.info
    yield info.path
    for name, text in _facts(report):
        yield f"  {name:<12}{text}"
    for stream in report.streams:
        yield f"  {f'stream {stream.index}':<12}{_stream(stream)}"
    yield f"  {'subtitles':<12}{f'{report.lines} from {report.speech}' if report.speech else 'none'}"
    for line in report.trouble:
        yield f"  {'trouble':<12}{line}"
    if not report.trouble:
        yield f"  {'trouble':<12}none"


def _facts(report: Report) -> Iterator[tuple[str, str]]:
    info = report.info
    yield "file", f"{_bytes(report.bytes)}, {info.container}"
    yield "content", f"sha256 {info.content_hash}"
    yield "picture", f"{info.width}x{info.height}, {info.codec}, {info.fps:.4g} frames a second"
    yield "duration", f"{clock(info.duration)} ({info.duration:.3f} s, {report.frames} frames)"
    if info.largest_gop is not None:
        yield "key frames", f"at most {info.largest_gop:.4g} s apart"
    yield "read by", f"{info.decoder}: {report.why}"
    yield "how", report.mode if info.decoder == "pyav" else "frames by the file's own times, in a process of its own"
    if report.timeline:
        yield "timeline", ", ".join(report.timeline)


def _why(asked: str, used: str, objections: list[str]) -> str:
    if asked == used:
        return "as was asked for"
    return objections[0].removeprefix("decoder: ") if objections else "the default for every file"


def _stream(stream: StreamInfo) -> str:
    words = (stream.kind, stream.codec or "unknown codec", stream.form, stream.language, *stream.marks, stream.title)
    return ", ".join(word for word in words if word) + (" (read)" if stream.read else "")


def _bytes(count: int) -> str:
    return f"{count / 1e9:.2f} GB" if count >= 1e9 else f"{count / 1e6:.2f} MB"
