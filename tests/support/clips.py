"""Small video files for tests, made with PyAV. Every frame carries its number in its pixels."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import av
import numpy as np
from numpy.typing import NDArray

BITS = 10
_TICKS = 90_000
_PIXELS = {"mjpeg": "yuvj420p", "prores_ks": "yuv422p10le", "gif": "rgb8"}


def picture(number: int, width: int, height: int) -> NDArray[np.uint8]:
    """A grey picture (height, width, 3) whose upper half shows a number as black and white bars, highest bit left.

    The lower half is darker on the left than on the right, so that a mirrored picture can be told.
    """
    rgb = np.full((height, width, 3), 60, np.uint8)
    rgb[height // 2 :, width // 2 :] = 140
    edges = np.linspace(0, width, BITS + 1).astype(int)
    for bit in range(BITS):
        lit = number >> (BITS - 1 - bit) & 1
        rgb[: height // 2, edges[bit] : edges[bit + 1]] = 235 if lit else 16
    return rgb


def number_in(rgb: NDArray[np.uint8]) -> int:
    """Reads the number back from an upright picture of any size."""
    height, width = rgb.shape[:2]
    edges = np.linspace(0, width, BITS + 1)
    number = 0
    for left, right in pairwise(edges):
        margin = (right - left) / 4
        bar = rgb[height // 8 : height * 3 // 8, int(left + margin) : max(int(right - margin), int(left + margin) + 1)]
        number = number << 1 | int(bar.mean() > 126)
    return number


def make_clip(
    path: Path,
    frames: int = 90,
    fps: float = 30.0,
    size: tuple[int, int] = (128, 96),
    codec: str = "libx264",
    gop: int = 30,
    b_frames: int = 2,
    rotation: int = 0,
    hflip: bool = False,
    times: Sequence[float] | None = None,
    audio: bool = False,
    cover: bool = False,
    options: dict[str, str] | None = None,
    container_options: dict[str, str] | None = None,
    format: str | None = None,
) -> Path:
    """Writes a clip; frame `i` shows the number `i` at `times[i]`, or at `i / fps`.

    Args:
        path: The file; its suffix chooses the container unless `format` does.
        frames: Number of frames, fewer than 1024; ignored when `times` is given.
        fps: Frames per second.
        size: Upright (width, height) in pixels.
        codec: An FFmpeg video encoder, or `none` for no video.
        gop: Frames between key frames.
        b_frames: Frames that refer both ways, in a row at most.
        rotation: Degrees counter-clockwise by which a player must turn the stored picture to show it upright.
        hflip: Whether the player must then mirror it left to right as well.
        times: Seconds, ascending, for a variable rate.
        audio: Adds an AAC track of silence.
        cover: Adds a picture stream marked as a cover before the video.
        options: For the encoder.
        container_options: For the muxer.
        format: Container format by FFmpeg's name.

    Returns:
        The path.
    """
    shown = list(times) if times is not None else [i / fps for i in range(frames)]
    with av.open(str(path), "w", format=format, options=container_options or {}) as out:
        picture_stream: Any = _cover_stream(out, size) if cover else None
        video: Any = None
        if codec != "none":
            video = out.add_stream(codec, rate=Fraction(fps).limit_denominator(1001), options=_settings(codec, options))
            video.width, video.height = size[::-1] if rotation % 180 else size
            video.pix_fmt = _PIXELS.get(codec, "yuv420p")
            video.gop_size = gop
            if codec in ("libx264", "mpeg4", "mpeg2video"):
                video.max_b_frames = b_frames
            tick = Fraction(1, _TICKS) if times is not None else 1 / Fraction(fps).limit_denominator(1001)
            video.codec_context.time_base = tick
            if rotation or hflip:
                video.set_display_rotation(rotation, hflip=hflip)
        sound: Any = out.add_stream("aac", rate=16_000, layout="mono") if audio else None
        if picture_stream is not None:
            out.mux(picture_stream.encode(_frame(picture(1023, *size), 0, Fraction(1, 25))))
        for number, time in enumerate(shown if video is not None else []):
            upright = picture(number, *size)
            stored = np.rot90(upright[:, ::-1] if hflip else upright, -rotation // 90)
            out.mux(video.encode(_frame(np.ascontiguousarray(stored), round(time / tick), tick)))
        if video is not None:
            out.mux(video.encode(None))
        if sound is not None:
            _add_silence(out, sound, shown[-1])
    return path


def _frame(rgb: NDArray[np.uint8], pts: int, tick: Fraction) -> av.VideoFrame:
    frame = av.VideoFrame.from_ndarray(rgb, format="rgb24")
    frame.pts, frame.time_base = pts, tick
    return frame


def _settings(codec: str, options: dict[str, str] | None) -> dict[str, str]:
    fast = {
        "libx264": {"preset": "ultrafast", "crf": "18", "sc_threshold": "0"},
        "libx265": {"preset": "ultrafast", "x265-params": "log-level=none"},
        "libvpx-vp9": {"deadline": "realtime", "cpu-used": "8", "crf": "20", "b": "0"},
        "libvpx": {"deadline": "realtime", "cpu-used": "8", "crf": "10", "b": "1000000"},
        "libsvtav1": {"preset": "12", "crf": "30"},
        "prores_ks": {},
        "gif": {},
    }
    return {**fast.get(codec, {"b": "2000000"}), **(options or {})}


def _cover_stream(out: Any, size: tuple[int, int]) -> Any:
    stream = out.add_stream("mjpeg", rate=25)
    stream.width, stream.height = size
    stream.pix_fmt = "yuvj420p"
    stream.disposition = av.stream.Disposition.attached_pic
    return stream


def _add_silence(out: Any, stream: Any, seconds: float) -> None:
    block = 1024
    for start in range(0, int(seconds * 16_000) + block, block):
        samples = np.zeros((1, block), np.float32)
        frame = av.AudioFrame.from_ndarray(samples, format="fltp", layout="mono")
        frame.pts, frame.sample_rate, frame.time_base = start, 16_000, Fraction(1, 16_000)
        out.mux(stream.encode(frame))
    out.mux(stream.encode(None))
