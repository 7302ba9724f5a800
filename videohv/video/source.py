"""An open video file: what may be opened, which stream is read, and reading on past damage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Literal, Self

import av
from av import Packet, VideoFrame
from av.container import InputContainer
from av.error import ArgumentError, FFmpegError
from av.stream import Disposition
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream

from videohv.errors import DecodeError, NotVideo
from videohv.video.identity import check_file

# Containers that hold their own pictures. Playlists and scripts (hls, dash, concat) name other files and stay out, as
# do single pictures and patterns of picture files (image2).
_FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,mpegvideo,m4v,h264,hevc,ivf,obu,flv,asf,ogg,mxf,nut,gif,"
    "wtv,dv,rm"
)
_PICTURES_BESIDE = Disposition.attached_pic | Disposition.timed_thumbnails | Disposition.still_image
_READ_FAILURES = 50
_DECODE_FAILURES = 3000


class Source:
    """One open container with its best video stream and decoder; for one thread, closed by `with`.

    Args:
        path: The file.
        stream: Index of the video stream; None picks the best that is not a cover picture.

    Raises:
        NotVideo: The file is missing, empty, not a media file of a known kind, or holds no video.
        DecodeError: It holds video that cannot be decoded by this build.
    """

    def __init__(self, path: Path, stream: int | None = None) -> None:
        self.path = path
        self._index = stream
        self.failures = 0
        self._open()

    def _open(self) -> None:
        self._moved = False
        self._failed_in_a_row = 0
        self.container = _open_container(self.path)
        try:
            self.stream = _pick_stream(self.container, self.path, self._index)
            self._index = self.stream.index
            self.codec: VideoCodecContext = self.stream.codec_context
            # One thread per reader: many videos are read side by side, and frame threads would only delay the frames.
            self.codec.thread_type = "NONE"
            self.codec.thread_count = 1
            # Opened before any frame is skipped: some decoders read that setting once, when they are opened.
            self.codec.open(strict=False)
        except FFmpegError as error:
            self.container.close()
            said = _said(error)
            raise DecodeError(f"{self.path}: its decoder cannot be opened ({said}); convert it to H.264") from error
        except BaseException:
            self.container.close()
            raise

    def rewind(self) -> None:
        """Begins again at the first packet. The file is opened anew: not every container can seek back to its start."""
        if self._moved:
            self.container.close()
            self._open()

    def seek(self, pts: int) -> None:
        """Moves to a key frame before `pts` (stream ticks), as far as the container knows.

        Raises:
            FFmpegError: The container cannot seek there.
        """
        self._moved = True
        self.container.seek(pts, stream=self.stream, backward=True)

    def packets(self) -> Iterator[Packet[VideoStream]]:
        """The stream's packets in decoding order from the current position; unreadable stretches are passed over."""
        self._moved = True
        for _ in range(_READ_FAILURES):
            try:
                for packet in self.container.demux(self.stream):
                    if packet.size:
                        yield packet
                return
            except FFmpegError:
                self.failures += 1

    def decode(self, packet: Packet[VideoStream] | None, needed: bool = True) -> list[VideoFrame]:
        """Decodes one packet, or with None gives the frames that the decoder still holds.

        Args:
            packet: The packet; a damaged one is counted in `failures` and gives nothing.
            needed: False lets the decoder drop the packet when no other frame refers to it.

        Raises:
            DecodeError: 3000 packets in a row could not be decoded.
        """
        mode: Literal["DEFAULT", "NONREF"] = "DEFAULT" if needed else "NONREF"
        if self.codec.skip_frame != mode:
            self.codec.skip_frame = mode
        try:
            frames = self.codec.decode(packet)
        except FFmpegError as error:
            self.failures += 1
            self._failed_in_a_row += 1
            if self._failed_in_a_row >= _DECODE_FAILURES:
                raise DecodeError(
                    f"{self.path}: {self._failed_in_a_row} packets in a row cannot be decoded ({_said(error)}); "
                    "it is damaged from there on"
                ) from error
            return []
        self._failed_in_a_row = 0
        return frames

    def flush(self) -> None:
        """Makes the decoder forget everything; the next packet must be a key frame."""
        self.codec.flush_buffers()

    def close(self) -> None:
        """Closes the file. Frames given before stay valid."""
        self.container.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


def _open_container(path: Path) -> InputContainer:
    full = check_file(path).path
    options = {"protocol_whitelist": "file", "format_whitelist": _FORMATS}
    try:
        container: InputContainer = av.open(full, mode="r", container_options=options, metadata_errors="replace")
    except (FFmpegError, ValueError) as error:
        raise NotVideo(
            f"{path}: is not a video file that can be opened ({_said(error)}); it may be another kind of file, "
            "a playlist, or cut short before its index"
        ) from error
    return container


def _pick_stream(container: InputContainer, path: Path, index: int | None) -> VideoStream:
    every = container.streams.video
    videos = [s for s in every if not s.disposition & _PICTURES_BESIDE]
    if not videos:
        found = sorted({s.type for s in container.streams if s.type != "video"} | {"cover picture" for _ in every})
        raise NotVideo(f"{path}: has no moving picture ({', '.join(found) or 'nothing'} only); give the video itself")
    usable = [s for s in videos if _decodable(s)]
    if not usable:
        raise DecodeError(f"{path}: its codec is unknown to this FFmpeg, or its header damaged; convert it to H.264")
    if index is not None:
        return next((s for s in usable if s.index == index), usable[0])
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
