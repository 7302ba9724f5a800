"""HTML as a browser would read it: elements with their attributes, and the text that is shown."""

from __future__ import annotations

import base64
import gzip
import json
from html.parser import HTMLParser
from typing import Any, NamedTuple


class Element(NamedTuple):
    """A start tag."""

    name: str
    attributes: dict[str, str]


class Read(HTMLParser):
    """A page read once.

    Args:
        html: The page, or a part of one.
    """

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[Element] = []
        self.text = ""
        self.scripts: list[tuple[Element, str]] = []
        self._script: Element | None = None
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        element = Element(tag, {name: value or "" for name, value in attrs})
        self.elements.append(element)
        if tag in ("script", "style"):
            self._script = element
            self.scripts.append((element, ""))

    def handle_endtag(self, tag: str) -> None:
        if tag in ("script", "style"):
            self._script = None

    def handle_data(self, data: str) -> None:
        if self._script is not None:
            self.scripts[-1] = (self._script, self.scripts[-1][1] + data)
        else:
            self.text += data

    def all(self, name: str) -> list[Element]:
        """Every element of a name."""
        return [element for element in self.elements if element.name == name]

    def of(self, class_: str) -> list[Element]:
        """Every element of a class."""
        return [e for e in self.elements if class_ in e.attributes.get("class", "").split()]

    def data(self) -> dict[str, Any]:
        """The rows that a run's report lists."""
        found = next(text for element, text in self.scripts if element.attributes.get("id") == "rows")
        made: dict[str, Any] = json.loads(found)
        return made

    def details(self) -> list[list[str]]:
        """The packed fragments, chunk by chunk."""
        packed = [text for element, text in self.scripts if element.attributes.get("class") == "chunk"]
        return [json.loads(gzip.decompress(base64.b64decode(text))) for text in packed]


def dangers(page: Read) -> list[str]:
    """What in a page could run code, or load something from elsewhere."""
    found = []
    for name, attributes in page.elements:
        found += [f"{name} {key}" for key in attributes if key.startswith("on") or key in ("style", "srcdoc")]
        for key in ("href", "src", "action", "formaction", "xlink:href", "data", "poster"):
            value = attributes.get(key)
            if value is not None and not value.startswith(("#", "./", "data:image/jpeg;base64,")):
                found.append(f"{name} {key}={value[:60]}")
        if name in ("iframe", "object", "embed", "base", "form", "link"):
            found.append(name)
    return found
