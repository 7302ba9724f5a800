"""Moving pictures to encode: planes of scenes that follow one another, made by numpy or taken from real clips."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import av
import numpy as np
from numpy.typing import NDArray

from benchmarks.frame_specs import FPS

Plane = NDArray[np.uint8]
Planes = tuple[Plane, Plane, Plane]

_LONGEST, _MEAN, _SHORTEST = 12.0, 3.3, 0.5
_CANVASES = 5
_POOL = 400
_ROOM = 12
"""Luma is kept this far from both ends of its range, so that noise can be added without a check for overflow."""


class Canvas(NamedTuple):
    """A still picture half as large again as the frame, in four versions that lie half a pixel apart."""

    luma: tuple[Plane, Plane, Plane, Plane]
    u: Plane
    v: Plane


def scenes(frames: int, rng: np.random.Generator) -> Iterator[int]:
    """Lengths of scenes, in frames: irregular, with a mean of 3.3 s, and up to 12 s."""
    left = frames
    while left:
        seconds = min(_LONGEST, _SHORTEST + rng.exponential(_MEAN - _SHORTEST))
        length = min(left, int(seconds * FPS))
        yield length
        left -= length


def synthetic(width: int, height: int, frames: int, seed: int, noise: float) -> Iterator[Planes]:
    """Frames of textured scenes with a moving camera, things that move before it, and noise.

    Args:
        width: Pixels, even.
        height: Pixels, even.
        frames: How many.
        seed: Of everything that is random.
        noise: Standard deviation of the luma noise; below 4.
    """
    rng = np.random.default_rng(seed)
    grain = _grain(width, height, noise, rng)
    canvases = [_canvas(width * 3 // 8 * 4, height * 3 // 8 * 4, rng) for _ in range(_CANVASES)]
    for length in scenes(frames, rng):
        back, front = rng.permutation(_CANVASES)[:2]
        view = _pan(length, width, height, rng)
        things = [_Thing(canvases[front], width, height, rng) for _ in range(2)]
        for i in range(length):
            planes = _view(canvases[back], int(view[i, 0]), int(view[i, 1]), width, height)
            for thing in things:
                thing.draw(planes, i)
            yield _noisy(planes, grain, rng)


def real(sources: Sequence[Path], width: int, height: int, frames: int, seed: int, noise: float) -> Iterator[Planes]:
    """Frames of real clips, scaled: scenes begin anywhere in any of them and run on, with noise added.

    At most 400 frames of the clips are used in all. Arguments as in `synthetic`.
    """
    rng = np.random.default_rng(seed)
    grain = _grain(width, height, noise, rng)
    pools = [_decoded(source, width, height, _POOL // len(sources)) for source in sources]
    for length in scenes(frames, rng):
        pool = pools[rng.integers(len(pools))]
        begin = int(rng.integers(len(pool)))
        for i in range(length):
            luma, u, v = pool[(begin + i) % len(pool)]
            yield _noisy((luma.copy(), u.copy(), v.copy()), grain, rng)


def _decoded(source: Path, width: int, height: int, most: int) -> list[Planes]:
    pool: list[Planes] = []
    with av.open(str(source)) as container:
        for frame in container.decode(video=0):
            stacked = frame.reformat(width=width, height=height, format="yuv420p").to_ndarray().astype(np.uint8)
            luma, u, v = split(stacked, width, height)
            pool.append((np.clip(luma, _ROOM, 255 - _ROOM) - np.uint8(_ROOM), u, v))
            if len(pool) == most:
                break
    return pool


def split(stacked: Plane, width: int, height: int) -> Planes:
    """The planes of a yuv420p picture as PyAV stacks them: views of (height, width) and twice a quarter of it."""
    quarter = width * height // 4
    flat = stacked.reshape(-1)
    luma, u, v = flat[: 4 * quarter], flat[4 * quarter : 5 * quarter], flat[5 * quarter :]
    half = (height // 2, width // 2)
    return luma.reshape(height, width), u.reshape(half), v.reshape(half)


def _grain(width: int, height: int, noise: float, rng: np.random.Generator) -> Plane:
    grain = rng.normal(_ROOM, noise, (height + 64, width + 64))
    return np.clip(np.rint(grain), 0, 2 * _ROOM).astype(np.uint8)


def _noisy(planes: Planes, grain: Plane, rng: np.random.Generator) -> Planes:
    luma = planes[0]
    y, x = rng.integers(64, size=2)
    luma += grain[y : y + luma.shape[0], x : x + luma.shape[1]]
    return planes


def _canvas(width: int, height: int, rng: np.random.Generator) -> Canvas:
    """Texture with the spectrum of natural pictures (amplitude falling with frequency), broken by sharp edges."""
    fine = _texture(2 * width, 2 * height, rng)
    edges = np.sign(_texture(2 * width, 2 * height, rng, fall=2.0))
    luma = np.clip(110 + 32 * fine + 26 * edges, 20, 215).astype(np.uint8)
    phases = tuple(np.ascontiguousarray(luma[y::2, x::2]) for y in (0, 1) for x in (0, 1))
    tint = 9 * edges[::4, ::4]
    u, v = (np.clip(128 + 12 * _texture(width // 2, height // 2, rng) + s * tint, 40, 215) for s in (1, -1))
    return Canvas((phases[0], phases[1], phases[2], phases[3]), u.astype(np.uint8), v.astype(np.uint8))


def _texture(width: int, height: int, rng: np.random.Generator, fall: float = 1.35) -> NDArray[np.float64]:
    spectrum = np.fft.rfft2(rng.standard_normal((height, width)))
    y, x = np.fft.fftfreq(height)[:, None], np.fft.rfftfreq(width)[None, :]
    radius = np.hypot(y, x)
    radius[0, 0] = 1.0
    made = np.fft.irfft2(spectrum / radius**fall, s=(height, width))
    return np.asarray((made - made.mean()) / made.std())


def _pan(length: int, width: int, height: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Where the camera looks in each frame, (length, 2) as y and x in half pixels: still, slow or fast, and shaken."""
    speed = rng.choice([0.0, 0.6, 2.0, 6.0]) * rng.uniform(0.5, 1.5)
    angle = rng.uniform(0, 2 * np.pi)
    shake = np.cumsum(rng.normal(0, rng.choice([0.0, 0.5]), (length, 2)), axis=0)
    way = np.arange(length)[:, None] * speed * np.array([np.sin(angle), np.cos(angle)]) + shake
    room = np.array([height, width]) - 8
    begin = rng.uniform(0, 1, 2) * room
    # A triangle wave turns the camera round at the edges of the canvas.
    return np.asarray(room - np.abs((begin + way) % (2 * room) - room), np.int64)


def _view(canvas: Canvas, y: int, x: int, width: int, height: int) -> Planes:
    luma = canvas.luma[y % 2 * 2 + x % 2]
    top, left = y // 2, x // 2
    half = slice(top // 2, top // 2 + height // 2), slice(left // 2, left // 2 + width // 2)
    return luma[top : top + height, left : left + width].copy(), canvas.u[half].copy(), canvas.v[half].copy()


class _Thing:
    """Something round that moves across the picture while its own surface moves too."""

    def __init__(self, canvas: Canvas, width: int, height: int, rng: np.random.Generator) -> None:
        self._canvas = canvas
        side = int(rng.uniform(0.15, 0.45) * height) // 2 * 2
        self._size = side, min(int(side * rng.uniform(0.6, 1.6)) // 2 * 2, width // 2)
        y, x = (np.linspace(-1, 1, n) for n in self._size)
        self._mask = y[:, None] ** 2 + x[None, :] ** 2 < 1
        self._range = height - self._size[0], width - self._size[1]
        self._speed = rng.uniform(0.005, 0.06, 2)
        self._phase = rng.uniform(0, 2 * np.pi, 2)
        self._surface = rng.choice([0.0, 0.0, 0.5])

    def draw(self, planes: Planes, i: int) -> None:
        """Puts it where it is in frame `i` of its scene."""
        at = 0.5 + 0.5 * np.sin(self._phase + self._speed * i)
        top, left = (int(a * r) // 2 * 2 for a, r in zip(at, self._range, strict=True))
        height, width = self._size
        turn = int(self._surface * i) % 200
        luma = self._canvas.luma[turn % 2][turn // 2 : turn // 2 + height, :width]
        np.copyto(planes[0][top : top + height, left : left + width], luma, where=self._mask)
        half = slice(top // 2, (top + height) // 2), slice(left // 2, (left + width) // 2)
        for plane, surface in zip(planes[1:], (self._canvas.u, self._canvas.v), strict=True):
            np.copyto(plane[half], surface[: height // 2, : width // 2], where=self._mask[::2, ::2])
