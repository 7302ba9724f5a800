"""Where things that are made or fetched once live on disk."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_dir() -> Path:
    """Directory of everything that can be made or fetched anew: `$VIDEOHV_CACHE`, or else the user's cache directory.

    It is not created here; whoever writes into it does that.
    """
    named = os.environ.get("VIDEOHV_CACHE", "").strip()
    return Path(named).expanduser().absolute() if named else platformdirs.user_cache_path("videohv", appauthor=False)


def models_dir() -> Path:
    """Directory of fetched language models."""
    return cache_dir() / "models"


def captions_db() -> Path:
    """File of the caption store."""
    return cache_dir() / "captions.sqlite3"


def answers_dir() -> Path:
    """Directory in which the page keeps what was asked and answered."""
    return cache_dir() / "answers"
