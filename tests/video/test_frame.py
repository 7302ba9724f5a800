from __future__ import annotations

import base64

import numpy as np
import pytest
import simplejpeg
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.support.clips import number_in, picture
from videohv.errors import InputError
from videohv.types import FrameLimits
from videohv.video import Frame, pictures
from videohv.video.jpeg import encode


def test_the_jpeg_shows_the_picture_and_is_made_once() -> None:
    frame = Frame(1.5, 1.4, picture(345, 320, 180))
    assert (frame.width, frame.height) == (320, 180)
    assert number_in(simplejpeg.decode_jpeg(frame.jpeg)) == 345
    assert frame.jpeg is frame.jpeg
    head, body = frame.data_uri.split(",")
    assert head == "data:image/jpeg;base64"
    assert base64.b64decode(body) == frame.jpeg


@pytest.mark.parametrize(("height", "width"), [(1, 1), (1, 7), (448, 796), (448, 1024), (1024, 1024)])
def test_the_worst_picture_stays_within_bounds(height: int, width: int) -> None:
    rgb = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    assert len(encode(rgb)) <= 200_000


def noise(height: int, width: int, seed: int = 0) -> NDArray[np.uint8]:
    return np.random.default_rng(seed).integers(0, 256, (height, width, 3), dtype=np.uint8)


def test_the_best_quality_that_fits_is_taken() -> None:
    rgb = noise(64, 64)
    best = len(encode(rgb))
    less = encode(rgb, FrameLimits(frame_bytes=best - 1))
    assert len(less) < best
    assert simplejpeg.decode_jpeg(less).shape == (64, 64, 3)
    assert simplejpeg.decode_jpeg(encode(rgb, FrameLimits(frame_bytes=1500))).shape == (48, 48, 3)


@pytest.mark.parametrize(("height", "width"), [(1, 4000), (4000, 1), (1, 1), (3, 5), (7, 2001), (1081, 1921)])
def test_noise_of_any_shape_stays_within_every_bound(height: int, width: int) -> None:
    for limits in (FrameLimits(), FrameLimits(short_side=100, long_side=200, pixels=15_000, frame_bytes=4_000)):
        data = encode(noise(height, width), limits)
        down, across = simplejpeg.decode_jpeg(data).shape[:2]
        assert len(data) <= limits.frame_bytes
        assert min(down, across) <= min(limits.short_side, height, width)
        assert max(down, across) <= min(limits.long_side, max(height, width))
        assert down * across <= limits.pixels


def test_a_jpeg_is_made_once_for_each_limits() -> None:
    frame = Frame(0, 0, noise(90, 160))
    assert frame.jpeg is frame.within(FrameLimits())
    small = frame.within(FrameLimits(short_side=45))
    assert simplejpeg.decode_jpeg(small).shape == (45, 80, 3)
    assert frame.within(FrameLimits(short_side=45)) is small
    assert frame.jpeg is frame.jpeg


def test_frames_of_one_request_are_made_smaller_evenly_and_never_left_out() -> None:
    frames = [Frame(i, i, noise(448, 796, i)) for i in range(4)] + [Frame(4, 4, picture(9, 128, 64))]
    plain = pictures(frames, FrameLimits())
    assert plain.shrunk == 0
    assert plain.uris == tuple(frame.data_uri for frame in frames)
    fitted = pictures(frames, FrameLimits(request_bytes=200_000))
    assert fitted.shrunk == 4
    assert sum(map(len, fitted.uris)) <= 200_000
    assert fitted.uris[4] == plain.uris[4], "what is small already stays as it is"
    lengths = [len(uri) for uri in fitted.uris[:4]]
    assert max(lengths) < 1.1 * min(lengths)
    assert all(uri.startswith("data:image/jpeg;base64,") for uri in fitted.uris)
    assert pictures([], FrameLimits()).uris == ()


def test_more_frames_than_could_ever_fit_are_refused() -> None:
    frames = [Frame(i, i, noise(64, 64, i)) for i in range(20)]
    assert len(pictures(frames, FrameLimits(request_bytes=40_000)).uris) == 20
    with pytest.raises(InputError, match="20 frames do not fit into a request of 20000 bytes"):
        pictures(frames, FrameLimits(request_bytes=20_000))


sides = st.integers(min_value=1, max_value=10_000)


@given(sides, sides, sides, sides, st.integers(min_value=1, max_value=10_000_000))
def test_sizes(width: int, height: int, short: int, long: int, pixels: int) -> None:
    limits = FrameLimits(short_side=short, long_side=long, pixels=pixels)
    across, down = limits.size(width, height)
    assert 1 <= across <= width
    assert 1 <= down <= height
    assert min(across, down) <= short
    assert max(across, down) <= long
    assert across * down <= pixels
    assert limits.size(height, width) == (down, across)
    # The same shape within a pixel: some scale has both sides within one pixel of what they are.
    assert max((across - 1) / width, (down - 1) / height) <= min((across + 1) / width, (down + 1) / height)
    if short >= min(width, height) and long >= max(width, height) and pixels >= width * height:
        assert (across, down) == (width, height)


def test_limits_change_in_proportion() -> None:
    assert FrameLimits().with_short_side(448) == FrameLimits()
    double = FrameLimits().with_short_side(896)
    assert (double.short_side, double.long_side, double.pixels) == (896, 2048, 2_400_000)
    assert double.frame_bytes == 800_000
    assert FrameLimits().with_short_side(100).size(1920, 1080) == (178, 100)


def test_turned_and_read_only_pictures_can_be_encoded() -> None:
    rgb = np.rot90(picture(9, 128, 64))
    rgb.setflags(write=False)
    assert simplejpeg.decode_jpeg(Frame(0, 0, rgb).jpeg).shape == (128, 64, 3)
