"""What comes from files and what is kept in them: captions, and their store."""

from videohv.data.captions import read_captions, write_captions
from videohv.data.narration import normalise
from videohv.data.store import CaptionStore, Key

__all__ = [
    "CaptionStore",
    "Key",
    "normalise",
    "read_captions",
    "write_captions",
]
