from __future__ import annotations

import base64
import hashlib

from tests.support.html import Read, dangers
from videohv.report.markup import Markup, tag
from videohv.report.page import Section, asset, framed, page


def test_its_policy_allows_its_own_styles_and_scripts_and_nothing_else() -> None:
    read = Read(page("A & B", tag("p", "x"), styles=("answer.css",), scripts=("answer.js",)))
    policy = next(
        e.attributes["content"] for e in read.all("meta") if e.attributes.get("http-equiv") == "Content-Security-Policy"
    )
    rules = dict(rule.strip().partition(" ")[::2] for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    assert rules["img-src"] == "data:"
    assert "unsafe" not in policy
    assert "http" not in policy
    for element, text in read.scripts:
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in rules[f"{element.name}-src"].split()
    assert len(rules["script-src"].split()) == len(read.all("script")) == 2


def test_what_it_loads_is_in_it() -> None:
    read = Read(page("t", tag("p", "x"), styles=("answer.css", "run.css"), scripts=("answer.js", "explorer.js")))
    assert not dangers(read)
    for text in (asset("base.css", "answer.css", "run.css"), asset("base.js", "answer.js", "explorer.js")):
        for foreign in ("http:", "https:", "@import", "url(", "innerHTML", "eval(", "fetch(", "XMLHttpRequest"):
            assert foreign not in text, foreign


def test_sections_have_headings_and_are_led_to() -> None:
    made = [Section("one", "The first", tag("p", "1"), "First"), Section("none", "Empty", Markup(), "Empty")]
    read = Read(page("t", "", sections=made))
    assert [e.attributes["id"] for e in read.all("section")] == ["one"]
    assert [e.attributes["href"] for e in read.all("a")] == ["#top", "#top", "#one"]
    assert read.all("html")[0].attributes["lang"] == "en"
    ids = [e.attributes["id"] for e in read.elements if "id" in e.attributes]
    assert len(ids) == len(set(ids))


def test_a_frame_holds_a_document_and_may_not_reach_out() -> None:
    document = page('"quoted" <title>', tag("p", "x"))
    frame = Read(framed(document)).all("iframe")[0].attributes
    assert frame["srcdoc"] == document
    assert frame["sandbox"] == "allow-scripts"
