from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.support.signs import title
from videohv.captioners.looks import COLOURS, colours, light, looks, may_hold_text, motion, text_may_differ


def flat(red: int, green: int, blue: int, shape: tuple[int, int] = (90, 160)) -> NDArray[np.uint8]:
    return np.full((*shape, 3), (red, green, blue), np.uint8)


@pytest.mark.parametrize(
    ("rgb", "name"),
    [
        ((0, 0, 0), "black"),
        ((250, 250, 250), "white"),
        ((120, 120, 125), "grey"),
        ((200, 20, 30), "red"),
        ((100, 60, 30), "brown"),
        ((240, 140, 20), "orange"),
        ((225, 190, 150), "beige"),
        ((240, 230, 40), "yellow"),
        ((40, 160, 50), "green"),
        ((40, 200, 200), "turquoise"),
        ((30, 60, 200), "blue"),
        ((120, 40, 200), "purple"),
        ((240, 80, 200), "pink"),
    ],
)
def test_every_colour_has_its_name(rgb: tuple[int, int, int], name: str) -> None:
    assert colours(looks(flat(*rgb))) == (name,)
    assert name in COLOURS


def test_two_colours_come_in_one_order_and_many_are_none() -> None:
    half = np.concatenate([flat(200, 20, 30), flat(30, 60, 200)], axis=1)
    assert colours(looks(half)) == colours(looks(half[:, ::-1])) == ("blue", "red")
    many = [(0, 0, 0), (250, 250, 250), (200, 20, 30), (240, 230, 40), (40, 160, 50), (30, 60, 200)]
    assert colours(looks(np.concatenate([flat(*rgb) for rgb in many], axis=1))) == ()


@pytest.mark.parametrize(("grey", "name"), [(10, "very dark"), (50, "dim light"), (128, ""), (220, "bright light")])
def test_light(grey: int, name: str) -> None:
    assert light(looks(flat(grey, grey, grey))) == name


def test_motion_is_told_by_how_much_changes() -> None:
    rng = np.random.default_rng(0)
    scene = rng.integers(0, 255, (36, 64, 3), dtype=np.uint8).repeat(5, axis=0).repeat(5, axis=1)
    noisy = np.clip(scene.astype(int) + rng.integers(-4, 5, scene.shape), 0, 255).astype(np.uint8)
    moved = scene.copy()
    moved[:, :40] = 128
    assert motion(looks(noisy), looks(scene)) == "still"
    assert motion(looks(moved), looks(scene)) == "movement"
    assert motion(looks(255 - scene), looks(scene)) == "scene change"


def test_text_leaves_strokes() -> None:
    blank, one, two = looks(title("")), looks(title("An unlucky bird")), looks(title("A lucky bird"))
    assert blank.plain
    assert not one.plain
    assert may_hold_text(one)
    assert not may_hold_text(blank)
    assert text_may_differ(one, blank, had_text=False)
    assert text_may_differ(two, one, had_text=True)
    assert not text_may_differ(one, looks(title("An unlucky bird")), had_text=True)


@settings(max_examples=40)
@given(st.integers(1, 90), st.integers(1, 90), st.integers(0, 255))
def test_any_size_is_averaged_without_bias(height: int, width: int, grey: int) -> None:
    look = looks(flat(grey, grey, grey, (height, width)))
    assert look.small.shape == (36, 64, 3)
    np.testing.assert_allclose(look.small, grey, rtol=1e-6, atol=1e-12)
    assert look.plain
