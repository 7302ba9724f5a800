from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.clips import make_clip, number_in
from videohv.errors import InputError
from videohv.types import Window
from videohv.video import Video


def test_what_is_known_of_a_file(plain: Path) -> None:
    info = Video(str(plain)).info
    assert info.path == str(plain)
    assert (info.width, info.height, info.codec, info.decoder) == (96, 64, "h264", "pyav")
    assert "mp4" in info.container
    assert info.duration == pytest.approx(40)
    assert info.fps == pytest.approx(10)
    assert info.warnings == ()
    assert len(info.content_hash) == 64


def test_sampling_times(plain: Path) -> None:
    video = Video(plain)
    assert [f.wanted for f in video.sample(0.1)] == [0, 10, 20, 30]
    assert [f.wanted for f in video.sample(2, start=1.25, end=3.25)] == [1.25, 1.75, 2.25, 2.75]
    assert len(list(video.sample(1, start=38, end=1000))) == 2
    assert list(video.sample(1, start=40)) == []
    assert list(video.sample(1, start=5, end=5)) == []


def test_sampling_does_not_drift(plain: Path) -> None:
    wanted = [f.wanted for f in Video(plain).sample(3)]
    assert wanted == [i / 3 for i in range(120)]


@pytest.mark.parametrize(
    "settings",
    [{"fps": 0}, {"fps": -1}, {"fps": float("nan")}, {"start": -1.0}, {"start": float("inf")}, {"end": float("nan")}],
)
def test_sampling_refuses_nonsense_at_once(plain: Path, settings: dict[str, float]) -> None:
    with pytest.raises(InputError):
        Video(plain).sample(**settings)


def test_frames_at_any_order(plain: Path) -> None:
    video = Video(plain)
    frames = video.frames_at([30.0, 2.0, 100.0, 2.0, 0])
    assert [number_in(f.rgb) for f in frames] == [300, 20, 20, 0]
    assert video.frames_at([]) == ()
    assert video.frames_at([40.0]) == ()


@pytest.mark.parametrize(
    ("start", "end", "n", "numbers"),
    [
        (10, 20, 5, [110, 130, 150, 170, 190]),
        (10, 20, 1, [150]),
        (0, 40, 4, [50, 150, 250, 350]),
        (36, 1000, 4, [365, 375, 385, 395]),
        (7.04, 7.04, 5, [70]),
        (7.0, 7.15, 5, [70, 71]),
        (0, 0, 5, [0]),
        (40, 50, 5, [399]),
        (40, 40, 1, [399]),
        (40.5, 50, 5, []),
    ],
)
def test_windows(plain: Path, start: float, end: float, n: int, numbers: list[int]) -> None:
    frames = Video(plain).window(Window(start=start, end=end), n)
    assert [number_in(f.rgb) for f in frames] == numbers


def test_frames_of_a_short_window_are_wanted_when_first_asked_for(plain: Path) -> None:
    frames = Video(plain).window(Window(start=7.0, end=7.15))
    assert [f.wanted for f in frames] == pytest.approx([7.015, 7.105])


@pytest.mark.parametrize("n", [0, 6])
def test_a_window_has_at_most_five_frames(plain: Path, n: int) -> None:
    with pytest.raises(InputError, match="1 to 5"):
        Video(plain).window(Window(start=0, end=1), n)


@pytest.mark.parametrize(
    ("stored", "short_side", "given"),
    [
        ((320, 180), 90, (160, 90)),
        ((180, 320), 90, (90, 160)),
        ((96, 64), 448, (96, 64)),
        ((1600, 100), 448, (1024, 64)),
    ],
)
def test_scaling(tmp_path: Path, stored: tuple[int, int], short_side: int, given: tuple[int, int]) -> None:
    video = Video(make_clip(tmp_path / "sized.mp4", frames=3, size=stored), short_side=short_side)
    assert (video.info.width, video.info.height) == stored
    (frame,) = video.frames_at([0.05])
    assert (frame.width, frame.height) == given
    assert number_in(frame.rgb) == 1


def test_settings_are_checked(plain: Path) -> None:
    with pytest.raises(InputError, match=r"no decoder named 'ffmpeg'; known are auto, decord, pyav"):
        Video(plain, decoder="ffmpeg")
    with pytest.raises(InputError, match="short_side"):
        Video(plain, short_side=0)


def test_one_frame(tmp_path: Path) -> None:
    video = Video(make_clip(tmp_path / "one.mp4", frames=1))
    assert [number_in(f.rgb) for f in video.sample()] == [0]
    assert video.info.duration == pytest.approx(1 / 30, abs=0.01)
