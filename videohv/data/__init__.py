"""What comes from files and what is kept in them: captions, their store, and where both live."""

from videohv.data.captions import read_captions, write_captions
from videohv.data.narration import normalise
from videohv.data.paths import cache_dir, captions_db, models_dir
from videohv.data.store import CaptionStore, Key

__all__ = [
    "CaptionStore",
    "Key",
    "cache_dir",
    "captions_db",
    "models_dir",
    "normalise",
    "read_captions",
    "write_captions",
]
