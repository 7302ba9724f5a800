"""An open video file: what may be opened, which stream is read, and reading on past damage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, Self

import av
from av import Packet, VideoFrame
from av import stream as av_stream
from av.container import InputContainer
from av.error import ArgumentError, FFmpegError
from av.stream import Disposition
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream

from videohv.errors import DecodeError, NotVideo
from videohv.video.damage import Damage
from videohv.video.edits import shows_all
from videohv.video.identity import check_file
from videohv.video.tracks import PROTOCOLS, alone

# Containers that hold their own pictures. Playlists and scripts (hls, dash, concat) name other files and stay out, as
# do single pictures and patterns of picture files (image2).
_FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,mpegvideo,m4v,h264,hevc,ivf,obu,flv,asf,ogg,mxf,nut,gif,"
    "wtv,dv,rm"
)
_PICTURES_BESIDE = Disposition.attached_pic | Disposition.timed_thumbnails | Disposition.still_image
# PyAV 19 reads text so by itself, and has no such setting.
_TEXT: dict[str, Any] = {"metadata_errors": "replace"} if int(av.__version__.split(".")[0]) < 19 else {}
_READ_FAILURES = 50
_STRAY_SECONDS = 60
_DECODE_FAILURES = 3000
# By estimate: of an entry in a container's index, with the tables it was made from, and of all else; and how many
# pictures a decoder keeps.
_ENTRY_BYTES, _OTHER_BYTES, _PICTURES = 40, 1 << 20, 8
# Containers that pass over the packets of other streams without reading them.
_PASS_OVER = ("mov", "matroska")
# Older versions of PyAV cannot be told so.
_DISCARD: Any = getattr(av_stream, "Discard", None)


class Source:
    """One open container with its best video stream and decoder; for one thread, closed by `with`.

    Args:
        path: The file.
        stream: Index of the video stream; None picks the best that is not a cover picture.
        wary: False also gives pictures that damage has spoilt.
        whole: Whether streams that are no video must be there too.

    Raises:
        NotVideo: The file is missing, empty, not a media file of a known kind, or holds no video.
        DecodeError: It holds video that cannot be decoded by this build.
    """

    def __init__(self, path: Path, stream: int | None = None, wary: bool = True, whole: bool = False) -> None:
        self.path = path
        self._chosen = stream
        self.wary = wary
        self._whole = whole
        self.failures = 0
        self.withheld = 0
        self.withheld_from: int | None = None
        self._open()

    def _open(self) -> None:
        self.moved = self._alone = False
        self._failed_in_a_row = 0
        self.container, indices = _open_container(self.path, self._whole)
        try:
            known = self._chosen is not None and self._chosen in indices
            place = indices.index(self._chosen) if known else None
            self.stream = _pick_stream(self.container, self.path, place)
            self.index = self._chosen = indices[self.stream.index]
            self.codec: VideoCodecContext = self.stream.codec_context
            # One thread per reader: many videos are read side by side, and frame threads would only delay the frames.
            self.codec.thread_type = "NONE"
            self.codec.thread_count = 1
            # Opened before any frame is skipped: some decoders read that setting once, when they are opened.
            self.codec.open(strict=False)
            self._mode = "DEFAULT"
            self.tick = _seconds(self.stream.time_base)
            self._damage = Damage(self.tick)
        except FFmpegError as error:
            self.container.close()
            said = _said(error)
            raise DecodeError(f"{self.path}: its decoder cannot be opened ({said}); convert it to H.264") from error
        except BaseException:
            self.container.close()
            raise

    @property
    def size(self) -> int:
        """Bytes that it takes in memory, by estimate."""
        entries = sum(len(getattr(stream, "index_entries", ())) for stream in self.container.streams)
        pictures = _PICTURES * 2 * self.codec.width * self.codec.height
        return _ENTRY_BYTES * entries + pictures + _OTHER_BYTES

    def rewind(self) -> None:
        """Begins again at the first packet. The file is opened anew: not every container can seek back to its start."""
        if self.moved:
            self.container.close()
            self._open()

    def seek(self, pts: int) -> None:
        """Moves to a key frame before `pts` (stream ticks), as far as the container knows.

        Raises:
            FFmpegError: The container cannot seek there.
        """
        self._leave_others()
        self.moved = True
        self.container.seek(pts, stream=self.stream, backward=True)

    def packets(self) -> Iterator[Packet[VideoStream]]:
        """The stream's packets in decoding order from the current position; unreadable stretches are passed over."""
        self._leave_others()
        self.moved = True
        yield from _without_strays(self._read(), self.tick)

    def _leave_others(self) -> None:
        """Has the container read nothing but this stream."""
        if not self._alone and _DISCARD is not None and self.container.format.name.startswith(_PASS_OVER):
            for stream in self.container.streams:
                if stream.index != self.stream.index:
                    stream.discard = _DISCARD.all
        self._alone = True

    def _read(self) -> Iterator[Packet[VideoStream]]:
        failures = 0
        while failures < _READ_FAILURES:
            try:
                for packet in self.container.demux(self.stream):
                    if packet.size:
                        yield packet
                return
            except IndexError:
                # PyAV does not know streams that turn up after the file was opened; only their packet is lost.
                continue
            except FFmpegError:
                self.failures += 1
                failures += 1

    def decode(self, packet: Packet[VideoStream] | None, needed: bool = True) -> list[VideoFrame]:
        """Decodes one packet, or with None gives the frames that the decoder still holds.

        Frames that damage has spoilt are not given, but counted in `withheld`.

        Args:
            packet: The packet; a damaged one is counted in `failures` and gives nothing.
            needed: False lets the decoder drop the packet when no other frame refers to it.

        Raises:
            DecodeError: 3000 packets in a row could not be decoded.
        """
        mode: Literal["DEFAULT", "NONREF"] = "DEFAULT" if needed else "NONREF"
        if self._mode != mode:
            self.codec.skip_frame = self._mode = mode
        try:
            frames = self.codec.decode(packet)
        except FFmpegError as error:
            self.failures += 1
            if packet is not None:
                self._damage.failed(packet)
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= _DECODE_FAILURES:
                raise DecodeError(
                    f"{self.path}: {self._failed_in_a_row} packets in a row cannot be decoded ({_said(error)}); "
                    "it is damaged from there on"
                ) from error
            return []
        self._failed_in_a_row = 0
        if not (self.wary and frames):
            return frames
        whole = []
        for frame in frames:
            if not self._damage.spoils(frame):
                whole.append(frame)
                continue
            self.withheld += 1
            if self.withheld_from is None:
                self.withheld_from = frame.pts
        return whole

    def flush(self) -> None:
        """Makes the decoder forget everything; the next packet must be a key frame."""
        self.codec.flush_buffers()
        self._damage.forget()
        self._failed_in_a_row = 0

    def close(self) -> None:
        """Closes the file. Frames given before stay valid."""
        self.container.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _without_strays(packets: Iterator[Packet[VideoStream]], tick: Fraction) -> Iterator[Packet[VideoStream]]:
    """Takes the times off a packet that lies far ahead of both its neighbours: damage wrote them.

    One such packet would else be the end of the video, with nothing shown for all the time before it.
    """
    far = int(_STRAY_SECONDS / tick)
    before: int | None = None
    # How long packets are decoded before they are shown: long in a show of slides, but then throughout.
    early = far
    held = next(packets, None)
    while held is not None:
        following = next(packets, None)
        after = following.dts if following is not None else None
        if held.dts is not None:
            lead = 0 if held.pts is None else held.pts - held.dts
            alone = before is not None and held.dts - before > far and after is not None and 0 <= after - before <= far
            if alone or (before is not None and lead > early):
                held.pts = held.dts = None
            else:
                before, early = held.dts, max(early, 8 * lead)
        yield held
        held = following


def _seconds(time_base: Fraction | None) -> Fraction:
    # PyAV 19 has a number type of its own here, and 0 for what is not known.
    return Fraction(time_base.numerator, time_base.denominator) if time_base else Fraction(1, 1000)


def _open_container(path: Path, whole: bool) -> tuple[InputContainer, Sequence[int]]:
    """The container, and for each of its streams the index in the whole file."""
    full = check_file(path).path
    options = {"protocol_whitelist": "file", "format_whitelist": _FORMATS}
    if shows_all(Path(full)):
        options["advanced_editlist"] = "0"
        video = None if whole else alone(full)
        if video is not None:
            with suppress(FFmpegError, ValueError):
                given = {**options, "protocol_whitelist": PROTOCOLS}
                return av.open(video.address, mode="r", container_options=given, **_TEXT), video.indices
    try:
        container: InputContainer = av.open(full, mode="r", container_options=options, **_TEXT)
    except (FFmpegError, ValueError) as error:
        raise NotVideo(
            f"{path}: is not a video file that can be opened ({_said(error)}); it may be another kind of file, "
            "a playlist, or cut short before its index"
        ) from error
    return container, range(len(container.streams))


def _pick_stream(container: InputContainer, path: Path, place: int | None) -> VideoStream:
    every = container.streams.video
    videos = [s for s in every if not s.disposition & _PICTURES_BESIDE]
    if not videos:
        found = sorted({s.type for s in container.streams if s.type != "video"} | {"cover picture" for _ in every})
        raise NotVideo(f"{path}: has no moving picture ({', '.join(found) or 'nothing'} only); give the video itself")
    usable = [s for s in videos if _decodable(s)]
    if not usable:
        raise DecodeError(f"{path}: its codec is unknown to this FFmpeg, or its header damaged; convert it to H.264")
    if place is not None:
        return next((s for s in usable if s.index == place), usable[0])
    best = container.streams.best("video")
    return next((s for s in usable if best is not None and s.index == best.index), usable[0])


def _decodable(stream: VideoStream) -> bool:
    codec: VideoCodecContext | None = stream.codec_context
    return codec is not None and bool(codec.width) and bool(codec.height)


def _said(error: Exception) -> str:
    """The reason that FFmpeg gave, without the path and on one line."""
    if isinstance(error, ArgumentError):
        return "not a known video container"
    return " ".join((getattr(error, "strerror", None) or str(error)).split())
