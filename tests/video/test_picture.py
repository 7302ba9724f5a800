from __future__ import annotations

import av
import numpy as np
import pytest

from tests.support.clips import picture
from videohv.video.picture import Converter, Orientation, to_rgb


def as_frame(width: int, height: int, form: str) -> av.VideoFrame:
    return av.VideoFrame.from_ndarray(picture(0b1011001110, width, height), format="rgb24").reformat(format=form)


@pytest.mark.parametrize("form", ["yuv420p", "yuvj420p", "yuv444p", "yuv420p10le", "gray", "rgb24", "nv12", "yuva420p"])
@pytest.mark.parametrize("size", [(640, 360), (641, 361), (360, 640)])
def test_every_form_gives_the_same_picture(form: str, size: tuple[int, int]) -> None:
    frame = as_frame(*size, form)
    plain = frame.reformat(width=frame.width // 2, height=frame.height // 2, format="rgb24", interpolation="AREA")
    made = Converter(Orientation(), min(size) // 2).rgb(frame)
    assert made.shape == (*(side // 2 for side in size[::-1]), 3)
    difference = np.abs(made.astype(int) - plain.to_ndarray().astype(int))
    assert difference.mean() < 3
    assert not made.flags.writeable
    assert made.flags.c_contiguous


def test_a_converter_takes_frames_of_different_sizes_and_forms() -> None:
    converter = Converter(Orientation(), 90)
    for width, height, form in ((320, 180, "yuv420p"), (640, 360, "yuv420p"), (96, 64, "gray"), (320, 180, "yuv444p")):
        frame = as_frame(width, height, form)
        assert np.array_equal(converter.rgb(frame), to_rgb(frame, Orientation(), 90))
