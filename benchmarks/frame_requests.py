"""Five frames of a window at random places: one after the other, in threads, and what memory is left behind."""

from __future__ import annotations

import gc
import importlib.util
import random
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks.frame_meter import Measured, Meter, Unavailable, frame_at, resident_mb
from benchmarks.frame_readers import package
from benchmarks.frame_specs import FPS, Spec

WINDOW = 10.0
_FRAMES = 5
_PLACES = 20
_THREADS = 8
_REQUESTS = 5
_OPENS = 500
_EVERY = 50
IDLE = 30

Request = Callable[[float, Meter | None], None]
"""Gets the frames of the window that begins at a time in seconds, and has a meter, if there is one, check them."""


def ours(path: Path, decoder: str = "auto") -> Request:
    """`Video.window`, and the frames' JPEG bytes."""
    from videohv.types import Window
    from videohv.video import Video

    video = Video(path, decoder=decoder)

    def request(start: float, meter: Meter | None) -> None:
        frames = video.window(Window(start=start, end=start + WINDOW), n=_FRAMES)
        for frame in frames:
            _ = frame.jpeg
        if meter is not None:
            with meter.aside():
                for frame in frames:
                    at = frame_at(frame.wanted)
                    meter.check(frame.rgb, frame.time, at, at)

    return request


def decord(path: Path) -> Request:
    """`get_batch` and `seek(0)`, without which decord fills the memory between requests; the reader stays open."""
    reader: Any = package("decord", "decord").VideoReader(str(path))

    def request(start: float, meter: Meter | None) -> None:
        indices = [frame_at(start + WINDOW * (i + 0.5) / _FRAMES) for i in range(_FRAMES)]
        pictures = reader.get_batch(indices).asnumpy()
        reader.seek(0)
        if meter is not None:
            with meter.aside():
                for index, picture in zip(indices, pictures, strict=True):
                    meter.check(picture, index / FPS, index, index)

    return request


def _places(spec: Spec, seed: int, count: int) -> list[float]:
    rng = random.Random(f"{spec.name} {seed}")
    return [rng.uniform(0, spec.seconds - WINDOW) for _ in range(count)]


def windows(open_file: Callable[[Path], Request], path: Path, spec: Spec, seed: int) -> Measured:
    """Twenty windows, one after the other; the series is their milliseconds. The first request is not counted."""
    warm_up, *places = _places(spec, seed, _PLACES + 1)
    meter = Meter(spec.loop)
    request = open_file(path)
    request(warm_up, None)
    meter.begin()
    series = []
    for place in places:
        before = meter.done().wall
        request(place, meter)
        series.append((meter.done().wall - before) * 1e3)
    return meter.done(series)


def threads(opener: Callable[[Path], Request], shared: bool, path: Path, spec: Spec, seed: int) -> Measured:
    """Eight threads with five windows each, begun at once; the series is the number of requests a second.

    Args:
        opener: Opens the file.
        shared: Whether all threads use one open file, which decord does not survive.
        path: The clip.
        spec: What it is.
        seed: Of the places.
    """
    places = _places(spec, seed, _THREADS * _REQUESTS)
    meter = Meter(spec.loop)
    one = opener(path) if shared else None
    barrier = threading.Barrier(_THREADS + 1)
    failures: list[BaseException] = []

    def work(mine: list[float]) -> None:
        try:
            request = one or opener(path)
            request(mine[0], None)
            barrier.wait()
            for place in mine:
                request(place, None)
        except BaseException as error:
            failures.append(error)
            barrier.abort()

    workers = [threading.Thread(target=work, args=(places[i::_THREADS],)) for i in range(_THREADS)]
    for worker in workers:
        worker.start()
    try:
        barrier.wait()
        meter.begin()
    except threading.BrokenBarrierError:
        pass
    for worker in workers:
        worker.join()
    if failures:
        raise failures[0]
    meter.pictures = len(places) * _FRAMES
    return meter.done([len(places) / meter.done().wall])


def opens(path: Path, spec: Spec, seed: int) -> Measured:
    """500 times a `Video` and a window; the series is the resident MB after every fifty."""
    meter = Meter(spec.loop)
    series = []
    for i, place in enumerate(_places(spec, seed, _OPENS), start=1):
        ours(path)(place, meter)
        if i % _EVERY == 0:
            gc.collect()
            series.append(resident_mb())
    return meter.done(series)


def idle(decoder: str, path: Path, spec: Spec, seed: int) -> Measured:
    """A window, and then nothing for 30 s; the series is the resident MB of all processes in each second."""
    # Looked for, not imported: it belongs into the child process of our decoder.
    if decoder == "decord" and importlib.util.find_spec("decord") is None:
        raise Unavailable("the package decord")
    meter = Meter(spec.loop)
    request = ours(path, decoder)
    for place in _places(spec, seed, 2):
        request(place, meter)
    series = []
    for _ in range(IDLE):
        time.sleep(1)
        series.append(resident_mb())
    return meter.done(series)


REQUESTS: dict[tuple[str, str], Callable[[Path, Spec, int], Measured]] = {
    ("windows", "ours"): partial(windows, ours),
    ("windows", "decord"): partial(windows, decord),
    ("threads", "ours"): partial(threads, ours, True),
    ("threads", "decord"): partial(threads, decord, False),
    ("memory", "opens"): opens,
    ("memory", "idle-pyav"): partial(idle, "pyav"),
    ("memory", "idle-decord"): partial(idle, "decord"),
}
"""By part and name."""
