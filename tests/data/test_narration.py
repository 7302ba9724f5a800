from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videohv.data import normalise


@pytest.mark.parametrize(
    ("raw", "plain"),
    [
        ("#C C looks around", "C looks around"),
        ("#c c  washes\u00a0food\n", "C washes food"),
        ("# C C's hand moves", "C 's hand moves"),
        ("#C c", "C"),
        ("#C C", "C"),
        ("#O A man X walks", "A man X walks"),
        ("#C A man walks", "A man walks"),
        ("#O #C C waves", "C waves"),
        ("#C C talks to #O a woman X", "C talks to a woman X"),
        ("#C C talks to #O", "C talks to #O"),
        ("#O", ""),
        ("  \n", ""),
        ("#C C opens the bottle of # unsure", "C opens the bottle of (unsure)"),
        ("#unsure", "(unsure)"),
        ("#Unsure thing", "(unsure) thing"),
        ("#unsurely", "#unsurely"),
        ("#1 in the list", "#1 in the list"),
        ("#winning", "#winning"),
        ("C# C is a language", "C# C is a language"),
        ("the the the cat", "the the the cat"),
        ("\ud83d\ude00 \ud800", "\U0001f600 \ufffd"),
    ],
)
def test_known_conventions(raw: str, plain: str) -> None:
    assert normalise(raw) == plain


def test_a_long_loop_is_kept_once() -> None:
    assert normalise("#C C cuts " + "the strip of bamboo and " * 100) == "C cuts the strip of bamboo and"
    assert normalise("she says no " + "no " * 600 + "and leaves") == "she says no and leaves"


def test_a_long_text_without_loop_is_cut_between_words() -> None:
    text = normalise(" ".join(f"word{i}" for i in range(400)))
    assert len(text) <= 1000
    assert text.endswith("…")
    assert text[:-1].split()[-1] in {f"word{i}" for i in range(400)}


_pieces = st.sampled_from(
    ["#C C", "#c c ", "# C C", "#O ", "# unsure", "#unsure", "#", "C", "O ", " ", "\u00a0", "\n", "a man"]
)


@given(
    st.one_of(
        st.text(), st.lists(_pieces | st.text(max_size=5)).map("".join), st.text(min_size=1).map(lambda t: t * 400)
    )
)
def test_once_is_enough_and_the_result_is_one_clean_line(raw: str) -> None:
    plain = normalise(raw)
    assert normalise(plain) == plain
    assert plain == " ".join(plain.split())
    assert len(plain) <= 1000
    plain.encode()
