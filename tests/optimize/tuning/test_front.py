from __future__ import annotations

import xml.etree.ElementTree as ET
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from videohv.optimize.tuning.front import Tried, front_text, pareto
from videohv.optimize.tuning.plot import front_svg
from videohv.types import Estimate


def tried(number: int, accuracy: float, tokens: float, **settings: int) -> Tried:
    about = Estimate(value=accuracy, low=max(0.0, accuracy - 0.1), high=min(1.0, accuracy + 0.1), n=10, clusters=5)
    return Tried(number=number, settings=settings, accuracy=about, tokens=tokens, questions=10)


FAILED = Tried(number=9, settings={"rounds": 4}, failed=8, questions=10, why="8 of 10 questions failed, the last: <no>")
SOME = [
    tried(1, 0.5, 1000, rounds=1),
    tried(2, 0.6, 2000, rounds=2),
    tried(3, 0.4, 1500, rounds=3),
    tried(4, 0.6, 2000, rounds=5),
    tried(5, 0.5, 900, rounds=6),
    FAILED,
]


def test_what_is_beaten_is_not_on_the_front() -> None:
    assert [one.number for one in pareto(SOME)] == [5, 2]


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(1, 6)), max_size=20))
def test_the_front_is_what_nothing_beats(places: list[tuple[int, int]]) -> None:
    all_of_them = [tried(i, accuracy / 5, tokens) for i, (accuracy, tokens) in enumerate(places, start=1)]
    front = pareto(all_of_them)
    for a, b in pairwise(front):
        assert a.accuracy is not None
        assert b.accuracy is not None
        assert (a.tokens or 0) < (b.tokens or 0)
        assert a.accuracy.value < b.accuracy.value
    for one in all_of_them:
        assert any(
            other.accuracy.value >= one.accuracy.value and other.tokens <= one.tokens  # type: ignore[union-attr,operator]
            for other in front
        )


def test_the_table_says_what_became_of_all() -> None:
    text = front_text(SOME, ["rounds"])
    head, first, second, count, failed = text.splitlines()
    assert head.split() == ["trial", "rounds", "accuracy", "tokens", "a", "question", "failed"]
    assert first.split() == ["5", "6", "50.0", "%", "(40.0", "to", "60.0", "%)", "900", "0", "of", "10"]
    assert second.split()[:2] == ["2", "2"]
    assert count == "6 settings tried, 2 on the front, 3 beaten, 1 failed"
    assert failed.startswith("trial 9 failed: 8 of 10 questions failed")


def test_without_a_scored_trial_there_is_no_table() -> None:
    assert front_text([FAILED], ["rounds"]).startswith("no trial could be scored\n1 settings tried, 0 on the front")


def test_the_picture_is_whole_and_shows_every_scored_trial() -> None:
    svg = front_svg(SOME, "what <comes> & goes")
    root = ET.fromstring(svg)
    space = "{http://www.w3.org/2000/svg}"
    dots = root.findall(f"{space}circle")
    assert len(dots) == 5
    assert [dot.find(f"{space}title").text for dot in dots][-1] == "trial 2: 60.0 %, 2,000 tokens; rounds=2"  # type: ignore[union-attr]
    assert root.find(f"{space}title").text == "what <comes> & goes"  # type: ignore[union-attr]
    for dot in dots:
        assert 0 <= float(dot.attrib["cx"]) <= 720
        assert 0 <= float(dot.attrib["cy"]) <= 460
    assert "http" not in svg.replace("http://www.w3.org/2000/svg", "")


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1e9)), max_size=6), st.text())
def test_any_trials_make_a_picture(places: list[tuple[float, float]], title: str) -> None:
    ET.fromstring(front_svg([tried(i, a, t) for i, (a, t) in enumerate(places, start=1)], title))
