"""The agents as DSPy modules, the loop that they form, and its rivals."""

from videohv.modules import rivals
from videohv.modules.methods import make_method, method, method_names
from videohv.modules.program import VideoProgram
from videohv.modules.recorder import Event, EventKind, Listener, Stop, listening
from videohv.modules.settings import LoopSettings, MethodSettings, Part
from videohv.modules.videohv import VideoHV

__all__ = [
    "Event",
    "EventKind",
    "Listener",
    "LoopSettings",
    "MethodSettings",
    "Part",
    "Stop",
    "VideoHV",
    "VideoProgram",
    "listening",
    "make_method",
    "method",
    "method_names",
    "rivals",
]
