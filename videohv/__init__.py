"""videohv: questions about long videos, answered with evidence.

    import videohv

    result = videohv.answer("party.mp4", "Who leaves first?", ["the man in red", "the woman", "nobody"])
    print(result.answer, result.status, [str(e.window) for e in result.evidence])

The hypothesis–verification program is `VideoHV`, an ordinary DSPy module; `configure` chooses the models.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from videohv.api import answer, configure
    from videohv.compiled import load_program
    from videohv.data.captions import read_captions
    from videohv.evaluate.opened import Run
    from videohv.modules.methods import make_method, method_names
    from videohv.modules.recorder import Event, Stop, listening
    from videohv.modules.settings import LoopSettings, Part
    from videohv.modules.videohv import VideoHV
    from videohv.types import Caption, Evidence, FrameLimits, Outcome, Question, Status, Trace, Window
    from videohv.video import Video

__version__ = "0.1.0"

_HOMES = {
    "answer": "videohv.api",
    "load_program": "videohv.compiled",
    "read_captions": "videohv.data.captions",
    "Run": "videohv.evaluate.opened",
    "configure": "videohv.api",
    "make_method": "videohv.modules.methods",
    "method_names": "videohv.modules.methods",
    "Event": "videohv.modules.recorder",
    "Stop": "videohv.modules.recorder",
    "listening": "videohv.modules.recorder",
    "LoopSettings": "videohv.modules.settings",
    "Part": "videohv.modules.settings",
    "VideoHV": "videohv.modules.videohv",
    "Caption": "videohv.types",
    "Evidence": "videohv.types",
    "FrameLimits": "videohv.types",
    "Outcome": "videohv.types",
    "Question": "videohv.types",
    "Status": "videohv.types",
    "Trace": "videohv.types",
    "Window": "videohv.types",
    "Video": "videohv.video",
}

__all__ = [
    "Caption",
    "Event",
    "Evidence",
    "FrameLimits",
    "LoopSettings",
    "Outcome",
    "Part",
    "Question",
    "Run",
    "Status",
    "Stop",
    "Trace",
    "Video",
    "VideoHV",
    "Window",
    "__version__",
    "answer",
    "configure",
    "listening",
    "load_program",
    "make_method",
    "method_names",
    "read_captions",
]


def __getattr__(name: str) -> Any:
    # DSPy takes a second to import; `import videohv.types` and `videohv --help` need not wait for it.
    if name in _HOMES:
        return getattr(importlib.import_module(_HOMES[name]), name)
    raise AttributeError(f"module 'videohv' has no attribute {name!r}")


def load_ipython_extension(shell: Any) -> None:
    """Have notebooks show a `Trace` as its report. Importing videohv in a notebook does this by itself."""
    show = shell.display_formatter.formatters["text/html"]
    show.for_type_by_name("videohv.types.trace", "Trace", lambda trace: _notebook().notebook_html(trace))


def _notebook() -> Any:
    return importlib.import_module("videohv.report.notebook")


if (_ipython := sys.modules.get("IPython")) is not None and (
    _shell := getattr(_ipython, "get_ipython", lambda: None)()
) is not None:
    load_ipython_extension(_shell)
