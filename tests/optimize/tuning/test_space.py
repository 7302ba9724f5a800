from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from videohv.errors import InputError
from videohv.optimize.tuning.space import check_settings, make_space, parse_dimension, usual_space


def names(
    *overrides: str, method: str = "videohv", fixed: tuple[str, ...] = (), captions: bool = True, videos: bool = False
):  # type: ignore[no-untyped-def]
    return [str(d) for d in make_space(method, overrides, fixed, captions=captions, videos=videos)]


def test_what_is_searched_depends_on_what_there_is() -> None:
    assert names() == [
        "rounds=1..4",
        "looks=1..3",
        "windows=1..4",
        "stretches=1..8",
        "prune_below=0..0.3/0.05",
        "regenerations=0..2",
        "stride=1,2,4",
    ]
    with_video = names(captions=False, videos=True)
    assert "frames=1..5" in with_video
    assert "fps=0.25,0.5,1" in with_video
    assert "stride=1,2,4" not in with_video
    assert names(method="captions") == ["stretches=1..8", "stride=1,2,4"]
    assert [d.name for d in usual_space("retrieval", captions=True, videos=True)] == [
        "rounds",
        "windows",
        "frames",
        "first",
        "stride",
    ]


def test_dimensions_are_replaced_added_and_fixed() -> None:
    made = names("rounds=1..2", "caption_tokens=500..2000/500", "may_abstain=true,false", fixed=("looks", "stride"))
    assert made[0] == "rounds=1..2"
    assert made[-2:] == ["caption_tokens=500..2000/500", "may_abstain=True,False"]
    assert not any(one.startswith(("looks", "stride")) for one in made)


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("rounds=1..3", (1, 2, 3)),
        ("rounds=1..6/2", (1, 3, 5)),
        ("rounds=2..2", (2,)),
        ("rounds=1,3", (1, 3)),
        ("stride=1..3", (1, 2, 3)),
        ("prune_below=0..0.3/0.1", (0.0, 0.1, 0.2, 0.3)),
        ("prune_below=0.1..0.2", tuple(round(0.1 + i / 100, 9) for i in range(11))),
        ("may_abstain=false,true", (False, True)),
    ],
)
def test_values_are_of_the_type_that_the_setting_has(text: str, values: tuple[object, ...]) -> None:
    dimension = parse_dimension(text, "videohv")
    assert dimension.values == values
    assert [type(value) for value in dimension.values] == [type(value) for value in values]
    assert parse_dimension(str(dimension), "videohv").values == values


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("rounds", "expected NAME=LOW..HIGH"),
        ("=1..2", "expected NAME=LOW..HIGH"),
        ("rounds=", "expected NAME=LOW..HIGH"),
        ("rounds=,", "it names no value"),
        ("rounds=4..1", "4 is more than 1"),
        ("rounds=0..3", "setting 'rounds'"),
        ("rounds=1..99", "setting 'rounds'"),
        ("rounds=1.5..3", "rounds takes whole numbers"),
        ("rounds=1..3/0", "the step is not more than 0"),
        ("rounds=many,few", "setting 'rounds'"),
        ("roundz=1..3", "no setting 'roundz'"),
        ("prune_below=0..2", "setting 'prune_below'"),
        ("stride=0..2", "stride is a whole number from 1 on"),
        ("stride=1,x", "stride is a whole number from 1 on"),
        ("rounds=1.2.3..4", "--space rounds=1.2.3..4"),
    ],
)
def test_what_cannot_be_searched_is_named(text: str, told: str) -> None:
    with pytest.raises(InputError) as raised:
        parse_dimension(text, "videohv")
    assert told in str(raised.value)


def test_fixed_and_searched_at_once_is_refused() -> None:
    with pytest.raises(InputError, match="rounds is both fixed with --set and searched"):
        names("rounds=1..2", fixed=("rounds",))
    with pytest.raises(InputError, match="nothing is left to search"):
        names(method="captions", fixed=("stretches", "stride"))
    with pytest.raises(InputError, match="stride is about published captions"):
        names("stride=1,2", captions=False, videos=True)


@pytest.mark.parametrize(("value", "nearest"), [(3, 3), (9, 4), (0, 1), (2.4, 2), (None, 1)])
def test_the_usual_value_is_brought_into_the_space(value: object, nearest: int) -> None:
    assert parse_dimension("rounds=1..4", "videohv").nearest(value) == nearest


def test_the_nearest_of_words_is_the_first() -> None:
    dimension = parse_dimension("may_abstain=true,false", "videohv")
    assert dimension.nearest(False) is False
    assert dimension.nearest("perhaps") is True


@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        made = parse_dimension(f"rounds={text}", "videohv")
    except InputError:
        return
    assert all(1 <= int(value) <= 20 for value in made.values)
    check_settings("videohv", {"rounds": made.values[0]})
