"""`videohv models`: the embedded language models in the user's cache."""

from __future__ import annotations
