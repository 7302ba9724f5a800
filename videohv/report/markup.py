"""HTML out of values: the one place where text is escaped, and where addresses are let through.

A `str` is text and is escaped; only what `tag` made is markup. Attributes that could run code (`style`, `on…`) and
addresses that lead anywhere but to a part of the page, an embedded picture or a file beside it are refused, so that no
caption, file name or reply of a model can become either.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from videohv.types import whole

_SPECIAL = re.compile("[&<>\"'`\x00-\x08\x0b-\x1f\x7f-\x9f]")
_ENTITIES = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;", "`": "&#96;", "\r": " "}
_VOID = frozenset({"br", "img", "input", "link", "meta", "hr"})
_ADDRESSES = {"href": ("#",), "src": ("./", "data:image/jpeg;base64,")}
_UNSAFE_IN_SCRIPT = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_SCRIPT = re.compile("[<>&\u2028\u2029]")


class Markup(str):
    """HTML that goes into a page as it is."""

    __slots__ = ()


Child: TypeAlias = "Markup | str | int | Iterable[Child] | None"
"""What can stand inside of an element: markup, text, a number, several of these, or nothing."""


def escaped(text: str) -> str:
    """Text as it stands in HTML, in an element or a quoted attribute; control characters are gone."""
    return _SPECIAL.sub(lambda found: _ENTITIES.get(found[0], ""), whole(text))


def tag(name: str, /, *children: Child, **attributes: str | float | bool | None) -> Markup:
    """One element.

    Args:
        name: Of the element.
        children: What it holds; text is escaped.
        attributes: `class_` is `class`, other underscores are hyphens. None and False leave one out, True gives its
            name alone.

    Raises:
        ValueError: For an attribute that holds code, or an address that leads out of the page.
    """
    parts = ["<", name]
    for given, value in attributes.items():
        if value is None or value is False:
            continue
        key = given.rstrip("_").replace("_", "-")
        if key == "style" or key.startswith("on"):
            raise ValueError(f"the attribute {key} could run code")
        if value is True:
            parts += (" ", key)
            continue
        text = f"{value:.10g}" if isinstance(value, float) else str(value)
        if key in _ADDRESSES and not text.startswith(_ADDRESSES[key]):
            raise ValueError(f"{key} leads out of the page: {text[:40]!r}")
        parts += (" ", key, '="', escaped(text), '"')
    parts.append(">")
    if name not in _VOID:
        _add(parts, children)
        parts += ("</", name, ">")
    return Markup("".join(parts))


def joined(*children: Child) -> Markup:
    """Several pieces after each other; text is escaped."""
    parts: list[str] = []
    _add(parts, children)
    return Markup("".join(parts))


def json_data(value: Any) -> Markup:
    """A value as JSON that can stand in a `<script type="application/json">` whatever texts it holds."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return Markup(_SCRIPT.sub(lambda found: _UNSAFE_IN_SCRIPT[found[0]], whole(text)))


def _add(parts: list[str], children: Iterable[Child]) -> None:
    for child in children:
        if child.__class__ is Markup:
            parts.append(child)
        elif isinstance(child, str):
            parts.append(escaped(child))
        elif isinstance(child, int):
            parts.append(str(child))
        elif child is not None:
            _add(parts, child)
