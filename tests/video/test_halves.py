from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.clips import number_in
from videohv.errors import DecodeError, InputError
from videohv.video import Frame, PyAVDecoder, Video, halves
from videohv.video.halves import halfway

TIMES = [4.05, 8.05, 9.55, 13.45]
"""The clip has a key frame every 4.5 s."""


class Watched:
    """The calls of the decoder: which thread had which times."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[int, list[float]]] = []
        read = PyAVDecoder.frames

        def watched(decoder: PyAVDecoder, path: Path, times: Iterable[float], *rest: object) -> Iterator[Frame]:
            wanted = list(times)
            self.calls.append((threading.get_ident(), wanted))
            yield from read(decoder, path, wanted, *rest)  # type: ignore[arg-type]

        monkeypatch.setattr(PyAVDecoder, "frames", watched)


@pytest.fixture
def watched(monkeypatch: pytest.MonkeyPatch) -> Watched:
    return Watched(monkeypatch)


def test_two_threads_share_the_groups(plain: Path, watched: Watched) -> None:
    frames = Video(plain).frames_at([TIMES[i] for i in (3, 0, 2, 1)])
    assert [number_in(frame.rgb) for frame in frames] == [134, 40, 95, 80]
    assert sorted(wanted for _, wanted in watched.calls) == [TIMES[:2], TIMES[2:]]
    assert len({thread for thread, _ in watched.calls}) == 2
    assert not [thread for thread in threading.enumerate() if thread.name == "videohv-frames"]


def test_one_group_or_no_spare_core_is_read_by_one(plain: Path, watched: Watched) -> None:
    video = Video(plain)
    video.frames_at([4.6, 5.05, 8.8])
    taken = 0
    while halves._SPARE.acquire(blocking=False):
        taken += 1
    try:
        video.frames_at(TIMES)
    finally:
        halves._SPARE.release(taken)
    assert [wanted for _, wanted in watched.calls] == [[4.6, 5.05, 8.8], TIMES]


@pytest.mark.parametrize("broken", [TIMES[:2], TIMES[2:]])
def test_a_half_of_which_nothing_is_left_takes_nothing_from_the_other(
    plain: Path, broken: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    read = PyAVDecoder.frames

    def damaged(self: PyAVDecoder, path: Path, times: Iterable[float], *rest: object) -> Iterator[Frame]:
        wanted = list(times)
        if wanted == broken:
            raise DecodeError("nothing of it can be decoded")
        yield from read(self, path, [time for time in wanted if time not in broken], *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(PyAVDecoder, "frames", damaged)
    frames = Video(plain).frames_at(TIMES)
    assert [frame.wanted for frame in frames] == [time for time in TIMES if time not in broken]
    assert halves._SPARE.acquire(blocking=False)
    halves._SPARE.release()


@pytest.mark.parametrize("time", [float("nan"), float("inf"), -1.0])
def test_what_is_no_time_is_refused(plain: Path, time: float) -> None:
    with pytest.raises(InputError, match="finite and not negative"):
        Video(plain).frames_at([4.05, time])


SECONDS = st.floats(0, 100, allow_nan=False)


@given(st.lists(SECONDS, unique=True).map(sorted), st.lists(SECONDS).map(sorted))
def test_a_cut_is_between_groups(keys: list[float], times: list[float]) -> None:
    cut = halfway([0.0, *keys], times)
    apart = [i for i in range(1, len(times)) if any(times[i - 1] < key <= times[i] for key in keys)]
    assert cut in apart if apart else cut is None


def test_both_are_given_the_like() -> None:
    keys = [0, 10, 20, 30]
    assert halfway(keys, [9, 19, 29, 39]) == 2
    assert halfway(keys, [9, 11, 21, 31]) == 1
    assert halfway(keys, [1, 11, 22, 39]) == 3
    assert halfway([], [1, 2]) is None
