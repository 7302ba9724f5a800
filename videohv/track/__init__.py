"""Runs and compiles in an MLflow store, beside what is kept in their own folders."""

from videohv.track.store import Tracker, tracking

__all__ = ["Tracker", "tracking"]
