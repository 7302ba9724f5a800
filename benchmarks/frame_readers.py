"""One frame a second of a whole clip, by us and by others."""

from __future__ import annotations

import importlib
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.frame_meter import Measured, Meter, Unavailable, frame_at
from benchmarks.frame_specs import FPS, Spec

if TYPE_CHECKING:
    from videohv.video.decoder import Mode

_BATCH = 32


def ffmpeg_program() -> str:
    """The path of an ffmpeg program.

    Raises:
        Unavailable: There is none.
    """
    if found := shutil.which("ffmpeg"):
        return found
    try:
        return str(importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe())
    except ImportError:
        raise Unavailable("an ffmpeg program, or the package imageio-ffmpeg") from None


def package(name: str, of: str) -> Any:
    """An optional package.

    Raises:
        Unavailable: It is not installed.
    """
    try:
        return importlib.import_module(name)
    except ImportError:
        raise Unavailable(f"the package {of}") from None


def ours(mode: Mode, path: Path, spec: Spec) -> Measured:
    """`Video.sample`, with JPEG bytes at 448 pixels, each read back from its JPEG and checked."""
    import simplejpeg

    from videohv.video import Video

    meter = Meter(spec.loop)
    video = Video(path)
    meter.opened()
    for frame in video.sample(1.0, end=spec.used, mode=mode):
        jpeg = frame.jpeg
        with meter.aside():
            first, last = frame_at(frame.wanted), frame_at(frame.wanted)
            if mode == "near":
                last += FPS - 1
            elif mode == "key":
                first = 0
            meter.check(simplejpeg.decode_jpeg(jpeg), frame.time, first, last)
    return meter.done()


def ffmpeg(path: Path, spec: Spec) -> Measured:
    """`ffmpeg -vf fps=1` to JPEG files of the clip's size, as most programs of this kind prepare a video."""
    program = ffmpeg_program()
    with tempfile.TemporaryDirectory() as folder:
        meter = Meter(spec.loop)
        subprocess.run(
            [
                *(program, "-nostdin", "-v", "error", "-t", str(spec.used), "-i", str(path)),
                *("-vf", "fps=1", str(Path(folder) / "%06d.jpg")),
            ],
            check=True,
        )
        meter.pictures = len(list(Path(folder).iterdir()))
        return meter.done()


def cv2(path: Path, spec: Spec) -> Measured:
    """OpenCV reading every frame and writing every thirtieth to a JPEG file."""
    library = package("cv2", "opencv-python-headless")
    with tempfile.TemporaryDirectory() as folder:
        meter = Meter(spec.loop)
        capture = library.VideoCapture(str(path))
        for i in range(spec.used * FPS):
            good, picture = capture.read()
            if not good:
                break
            if i % FPS == 0:
                library.imwrite(str(Path(folder) / f"{i:06d}.jpg"), picture)
                meter.pictures += 1
        capture.release()
        return meter.done()


def decord(path: Path, spec: Spec) -> Measured:
    """`get_batch` of every thirtieth frame, 32 at a time, with decord's own settings; pictures only, no JPEG."""
    library = package("decord", "decord")
    meter = Meter(spec.loop)
    reader = library.VideoReader(str(path))
    meter.opened()
    indices = list(range(0, min(len(reader), spec.used * FPS), FPS))
    for begin in range(0, len(indices), _BATCH):
        batch = indices[begin : begin + _BATCH]
        pictures = reader.get_batch(batch).asnumpy()
        with meter.aside():
            for index, picture in zip(batch, pictures, strict=True):
                meter.check(picture, index / FPS, index, index)
    return meter.done()


def pyav(path: Path, spec: Spec) -> Measured:
    """PyAV decoding every frame, with its own settings; every thirtieth as a picture, no JPEG."""
    import av

    meter = Meter(spec.loop)
    with av.open(str(path)) as container:
        meter.opened()
        for i, frame in enumerate(container.decode(video=0)):
            if i == spec.used * FPS:
                break
            if i % FPS == 0:
                picture = frame.to_ndarray(format="rgb24")
                with meter.aside():
                    meter.check(picture, frame.time or 0.0, i, i)
    return meter.done()


READERS: dict[str, Callable[[Path, Spec], Measured]] = {
    "exact": partial(ours, "exact"),
    "near": partial(ours, "near"),
    "key": partial(ours, "key"),
    "ffmpeg": ffmpeg,
    "cv2": cv2,
    "decord": decord,
    "pyav": pyav,
}
"""By name; the first three are ours."""
