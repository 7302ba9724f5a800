"""The agents as DSPy modules, and the loop that they form."""

from videohv.modules.recorder import Event, EventKind, Listener, Stop, listening
from videohv.modules.settings import LoopSettings
from videohv.modules.videohv import VideoHV

__all__ = ["Event", "EventKind", "Listener", "LoopSettings", "Stop", "VideoHV", "listening"]
