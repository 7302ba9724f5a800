"""What the record of a batch job holds: its tables, and the values that are read out of them."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple

from videohv.batch.work import Ending, Line

VERSION = "1"

SCHEMA = """
CREATE TABLE IF NOT EXISTS meta (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS wholes (source TEXT PRIMARY KEY, grp TEXT NOT NULL, size INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS wholes_by_group ON wholes (grp);
CREATE TABLE IF NOT EXISTS lines (id INTEGER PRIMARY KEY, grp TEXT NOT NULL, items TEXT NOT NULL, memo TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS lines_by_group ON lines (grp);
CREATE TABLE IF NOT EXISTS history (
    seq INTEGER PRIMARY KEY,
    line INTEGER NOT NULL REFERENCES lines (id),
    kind TEXT NOT NULL,
    part INTEGER NOT NULL,
    number INTEGER NOT NULL,
    tries INTEGER NOT NULL,
    why TEXT NOT NULL DEFAULT '',
    reply TEXT
);
CREATE INDEX IF NOT EXISTS history_by_line ON history (line, seq);
CREATE INDEX IF NOT EXISTS history_by_part ON history (part, number);
CREATE TABLE IF NOT EXISTS events (
    seq INTEGER PRIMARY KEY, part INTEGER NOT NULL, step TEXT NOT NULL, value TEXT NOT NULL, at REAL NOT NULL
);
CREATE INDEX IF NOT EXISTS events_by_part ON events (part, seq);
"""
"""A line of `history` says that a request was sent (`sent`) or how that ended (an `Ending`); the latest one counts."""

KIND = "(SELECT kind FROM history WHERE line = lines.id ORDER BY seq DESC LIMIT 1)"
SENT = "sent"


class Step(StrEnum):
    """How far a part has come. `uploading` and `submitting` are noted before the server is asked."""

    WRITTEN = "written"
    UPLOADING = "uploading"
    UPLOADED = "uploaded"
    SUBMITTING = "submitting"
    HELD = "held"
    SUBMITTED = "submitted"
    ENDED = "ended"


class Part(NamedTuple):
    """A part as it stands: the value of its last step (file id, batch id, reason) and when that was (seconds)."""

    number: int
    step: Step
    value: str
    at: float


class End(NamedTuple):
    """How one line of a part ended. `tries` counts those that failed, this one with them if it counts."""

    line: Line
    ending: Ending
    tries: int
    why: str = ""
    reply: str | None = None
