"""The page around a report: one file with its styles and scripts inside, that loads nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from typing import NamedTuple

from videohv.report.markup import Child, Markup, escaped, joined, tag


class Section(NamedTuple):
    """A part of a report that the bar at its top leads to.

    Args:
        key: Its id in the page.
        title: Its heading.
        body: What it holds; empty markup leaves the section out.
        short: What the bar calls it.
    """

    key: str
    title: str
    body: Markup
    short: str


def page(
    title: str,
    body: Child,
    *,
    sections: Sequence[Section] = (),
    styles: Sequence[str] = (),
    scripts: Sequence[str] = (),
) -> str:
    """A whole HTML document.

    The policy in its head allows the styles and scripts that are in it (by their hashes), embedded pictures and local
    video, and nothing else: even markup that slipped through could load and run nothing.

    Args:
        title: Of the document.
        body: What stands above the sections.
        sections: Follow in this order, each under its heading.
        styles: Assets beside the common one.
        scripts: Likewise.
    """
    style, own = asset("base.css", *styles), [asset("base.js"), *map(asset, scripts)]
    shown = [section for section in sections if section.body]
    hashes = " ".join(f"'{_hash(script)}'" for script in own)
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src {hashes}; img-src data:; "
        "media-src 'self' file: blob:; base-uri 'none'; form-action 'none'"
    )
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", http_equiv="Content-Security-Policy", content=policy),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="referrer", content="no-referrer"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("title", title),
        tag("style", style),
    )
    bar = tag(
        "header",
        tag("a", "videohv", class_="mark", href="#top"),
        tag("nav", [tag("a", s.short, href=f"#{s.key}") for s in shown], aria_label="Parts of this report")
        if shown
        else None,
        tag("button", "Theme", type="button", id="theme", aria_label="Theme: as the system", title="Theme"),
        class_="bar",
    )
    main = tag(
        "main",
        body,
        [
            tag("section", tag("h2", s.title, id=f"{s.key}-h"), s.body, id=s.key, aria_labelledby=f"{s.key}-h")
            for s in shown
        ],
        id="top",
    )
    skip = tag("a", "Skip to the report", class_="skip", href="#top")
    # The theme is chosen before the rest of a large page has been read, so that it does not change before one's eyes.
    early, *late = (tag("script", script) for script in own)
    whole_body = tag("body", skip, bar, early, main, late)
    return f'<!doctype html>\n<html lang="en">{head}{whole_body}</html>\n'


@cache
def asset(*names: str) -> Markup:
    """Files of `assets` after each other. They are part of this package and go into pages as they are."""
    folder = resources.files("videohv.report") / "assets"
    return Markup("\n".join((folder / name).read_text(encoding="utf-8").strip() for name in names))


def framed(document: str, height: int = 640) -> str:
    """A document inside a frame of its own, for pages that show others, such as notebooks.

    The frame may run the document's scripts and has no access to the page around it.
    """
    return (
        f'<iframe sandbox="allow-scripts" width="100%" height="{height}" frameborder="0" '
        f'title="videohv report" srcdoc="{escaped(document)}"></iframe>'
    )


def note(*children: Child, kind: str = "") -> Markup:
    """A short remark set apart from the text."""
    return tag("p", joined(*children), class_=f"note {kind}".strip())


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
