from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from videohv.types import (
    MAX_OPTIONS,
    Answer,
    Caption,
    CaptionInfo,
    Check,
    Clue,
    Degradation,
    Draft,
    Evidence,
    Hypothesis,
    Look,
    Mode,
    Observation,
    Outcome,
    Prediction,
    Quality,
    Question,
    RoleUsage,
    Round,
    Segment,
    Source,
    Status,
    Support,
    Trace,
    Verdict,
    VideoInfo,
    Window,
    clock,
    letter,
)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=30)
words = texts.filter(lambda t: bool(t.strip()))
seconds = st.floats(min_value=0, max_value=1e5, allow_nan=False)
shares = st.floats(min_value=0, max_value=1)
indices = st.integers(min_value=0, max_value=MAX_OPTIONS - 1)
windows = st.tuples(seconds, seconds).map(lambda pair: Window(start=min(pair), end=max(pair)))
questions = st.builds(
    Question, text=words, options=st.lists(words, min_size=2, max_size=26).map(tuple), answer_index=st.none(), id=texts
)
hypotheses = st.builds(Hypothesis, option_index=indices, statement=texts, plausibility=shares, pruned=st.booleans())
clues = st.builds(Clue, observation=texts, predictions=st.tuples(st.builds(Prediction, option_index=indices)))
verdicts = st.builds(Verdict, option_index=indices, support=st.sampled_from(Support), why=texts)
checks = st.builds(
    Check, status=st.sampled_from(Status), rationale=texts, verdicts=st.tuples(verdicts), wanted=st.tuples(windows)
)
evidence = st.builds(
    Evidence,
    window=windows,
    times=st.lists(seconds, max_size=5).map(tuple),
    observations=st.lists(st.builds(Observation, time=seconds, text=texts), max_size=5).map(tuple),
    source=st.sampled_from(Source),
)
rounds = st.builds(
    Round,
    drafts=st.lists(
        st.builds(
            Draft,
            mode=st.sampled_from(Mode),
            hypotheses=st.lists(hypotheses, max_size=3).map(tuple),
            clue=st.none() | clues,
            quality=st.none() | st.sampled_from(Quality),
        ),
        min_size=1,
        max_size=2,
    ).map(tuple),
    looks=st.lists(
        st.builds(Look, windows=st.tuples(windows), evidence=st.tuples(evidence), check=st.none() | checks), max_size=2
    ).map(tuple),
)
traces = st.builds(
    Trace,
    question=questions,
    outcome=st.sampled_from(Outcome),
    answer=st.none()
    | st.builds(Answer, option_index=st.none() | indices, confidence=st.none() | shares, conflicts=st.tuples(texts)),
    status=st.none() | st.sampled_from(Status),
    video=st.none() | st.builds(VideoInfo, duration=seconds, fps=seconds, content_hash=texts),
    captions=st.none() | st.builds(CaptionInfo, captioner=texts, count=st.integers(0, 10**6)),
    summary=st.lists(st.builds(Segment, window=windows, text=texts), max_size=3).map(tuple),
    rounds=st.lists(rounds, max_size=2).map(tuple),
    degraded=st.lists(st.builds(Degradation), max_size=2).map(tuple),
    settings=st.dictionaries(words, st.integers() | st.booleans() | st.none() | texts, max_size=3),
    usage=st.lists(st.builds(RoleUsage, cost=st.none() | shares), max_size=2).map(tuple),
    seconds=seconds,
)


@given(traces)
def test_a_trace_survives_json(trace: Trace) -> None:
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


def test_a_trace_is_frozen_and_refuses_unknown_fields() -> None:
    trace = Trace(question=Question(text="q", options=("a", "b")), outcome=Outcome.ANSWERED)
    with pytest.raises(ValidationError):
        trace.outcome = Outcome.ABSTAINED
    with pytest.raises(ValidationError, match="surprise"):
        Trace.model_validate({**trace.model_dump(), "surprise": 1})


@pytest.mark.parametrize("count", [2, 5, 26])
def test_two_to_twenty_six_options_work(count: int) -> None:
    assert len(Question(text="q", options=tuple(f"o{i}" for i in range(count))).options) == count


@pytest.mark.parametrize("count", [0, 1, 27])
def test_other_numbers_of_options_are_an_error_that_says_so(count: int) -> None:
    with pytest.raises(ValidationError, match=f"{count} options given; 2 to 26"):
        Question(text="q", options=tuple(f"o{i}" for i in range(count)))


def test_an_empty_option_is_named_by_its_letter() -> None:
    with pytest.raises(ValidationError, match="option B is empty"):
        Question(text="q", options=("a", "  "))


def test_an_empty_question_is_an_error() -> None:
    with pytest.raises(ValidationError, match="the question is empty"):
        Question(text=" \n", options=("a", "b"))


def test_equal_options_are_flagged() -> None:
    assert Question(text="q", options=("A cat", "b", "a  CAT", "B")).duplicates == ((0, 2), (1, 3))
    assert Question(text="q", options=("a", "b")).duplicates == ()


def test_the_right_answer_must_be_an_option() -> None:
    with pytest.raises(ValidationError, match="answer_index 2 is not one of the 2 options"):
        Question(text="q", options=("a", "b"), answer_index=2)


@pytest.mark.parametrize("time", [-1.0, float("nan"), float("inf")])
def test_times_are_finite_and_not_negative(time: float) -> None:
    with pytest.raises(ValidationError):
        Caption(time=time, text="x")


def test_a_caption_is_one_line() -> None:
    assert Caption(time=1, text=" two\n lines ").text == "two lines"


def test_a_window_does_not_end_before_it_starts() -> None:
    with pytest.raises(ValidationError, match="before it starts"):
        Window(start=3, end=2)


@given(windows, windows)
def test_overlap_is_symmetric_and_bounded(a: Window, b: Window) -> None:
    assert a.overlap(b) == b.overlap(a)
    assert 0 <= a.overlap(b) <= min(a.duration, b.duration)
    assert a.overlap(a) == a.duration


@pytest.mark.parametrize(
    ("time", "shown"),
    [
        (0, "0:00"),
        (9.96, "0:10"),
        (12.5, "0:12.5"),
        (59.99, "1:00"),
        (61, "1:01"),
        (3599.97, "1:00:00"),
        (3725, "1:02:05"),
    ],
)
def test_clock(time: float, shown: str) -> None:
    assert clock(time) == shown


def test_letters_end_at_z() -> None:
    assert (letter(0), letter(25)) == ("A", "Z")
    with pytest.raises(ValueError, match="no letter"):
        letter(26)
