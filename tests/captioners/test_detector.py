from __future__ import annotations

import hashlib
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib import resources

import numpy as np
import pytest

from tests.support.signs import stop_sign
from videohv.captioners import detector
from videohv.captioners.detector import LABELS, NanoDet, letterbox
from videohv.errors import MissingExtra, ModelError

SHA256 = "95b7d980dcf85c0ebb8209781b0bbe636ba7f1be61e631221ca1a5e630856444"


def test_the_shipped_network_is_the_one_in_the_notice() -> None:
    models = resources.files("videohv.captioners") / "models"
    assert hashlib.sha256((models / detector.MODEL_FILE).read_bytes()).hexdigest() == SHA256
    notice = (models / "NOTICE").read_text()
    for part in (
        SHA256,
        "Copyright 2020-2021 RangiLyu",
        "Apache License",
        "Copyright (c) 2021 Vladimir Mandic",
        "MIT License",
    ):
        assert part in notice


def test_the_classes_are_cocos() -> None:
    assert len(LABELS) == len(set(LABELS)) == 80
    assert (LABELS[0], LABELS[11], LABELS[16], LABELS[79]) == ("person", "stop sign", "dog", "toothbrush")


@pytest.mark.parametrize(
    ("x", "y", "radius", "size"), [(160, 150, 80, (640, 360)), (460, 150, 100, (640, 360)), (150, 250, 90, (300, 448))]
)
def test_a_sign_is_found_where_it_is(x: float, y: float, radius: float, size: tuple[int, int]) -> None:
    (found,) = NanoDet().detect(stop_sign(x, y, radius, size))
    assert found.label == "stop sign"
    assert found.score > 0.6
    box = np.array([found.left * size[0], found.top * size[1], found.right * size[0], found.bottom * size[1]])
    assert np.abs(box - [x - radius, y - radius, x + radius, y + radius]).max() < 0.2 * radius
    assert found.area == pytest.approx((2 * radius) ** 2 / (size[0] * size[1]), rel=0.25)


def test_two_signs_are_two_and_threads_share_the_network() -> None:
    one = stop_sign(160, 150, 80)
    two = np.concatenate([one[:, :320], one[:, :320]], axis=1)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(NanoDet().detect, [two] * 6))
    assert [found.label for found in results[0]] == ["stop sign"] * 2
    assert all(result == results[0] for result in results)


@pytest.mark.parametrize("shape", [(1, 1), (1, 500), (500, 1), (360, 640)])
def test_plain_pictures_of_any_shape_hold_nothing(shape: tuple[int, int]) -> None:
    assert NanoDet().detect(np.full((*shape, 3), 120, np.uint8)) == ()


def test_letterbox_puts_the_picture_top_left_blue_first() -> None:
    rgb = np.zeros((208, 416, 3), np.uint8)
    rgb[:, :, 0] = 255
    array, scale = letterbox(rgb)
    assert array.shape == (1, 3, 416, 416)
    assert array.dtype == np.float32
    assert scale == 1.0
    inside, outside = array[0, :, 100, 200], array[0, :, 300, 200]
    assert inside == pytest.approx([-103.53 / 57.375, -116.28 / 57.12, (255 - 123.675) / 58.395], abs=1e-4)
    assert outside == pytest.approx(
        [(114 - 103.53) / 57.375, (114 - 116.28) / 57.12, (114 - 123.675) / 58.395], abs=1e-4
    )


def test_letterbox_interpolates_between_pixel_centres() -> None:
    ramp = np.repeat(np.arange(0, 208, dtype=np.uint8)[None, :, None], 208, axis=0).repeat(3, axis=2)
    array, scale = letterbox(ramp)
    red = array[0, 2, 200] * 58.395 + 123.675
    assert scale == 2.0
    assert red[1:-1] == pytest.approx((np.arange(416)[1:-1] + 0.5) / 2 - 0.5, abs=1e-3)


def test_what_is_missing_or_damaged_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NanoDet, "_session", None)
    monkeypatch.setattr(detector, "MODEL_FILE", "NOTICE")
    with pytest.raises(ModelError, match=r"cannot load the detector .*NOTICE"):
        NanoDet().detect(stop_sign(160, 150, 80))
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(MissingExtra, match=r"'onnxruntime'.*videohv\[local\]"):
        NanoDet().detect(stop_sign(160, 150, 80))
