"""PyAV: the decoder for every file, exact and bounded in memory."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from av.error import FFmpegError

from videohv.errors import DecodeError
from videohv.types import VideoInfo
from videohv.video.decoder import Mode, decoder
from videohv.video.frame import Frame
from videohv.video.identity import content_hash
from videohv.video.keys import key_frames
from videohv.video.picture import Converter
from videohv.video.plain import Pick, decode_in_order
from videohv.video.pool import SOURCES
from videohv.video.sampler import GopSampler
from videohv.video.scan import Scan, scan
from videohv.video.source import Source
from videohv.video.wanted import Wanted


@decoder("pyav")
class PyAVDecoder:
    """Decodes with FFmpeg inside this process, one container per call."""

    name = "pyav"

    def probe(self, path: Path) -> VideoInfo:
        """See `Decoder.probe`. One pass over the packets, and one over the bytes for the hash; both once per file."""
        index = scan(path)
        return VideoInfo(
            path=os.fsencode(path).decode("utf-8", "replace"),
            content_hash=content_hash(path),
            duration=index.duration,
            fps=index.frames / index.duration,
            width=index.width,
            height=index.height,
            largest_gop=index.largest_gop,
            codec=index.codec,
            container=index.container,
            decoder=self.name,
            warnings=index.warnings,
        )

    def frames(self, path: Path, times: Iterable[float], short_side: int, mode: Mode = "exact") -> Iterator[Frame]:
        """See `Decoder.frames`. A few frames are held, whatever the length of the video.

        A file whose packets have no times to rely on is decoded in order, and exactly in every mode.
        """
        index = scan(path)
        wanted = Wanted(times, index)
        if wanted.next is None:
            return
        shown: Frame | None = None
        converter = Converter(index.orientation, short_side)
        with SOURCES.taken(path, index.stream, index.whole, keep=index.reusable) as source:
            for pick in _picks(source, index, wanted, mode):
                time = index.seconds(pick.pts)
                if shown is not None and shown.time == time:
                    shown = shown.again(pick.wanted)
                else:
                    shown = _frame(path, pick, time, converter)
                yield shown
        if shown is None:
            raise DecodeError(f"{path}: none of the wanted frames can be decoded; the file is damaged there")


def _picks(source: Source, index: Scan, wanted: Wanted, mode: Mode) -> Iterator[Pick]:
    if not index.timed:
        return decode_in_order(source, index, wanted)
    if mode == "key":
        return key_frames(source, index, wanted)
    return GopSampler(source, index, wanted, near=mode == "near").picks()


def _frame(path: Path, pick: Pick, time: float, converter: Converter) -> Frame:
    try:
        return Frame(pick.wanted, time, converter.rgb(pick.frame))
    except (FFmpegError, ValueError) as error:
        form = pick.frame.format.name
        raise DecodeError(f"{path}: a frame at {time:.3f} s ({form}) cannot be made RGB; convert the video") from error
