"""docs/notebook.ipynb runs from top to bottom as it stands, in a real kernel, and shows what it says."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.support.benchmark import seen
from tests.support.engine import default_reply
from tests.support.server import FakeServer, Request

NOTEBOOK = Path(__file__).parent.parent / "docs" / "notebook.ipynb"


def reply(request: Request) -> str:
    return json.dumps(default_reply(seen(request)))


@pytest.mark.slow
def test_the_notebook_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nbformat, nbclient = pytest.importorskip("nbformat"), pytest.importorskip("nbclient")
    book = nbformat.read(NOTEBOOK, as_version=4)
    assert all(not cell.get("outputs") for cell in book.cells), "outputs belong to whoever runs it"
    with FakeServer(reply) as server:
        monkeypatch.setenv("VIDEOHV_LM", server.spec(images="true"))
        monkeypatch.setenv("DSPY_CACHEDIR", str(tmp_path / "dspy"))
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        monkeypatch.setenv(
            "PYTHONPATH", os.pathsep.join([str(NOTEBOOK.parent.parent), os.environ.get("PYTHONPATH", "")])
        )
        client = nbclient.NotebookClient(book, timeout=300, resources={"metadata": {"path": str(tmp_path)}})
        client.execute()
    shown = [_shown(cell) for cell in book.cells if cell.cell_type == "code"]
    assert "answered" in shown[1]["text/plain"]
    assert "<iframe" in shown[2]["text/html"]
    assert "the scene at" in shown[3]["text/html"]
    assert "a ball" in shown[4]["text/plain"]
    assert shown[5]["text/plain"] == "(2, 0)"
    assert "an onion" in shown[6]["text/html"]


def _shown(cell: Any) -> dict[str, str]:
    """What a cell showed last, by kind."""
    found: dict[str, str] = {}
    for output in cell.outputs:
        found |= output.get("data", {})
    return found
