from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videohv.evaluate.relied import (
    Overlap,
    best_overlap,
    cited_times,
    overlap,
    relied_windows,
    union_overlap,
)
from videohv.evaluate.row import Row
from videohv.types import (
    Answer,
    Check,
    Evidence,
    Look,
    Observation,
    Outcome,
    Question,
    Round,
    Source,
    Status,
    Trace,
    Window,
)

QUESTION = Question(id="v_1", text="why?", options=("a", "b"), answer_index=0, spans=(Window(start=10, end=20),))

windows = st.tuples(st.floats(0, 100), st.floats(0, 100)).map(lambda pair: Window(start=min(pair), end=max(pair)))


def w(start: float, end: float) -> Window:
    return Window(start=start, end=end)


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("At 49.08s, 49.29s and 50 s the card shows", {49.08, 49.29, 50}),
        ("between 12 and 15 seconds a man walks", {12, 15}),
        ("[12-15s] he runs; [7] he stops", {12, 15, 7}),
        ("in seconds 3, 4 and 9 nothing happens", {3, 4, 9}),
        ("the second 12 shows it, and t=7.5 too", {12, 7.5}),
        ("at 1:05 and 0:15.5, later at 1:02:03", {65, 15.5, 3723}),
        ("from 0:12s on", {12}),
        ("3 people sit for 3 seconds, 5 seconds later 2 leave", set()),
        ("the score is 3-2 and there are 12, 15 and 16 apples", set()),
        ("5secs in, 6 sec", {5, 6}),
        ("", set()),
    ],
)
def test_times_that_a_text_names(text: str, times: set[float]) -> None:
    assert cited_times(text) == times


@given(st.text(alphabet="0123456789.:,- sand[]t=econ", max_size=80))
def test_any_text_can_be_read(text: str) -> None:
    assert all(time >= 0 for time in cited_times(text))


@given(st.lists(st.integers(0, 5000), min_size=1, max_size=5, unique=True))
def test_times_as_prompts_show_them_are_found(hundredths: list[int]) -> None:
    times = [h / 100 for h in hundredths]
    assert cited_times(" ".join(f"[{t:g}s] a man" for t in times)) == set(times)
    assert cited_times("At " + ", ".join(f"{t:g}s" for t in times) + " a man sits.") == set(times)


def look(*spans: Window, check: str = "", seen: bool = True) -> Look:
    evidence = tuple(
        Evidence(window=s, times=(s.start,), observations=(Observation(time=s.start, text="x"),), source=Source.FRAMES)
        for s in spans
    )
    judged = Check(status=Status.PARTIAL, rationale=check) if check else None
    return Look(windows=spans, evidence=evidence if seen else (), check=judged)


def trace(*rounds: tuple[Look, ...], reasoning: str | None = None, outcome: Outcome = Outcome.ANSWERED) -> Trace:
    answer = Answer(option_index=0, reasoning=reasoning) if reasoning is not None else None
    return Trace(
        question=QUESTION,
        outcome=outcome,
        answer=answer,
        rounds=tuple(Round(drafts=(), looks=looks) for looks in rounds),
    )


def test_the_most_cited_window_is_relied_on() -> None:
    made = trace((look(w(0, 5), w(10, 15), w(20, 25), check="at 11s and 12s he runs, at 21s he stops"),), reasoning="")
    assert relied_windows(made) == (w(10, 15), w(20, 25))


def test_the_answer_is_read_as_well_as_the_check() -> None:
    made = trace((look(w(0, 5), w(10, 15), check="at 2s a man"),), reasoning="he falls at 11s, 12s")
    assert relied_windows(made) == (w(10, 15), w(0, 5))


def test_saying_a_time_twice_does_not_count_twice() -> None:
    made = trace((look(w(0, 5), w(10, 15), check="at 2s. at 2s. at 2s. at 11s and 12s"),), reasoning="")
    assert relied_windows(made)[0] == w(10, 15)


def test_of_equally_cited_windows_the_first_located_counts() -> None:
    made = trace((look(w(20, 25), w(10, 15), check="at 11s and 21s"),), reasoning="")
    assert relied_windows(made) == (w(20, 25), w(10, 15))


def test_only_the_last_check_speaks() -> None:
    looks = (look(w(0, 5), check="at 1s, 2s and 3s"), look(w(10, 15), check="at 12s"))
    assert relied_windows(trace(looks, reasoning="")) == (w(10, 15),)


def test_without_citations_it_is_the_first_window_of_the_last_round_that_saw_anything() -> None:
    first, second = (look(w(0, 5), w(6, 9), check="nothing"),), (look(w(10, 15), w(20, 25), check="nothing"),)
    assert relied_windows(trace(first, second, reasoning="so it is")) == (w(10, 15),)
    assert relied_windows(trace(first, (look(w(10, 15), seen=False),), reasoning="")) == (w(0, 5),)


def test_an_earlier_round_counts_when_it_is_the_one_that_is_cited() -> None:
    first, second = (look(w(0, 5), check="at 1s"),), (look(w(10, 15), check="nothing here, but at 3s before"),)
    assert relied_windows(trace(first, second, reasoning="")) == (w(0, 5),)


def test_nothing_looked_at_means_nothing_relied_on() -> None:
    assert relied_windows(trace(reasoning="at 3s")) == ()


@pytest.mark.parametrize(
    ("window", "span", "iou", "iop"),
    [
        (w(10, 20), w(10, 20), 1.0, 1.0),
        (w(12, 16), w(10, 20), 0.4, 1.0),
        (w(0, 20), w(10, 20), 0.5, 0.5),
        (w(15, 25), w(10, 20), 5 / 15, 0.5),
        (w(0, 5), w(10, 20), 0.0, 0.0),
        (w(0, 10), w(10, 20), 0.0, 0.0),
        (w(15, 15), w(10, 20), 0.0, 1.0),
        (w(20, 20), w(10, 20), 0.0, 1.0),
        (w(21, 21), w(10, 20), 0.0, 0.0),
        (w(10, 20), w(15, 15), 0.0, 0.0),
    ],
)
def test_overlaps_worked_by_hand(window: Window, span: Window, iou: float, iop: float) -> None:
    assert overlap(window, span) == pytest.approx((iou, iop))


def test_the_best_span_is_chosen_for_each_figure_alone() -> None:
    # The first span has the better IoU (4/16 against 2/12), the second the better IoP.
    spans = (w(0, 10), w(5, 6), w(8, 16))
    made = best_overlap(w(6, 14), spans)
    assert made == pytest.approx((6 / 10, 6 / 8))
    assert best_overlap(w(2, 3), (w(0, 100), w(2, 2.5))) == pytest.approx((0.5, 1.0))
    assert best_overlap(None, spans) == (0.0, 0.0)
    assert best_overlap(w(0, 1), ()) is None


def test_unions_are_sets_of_moments() -> None:
    # Windows cover 0-6 and 10-12 (8 s), spans 4-11 (7 s); they share 4-6 and 10-11 (3 s).
    made = union_overlap((w(0, 5), w(3, 6), w(10, 12)), (w(4, 8), w(7, 11)))
    assert made == pytest.approx((3 / 12, 3 / 8))
    assert union_overlap((), (w(0, 1),)) == Overlap(0.0, 0.0)
    assert union_overlap((w(3, 3),), (w(0, 9),)) == Overlap(0.0, 0.0)
    assert union_overlap((w(0, 1),), ()) is None


@given(windows, st.lists(windows, min_size=1, max_size=4))
def test_overlaps_are_shares_and_a_union_with_one_of_each_is_the_plain_overlap(
    window: Window, spans: list[Window]
) -> None:
    best = best_overlap(window, spans)
    union = union_overlap([window], spans)
    assert best is not None
    assert union is not None
    for value in (*best, *union):
        assert 0 <= value <= 1 + 1e-9
    assert best.iou <= best.iop + 1e-9
    if window.duration > 1e-6:
        assert union_overlap([window], spans[:1]) == pytest.approx(overlap(window, spans[0]), abs=1e-6)
        assert union.iop >= best.iop - 1e-9


def test_a_row_carries_the_windows_and_their_scores() -> None:
    answered = trace((look(w(0, 5), w(12, 16), w(30, 34), check="at 13s and 14s, and at 31s"),), reasoning="so a")
    row = Row.of(answered)
    assert row.relied == (w(12, 16), w(30, 34))
    assert (row.iou, row.iop) == pytest.approx((0.4, 1.0))
    assert (row.union_iou, row.union_iop) == pytest.approx((4 / 14, 4 / 8))
    assert row.shown_right == 0
    assert Row.model_validate_json(row.model_dump_json()) == row


def test_a_question_that_failed_has_scores_of_0_and_one_without_spans_has_none() -> None:
    failed = trace(outcome=Outcome.LM_FAILED)
    assert (Row.of(failed).relied, Row.of(failed).iou, Row.of(failed).union_iop) == ((), 0.0, 0.0)
    plain = failed.model_copy(update={"question": QUESTION.model_copy(update={"spans": ()})})
    assert (Row.of(plain).iou, Row.of(plain).union_iou) == (None, None)
