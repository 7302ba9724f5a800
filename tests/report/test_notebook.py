from __future__ import annotations

import sys
from types import SimpleNamespace
from typing import Any

import pytest

import videohv
from tests.support.html import Read
from tests.support.traces import a_trace
from videohv.errors import MissingExtra
from videohv.report import dataframe, html_of


class Formatter:
    """IPython's, as far as it is used: printers by the name of a type."""

    def __init__(self) -> None:
        self.printers: dict[tuple[str, str], Any] = {}

    def for_type_by_name(self, module: str, name: str, printer: Any) -> None:
        self.printers[module, name] = printer


def test_notebooks_show_a_trace_as_its_report() -> None:
    formatter = Formatter()
    videohv.load_ipython_extension(
        SimpleNamespace(display_formatter=SimpleNamespace(formatters={"text/html": formatter}))
    )
    trace = a_trace()
    (named, show), *others = formatter.printers.items()
    assert not others
    # IPython knows a type by where it was defined, so this must be that place.
    assert named == (type(trace).__module__, type(trace).__qualname__)
    frame = Read(show(trace)).all("iframe")[0]
    assert frame.attributes["srcdoc"] == html_of(trace)


def test_what_was_seen_as_a_table() -> None:
    pytest.importorskip("pandas")
    frame = dataframe(a_trace())
    assert frame.to_dict("records") == [
        {
            "round": 1,
            "look": 1,
            "start": 10.0,
            "end": 15.0,
            "time": 11.0,
            "source": "frames",
            "text": "a hand takes something",
            "status": "VERIFIED",
        }
    ]
    assert list(dataframe(a_trace(rounds=())).columns)[:2] == ["round", "look"]


def test_without_pandas_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(MissingExtra, match=r"videohv\[notebook\]"):
        dataframe(a_trace())
