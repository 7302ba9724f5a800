"""`videohv frames`: the frames of a video at some times, as picture files."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from videohv.cli.console import ERRORS, OUT, clean
from videohv.cli.frame_size import ShortSideOption
from videohv.cli.lms import DecoderOption
from videohv.cli.times import span, times
from videohv.data.whole import write_whole
from videohv.errors import InputError
from videohv.lm.frames import limiting, limits_of
from videohv.modules.inputs import open_video
from videohv.types import Value, Window, whole
from videohv.video import Frame, Video
from videohv.video.jpeg import size_of

FAILED = 1
_AT_ONCE = 32


class Written(Value):
    """A frame that lies in a file.

    Args:
        wanted: The time asked for, in seconds from the first shown frame.
        time: The frame's own.
        file: Where it lies.
        width: Pixels.
        height: Pixels.
        bytes: Of the file.
    """

    wanted: float
    time: float
    file: str
    width: int
    height: int
    bytes: int


class Order(NamedTuple):
    """What is wanted: one of some times, a span with a number of frames, or a rate (frames a second)."""

    at: tuple[float, ...] = ()
    window: Window | None = None
    number: int = 1
    fps: float | None = None


def frames(
    video: Annotated[Path, typer.Argument(help="A video file.")],
    out: Annotated[Path, typer.Option(help="Folder for the pictures; it is made if it is not there.", metavar="DIR")],
    at: Annotated[
        str | None, typer.Option(help="Times in seconds, with commas: 12.5,80 or 1:20.", metavar="TIMES")
    ] = None,
    window: Annotated[
        str | None, typer.Option(help="A span in seconds, such as 10-20; see -n.", metavar="START-END")
    ] = None,
    count: Annotated[int, typer.Option("-n", min=1, max=10_000, help="Frames spread evenly over --window.")] = 5,
    fps: Annotated[
        float | None, typer.Option(min=0.001, max=60, help="So many frames a second, over the whole video.")
    ] = None,
    decoder: DecoderOption = "auto",
    short_side: ShortSideOption = None,
    force: Annotated[bool, typer.Option("--force", help="Replace pictures that differ.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON object a line.")] = False,
) -> int:
    """Write frames of a video as JPEG files, named by their own time in seconds, as a model would be shown them.

    Exit code 1 if there is no frame at one of the times.
    """
    order = _order(at, window, count, fps)
    with limiting(short_side):
        opened = open_video(video, decoder)
        folder = Folder(out, force)
        missing = list(order.at)
        for frame in _wanted(opened, order):
            written = folder.add(frame)
            if frame.wanted in missing:
                missing.remove(frame.wanted)
            OUT.out(json.dumps(written.model_dump()) if as_json else _line(written))
    for time in missing:
        why = "it ends before" if time >= opened.info.duration else "it is damaged there"
        ERRORS.print(clean(f"{video}: no frame at {time:g} s ({why})"), style="bold red", markup=False, soft_wrap=True)
    return FAILED if missing or not folder.names else 0


class Folder:
    """A folder that pictures are written to, each whole or not at all.

    Args:
        path: It is made if it is not there.
        force: Whether a file of another content is replaced.

    Raises:
        InputError: It cannot be made.
    """

    def __init__(self, path: Path, force: bool) -> None:
        self.path, self.force = path, force
        self.names: dict[str, float] = {}
        try:
            path.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"--out {path}: the folder cannot be made: {error.strerror}") from error

    def add(self, frame: Frame) -> Written:
        """Write a frame, unless the same picture is there already.

        Raises:
            InputError: The file cannot be written, or has another content.
        """
        jpeg = frame.within(limits_of())
        file = self.path / self._name(frame.time)
        there = _content(file)
        if there is not None and there != jpeg and not self.force:
            raise InputError(f"{file} is there with another content; give --force to replace it, or another --out")
        if there != jpeg:
            write_whole(file, jpeg)
        width, height = size_of(jpeg)
        return Written(
            wanted=frame.wanted,
            time=frame.time,
            file=whole(str(file)),
            width=width,
            height=height,
            bytes=len(jpeg),
        )

    def _name(self, time: float) -> str:
        stem, number = f"{time:010.3f}", 1
        name = f"{stem}.jpg"
        # Frames less than a millisecond apart must not take each other's place.
        while self.names.setdefault(name, time) != time:
            number += 1
            name = f"{stem}-{number}.jpg"
        return name


def _order(at: str | None, window: str | None, count: int, fps: float | None) -> Order:
    if sum(given is not None for given in (at, window, fps)) != 1:
        raise InputError("say which frames: give one of --at, --window and --fps")
    if at is not None:
        return Order(at=times(at, "--at"))
    return Order(window=span(window, "--window") if window is not None else None, number=count, fps=fps)


def _wanted(video: Video, order: Order) -> Iterator[Frame]:
    if order.fps is not None:
        yield from video.sample(order.fps)
    elif order.window is not None:
        start, end = order.window.start, min(order.window.end, video.info.duration)
        length = end - start
        if length > 0:
            # In the middle of each share, and streamed: there may be many.
            middle = start + length / order.number / 2
            yield from islice(video.sample(order.number / length, start=middle, end=end), order.number)
    else:
        left = iter(order.at)
        while some := tuple(islice(left, _AT_ONCE)):
            yield from video.frames_at(some)


def _content(file: Path) -> bytes | None:
    try:
        return file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InputError(f"{file} is there and cannot be read: {error.strerror}") from error


def _line(written: Written) -> str:
    return (
        f"at {written.wanted:.3f} s: the frame of {written.time:.3f} s, {clean(written.file)}, "
        f"{written.width}x{written.height}, {written.bytes} bytes"
    )
