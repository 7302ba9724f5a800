from __future__ import annotations

import contextlib
import math
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videohv.modules.ask import Unusable
from videohv.modules.render import captions_lines, read_letter, read_windows, thinned
from videohv.types import MAX_OPTIONS, Caption, Question, letter

Q = Question(text="q", options=("a dog", "A cat runs", "I", "none of these"))


@pytest.mark.parametrize(
    ("written", "index"),
    [
        ("A", 0),
        ("b", 1),
        ("(C)", 2),
        ("D.", 3),
        ("B. A cat runs", 1),
        ("Option B", 1),
        ("Answer: D", 3),
        ("**C**", 2),
        ("`A`", 0),
        ('"B"', 1),
        ("A!", 0),
        ("A\u200b", 0),
        ("[D]", 3),
        ("The answer is B.", 1),
        ("B. A cat", 1),
        ("A. a dog, lying down", 0),
        ("D) none of these", 3),
        ("a dog", 0),
        ("A cat runs.", 1),
        ("None of these", 3),
        (" B\n", 1),
        ("B # note: the value you produce must adhere to the JS", 1),
        ("a dog        # note: the value you produce", 0),
    ],
)
def test_an_option_is_read_by_its_letter_or_its_text(written: str, index: int) -> None:
    assert read_letter(written, Q) == index


@pytest.mark.parametrize(
    "written",
    [
        *["", "E", "A dog runs", "both", "A. A cat runs", "42", "I think so", "-", "🙂", "ſ.", "A-frame"],
        *["A, B", "A-B", "A) B) C)", "A: no, B", "A — but C is better", "C, the camera wearer", "A or B", "(A)(B)"],
    ],
)
def test_what_names_no_option_or_two_is_unusable(written: str) -> None:
    with pytest.raises(Unusable):
        read_letter(written, Q)


def test_options_that_look_like_letters_are_read_the_same_with_and_without_a_full_stop() -> None:
    question = Question(text="q", options=("B", "A"))
    assert [read_letter(said, question) for said in ("A", "A.", "(A)", "B", "B.", "b")] == [0, 0, 0, 1, 1, 1]


def test_a_text_that_begins_like_an_introduction_is_still_an_option() -> None:
    question = Question(text="q", options=("rings", "answer the phone", "option trading"))
    assert [read_letter(said, question) for said in ("Answer the phone", "option trading", "option A")] == [1, 2, 0]


@given(st.integers(2, MAX_OPTIONS), st.data())
def test_every_letter_of_every_number_of_options_is_read(count: int, data: st.DataObject) -> None:
    question = Question(text="q", options=tuple(f"option number {i}" for i in range(count)))
    index = data.draw(st.integers(0, count - 1))
    form = data.draw(st.sampled_from(["{}", "{}.", "({})", "{}. {text}", "option {}"]))
    assert read_letter(form.format(letter(index), text=question.options[index]), question) == index


@given(st.text(max_size=40))
def test_any_text_is_an_option_or_unusable(text: str) -> None:
    with contextlib.suppress(Unusable):
        assert 0 <= read_letter(text, Q) < len(Q.options)


spans = st.builds(SimpleNamespace, start=st.floats(width=32), end=st.floats(width=32))


@given(st.lists(spans, max_size=8), st.floats(min_value=0.5, max_value=1e5), st.integers(1, 5))
def test_windows_lie_in_the_video_whatever_was_written(
    written: list[SimpleNamespace], duration: float, limit: int
) -> None:
    windows = read_windows(written, duration, limit)
    assert len(windows) <= limit
    for window in windows:
        assert 0 <= window.start <= window.end <= duration + 1e-3
        assert window.duration >= min(0.49, duration / 2) or math.isclose(window.duration, duration)


def test_windows_keep_their_order_and_no_two_are_alike() -> None:
    written = [SimpleNamespace(start=s, end=e) for s, e in [(30, 20), (20, 30), (5, 5), (0, 9)]]
    assert [(w.start, w.end) for w in read_windows(written, 60, 5)] == [(20, 30), (4.5, 5.5), (0, 9)]


def test_captions_that_repeat_share_a_line() -> None:
    captions = [Caption(time=t, text=x) for t, x in [(0, "a"), (1, "a"), (2.5, "b"), (3, "a")]]
    assert captions_lines(captions) == [(0, 1, "[0-1s] a"), (2.5, 2.5, "[2.5s] b"), (3, 3, "[3s] a")]


@given(st.integers(0, 200), st.integers(1, 30))
def test_thinning_keeps_the_order_and_the_limit(count: int, limit: int) -> None:
    kept = thinned([Caption(time=i, text="x") for i in range(count)], limit)
    times = [c.time for c in kept]
    assert len(kept) == min(count, limit)
    assert times == sorted(set(times))
