from __future__ import annotations

import base64

import numpy as np
import pytest
import simplejpeg

from tests.support.clips import number_in, picture
from videohv.video import Frame
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
    noise = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    assert len(encode(noise)) <= 200_000


def test_the_best_quality_that_fits_is_taken() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (64, 64, 3), dtype=np.uint8)
    best = len(encode(noise))
    less = encode(noise, max_bytes=best - 1)
    assert len(less) < best
    assert simplejpeg.decode_jpeg(less).shape == (64, 64, 3)
    assert simplejpeg.decode_jpeg(encode(noise, max_bytes=1500)).shape == (32, 32, 3)


def test_turned_and_read_only_pictures_can_be_encoded() -> None:
    rgb = np.rot90(picture(9, 128, 64))
    rgb.setflags(write=False)
    assert simplejpeg.decode_jpeg(Frame(0, 0, rgb).jpeg).shape == (128, 64, 3)
