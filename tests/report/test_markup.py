from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.hostile import PLANTED
from tests.support.html import Read
from videohv.report.markup import Markup, escaped, joined, json_data, tag

ANY = st.text(st.characters(exclude_categories=[]))


def test_text_is_escaped_and_markup_is_not() -> None:
    made = tag("p", "a < b & `c`", tag("b", "d"), 3, None, ["e", [tag("i")]], class_="x", hidden=True, lang=None)
    assert made == '<p class="x" hidden>a &lt; b &amp; &#96;c&#96;<b>d</b>3e<i></i></p>'


def test_names_and_numbers_of_attributes() -> None:
    assert tag("svg", viewBox="0 0 1 1", stroke_width=1.5, data_seek=12345.678, tabindex=0) == (
        '<svg viewBox="0 0 1 1" stroke-width="1.5" data-seek="12345.678" tabindex="0"></svg>'
    )
    assert tag("img", src="data:image/jpeg;base64,AA") == '<img src="data:image/jpeg;base64,AA">'


@pytest.mark.parametrize("name", ["onclick", "onerror", "style"])
def test_attributes_that_could_run_code_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="could run code"):
        tag("p", **{name: "x"})


@pytest.mark.parametrize(
    ("name", "address"),
    [
        ("href", "javascript:alert(1)"),
        ("href", "https://example.org"),
        ("href", "./other.html"),
        ("src", "//example.org/x.png"),
        ("src", "data:text/html,x"),
        ("src", "../secret.mp4"),
        ("src", "javascript:1"),
    ],
)
def test_addresses_that_lead_out_of_the_page_are_refused(name: str, address: str) -> None:
    with pytest.raises(ValueError, match="leads out of the page"):
        tag("a", **{name: address})


@given(ANY)
def test_any_text_is_only_text(text: str) -> None:
    page = Read(joined(tag("p", text, title=text), tag("i")))
    assert [element.name for element in page.elements] == ["p", "i"]
    assert set(page.elements[0].attributes) == {"title"}
    assert page.elements[0].attributes["title"] == page.text
    page.text.encode()
    assert not set(page.text) & {chr(i) for i in range(32) if chr(i) not in "\n\t"}


@given(ANY)
def test_any_value_survives_in_a_script_of_data(text: str) -> None:
    page = Read(tag("script", json_data({text: [text, 1, None]}), type="application/json"))
    assert [element.name for element in page.elements] == ["script"]
    found = json.loads(page.scripts[0][1])
    assert list(found.values()) == [[next(iter(found)), 1, None]]


def test_planted_text_leaves_nothing_dangerous_in_data() -> None:
    made = json_data([PLANTED])
    assert not set("<>&\u2028\u2029") & set(made)
    assert json.loads(made) == [PLANTED]


def test_markup_inside_of_markup_is_not_escaped_twice() -> None:
    assert joined(Markup("<b>"), escaped("<b>")) == "<b>&amp;lt;b&amp;gt;"
