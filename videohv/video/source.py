"""An open video file: what may be opened, which stream is read, and reading on past damage."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Self

import av
from av import Packet, VideoFrame
from av.container import InputContainer
from av.error import FFmpegError
from av.stream import Disposition
from av.video.codeccontext import VideoCodecContext
from av.video.stream import VideoStream

from videohv.errors import DecodeError, NotVideo
from videohv.video.identity import check_file

# Containers that hold their own pictures. Playlists and scripts (hls, dash, concat) name other files and stay out, as do
# single pictures and patterns of picture files (image2).
_FORMATS = (
    "mov,mp4,m4a,3gp,3g2,mj2,matroska,webm,avi,mpegts,mpeg,mpegvideo,m4v,h264,hevc,ivf,obu,flv,asf,ogg,mxf,nut,gif,"
    "wtv,dv,rm"
)
_PICTURES_BESIDE = Disposition.attached_pic | Disposition.timed_thumbnails | Disposition.still_image
_READ_FAILURES = 50


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
            raise DecodeError(f"{self.path}: the decoder cannot be opened ({_said(error)}); convert it to H.264") from error
        except BaseException:
            self.container.close()
            raise

    def rewind(self) -> None:
        """Begins again at the first packet. The file is opened anew: not every container can seek back to its start."""
        self.container.close()
        self._open()

    def seek(self, pts: int) -> None:
        """Moves to a key frame before `pts` (stream ticks), as far as the container knows.

        Raises:
            FFmpegError: The container cannot seek there.
        """
        self.container.seek(pts, stream=self.stream, backward=True)

    def packets(self) -> Iterator[Packet[VideoStream]]:
        """The stream's packets in decoding order from the current position; unreadable stretches are passed over."""
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
        """
        mode = "DEFAULT" if needed else "NONREF"
        if self.codec.skip_frame != mode:
            self.codec.skip_frame = mode
        try:
            return self.codec.decode(packet)
        except FFmpegError:
            self.failures += 1
            return []

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
        return av.open(full, mode="r", container_options=options, metadata_errors="replace")
    except (FFmpegError, ValueError) as error:
        raise NotVideo(
            f"{path}: is not a video file that can be opened ({_said(error)}); it may be another kind of file, "
            "a playlist, or cut short before its index"
        ) from error


def _pick_stream(container: InputContainer, path: Path, index: int | None) -> VideoStream:
    videos = [s for s in container.streams.video if not s.disposition & _PICTURES_BESIDE]
    if not videos:
        what = "only a cover picture" if container.streams.video else "only sound" if container.streams.audio else "no video"
        raise NotVideo(f"{path}: has {what}, no moving picture; give the video file itself")
    usable = [s for s in videos if _decodable(s)]
    if not usable:
        raise DecodeError(f"{path}: its video codec is unknown to this FFmpeg or its header is damaged; convert it to H.264")
    if index is not None:
        return next((s for s in usable if s.index == index), usable[0])
    best = container.streams.best("video")
    return next((s for s in usable if best is not None and s.index == best.index), usable[0])


def _decodable(stream: VideoStream) -> bool:
    codec: VideoCodecContext | None = stream.codec_context
    return codec is not None and bool(codec.width) and bool(codec.height)


def _said(error: Exception) -> str:
    """The reason that FFmpeg gave, without the path and on one line."""
    log = error.log if isinstance(error, FFmpegError) else None
    text = log[2] if log else (getattr(error, "strerror", None) or str(error))
    return " ".join(str(text).split())
