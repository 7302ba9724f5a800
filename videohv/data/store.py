"""The caption store: what was captioned once is never captioned again.

One SQLite file that many threads and processes may use at once. Every operation opens its own short connection, so
that nothing is shared between threads and nothing is left open after a crash.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from filelock import FileLock

from videohv.data.forms import RawCaption
from videohv.data.narration import normalise
from videohv.errors import InputError, VideoHVError
from videohv.paths import captions_db
from videohv.types import Caption

_VERSION = 2
_SCHEMA = """
CREATE TABLE tracks (
    id INTEGER PRIMARY KEY,
    content_hash TEXT NOT NULL,
    captioner TEXT NOT NULL,
    fps REAL NOT NULL,
    complete INTEGER NOT NULL DEFAULT 0,
    UNIQUE (content_hash, captioner, fps)
);
CREATE TABLE captions (
    track INTEGER NOT NULL REFERENCES tracks (id) ON DELETE CASCADE,
    microseconds INTEGER NOT NULL,
    text TEXT NOT NULL,
    raw TEXT,
    PRIMARY KEY (track, microseconds)
) WITHOUT ROWID;
"""
_FROM_1 = "ALTER TABLE captions ADD COLUMN raw TEXT;"
_BUSY_SECONDS = 60.0
_BATCH_CAPTIONS, _BATCH_SECONDS = 16, 1.0


@dataclass(frozen=True)
class Key:
    """What a track of captions belongs to.

    Args:
        content_hash: The video's content (`VideoInfo.content_hash`); its name and place do not matter.
        captioner: The captioner's identity.
        fps: Sampled moments a second.

    Raises:
        InputError: A part is empty, or fps is not a positive number.
    """

    content_hash: str
    captioner: str
    fps: float

    def __post_init__(self) -> None:
        if not self.content_hash or not self.captioner:
            raise InputError(f"a key of the caption store needs a content hash and a captioner, got {self}")
        if not (math.isfinite(self.fps) and self.fps > 0):
            raise InputError(f"fps must be a positive number, got {self.fps}")


def ticks(seconds: float) -> int:
    """A moment as whole microseconds: equal for times that differ by rounding alone."""
    return round(seconds * 1e6)


class CaptionStore:
    """Captions by video, captioner and sampling rate, kept across runs.

    Args:
        path: The SQLite file, made when absent; by default `captions_db()`.

    Raises:
        InputError: The file is damaged, or is something other than a caption store. It is never deleted or overwritten.
        VideoHVError: The file cannot be opened or written (permissions, full disk, locked for over a minute).
            Both hold for every method.
    """

    def __init__(self, path: Path | None = None) -> None:
        self.path = captions_db() if path is None else Path(path)
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as e:
            raise VideoHVError(
                f"cannot make the directory {self.path.parent} for the caption store ({e.strerror}): "
                "set VIDEOHV_CACHE to a directory that can be written"
            ) from e
        with self._connect() as db:
            version = _version(db)
        if version < _VERSION:
            # Two processes that turn a new file to WAL at once lock each other out at once, whatever the timeout; and
            # of two that bring an old file up to date the second must see what the first did.
            with FileLock(f"{self.path}.lock"), self._connect() as db:
                self._prepare(db)
        elif version > _VERSION:
            raise InputError(
                f"{self.path} has version {version} of the caption store and this videohv knows version {_VERSION}: "
                "update videohv or name another file"
            )

    def read(self, key: Key) -> tuple[Caption, ...]:
        """All captions of a key in the order of time; none when nothing is stored."""
        with self._connect() as db:
            rows = db.execute(f"SELECT microseconds, text FROM captions {_WHERE} ORDER BY microseconds", _args(key))
            return tuple(Caption(time=us / 1e6, text=text) for us, text in rows if text)

    def read_raw(self, key: Key) -> tuple[RawCaption, ...]:
        """All captions of a key in the order of time, each as it was published, if it was imported."""
        with self._connect() as db:
            rows = db.execute(
                f"SELECT microseconds, coalesce(raw, text) FROM captions {_WHERE} ORDER BY microseconds", _args(key)
            )
            return tuple(RawCaption(us / 1e6, text) for us, text in rows)

    def tracks(self, captioner: str | None = None) -> tuple[Key, ...]:
        """The keys that have captions, of one captioner or of all, in the order in which they were first stored."""
        with self._connect() as db:
            rows = db.execute(
                "SELECT content_hash, captioner, fps FROM tracks WHERE captioner = coalesce(?, captioner) "
                "AND EXISTS (SELECT 1 FROM captions WHERE track = id) ORDER BY id",
                (captioner,),
            )
            return tuple(Key(*row) for row in rows)

    def times(self, key: Key) -> frozenset[float]:
        """The moments (seconds, to the microsecond) that have a caption."""
        with self._connect() as db:
            return frozenset(
                us / 1e6 for (us,) in db.execute(f"SELECT microseconds FROM captions {_WHERE}", _args(key))
            )

    def write(self, key: Key, captions: Iterable[Caption]) -> int:
        """Store captions while they are being made.

        They are committed every 16 captions or every second, and what has arrived is committed when the iterable
        fails; so a crash loses at most the last batch. A moment that has a caption keeps it.

        Args:
            key: Where they belong.
            captions: Any iterable, taken one by one.

        Returns:
            How many were new.
        """
        new = 0
        batch: list[_Row] = []
        began = time.monotonic()
        try:
            for caption in captions:
                batch.append((ticks(caption.time), caption.text, None))
                if len(batch) >= _BATCH_CAPTIONS or time.monotonic() - began >= _BATCH_SECONDS:
                    new += self._commit(key, batch)
                    batch, began = [], time.monotonic()
        finally:
            new += self._commit(key, batch)
        return new

    def write_raw(self, key: Key, captions: Iterable[RawCaption]) -> int:
        """Store published captions: their plain text for `read` and their own for `read_raw`; all of them or none.

        A moment that has a caption keeps it.

        Returns:
            How many were new. One whose plain text is empty counts and is kept for `read_raw`; `read` leaves it out.
        """
        return self._commit(key, [(ticks(raw.time), normalise(raw.text), raw.text) for raw in captions])

    def complete(self, key: Key) -> bool:
        """Whether every moment of the video has been captioned."""
        with self._connect() as db:
            row = db.execute(
                "SELECT complete FROM tracks WHERE content_hash = ? AND captioner = ? AND fps = ?", _args(key)
            ).fetchone()
            return row is not None and bool(row[0])

    def mark_complete(self, key: Key) -> None:
        """Note that nothing is missing any more."""
        with self._connect() as db, db:
            db.execute(
                "INSERT INTO tracks (content_hash, captioner, fps, complete) VALUES (?, ?, ?, 1) "
                "ON CONFLICT (content_hash, captioner, fps) DO UPDATE SET complete = 1",
                _args(key),
            )

    def forget(self, key: Key) -> None:
        """Remove all captions of a key."""
        with self._connect() as db, db:
            db.execute("DELETE FROM tracks WHERE content_hash = ? AND captioner = ? AND fps = ?", _args(key))

    def _commit(self, key: Key, batch: list[_Row]) -> int:
        if not batch:
            return 0
        with self._connect() as db, db:
            db.execute("INSERT OR IGNORE INTO tracks (content_hash, captioner, fps) VALUES (?, ?, ?)", _args(key))
            before = db.total_changes
            db.executemany(
                "INSERT OR IGNORE INTO captions (track, microseconds, text, raw) SELECT id, ?, ?, ? FROM tracks "
                "WHERE content_hash = ? AND captioner = ? AND fps = ?",
                ((*row, *_args(key)) for row in batch),
            )
            return db.total_changes - before

    def _prepare(self, db: sqlite3.Connection) -> None:
        """Make the tables, or bring those of an older version up to date."""
        version = _version(db)
        if version == 1:
            db.executescript(f"BEGIN IMMEDIATE; {_FROM_1} PRAGMA user_version = {_VERSION}; COMMIT;")
        if version:
            return
        if db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise InputError(f"{self.path} is a database of something else: name another file for the captions")
        db.execute("PRAGMA journal_mode = WAL")
        db.executescript(f"BEGIN; {_SCHEMA} PRAGMA user_version = {_VERSION}; COMMIT;")

    @contextmanager
    def _connect(self) -> Iterator[sqlite3.Connection]:
        try:
            db = sqlite3.connect(self.path, timeout=_BUSY_SECONDS)
            try:
                db.execute("PRAGMA foreign_keys = ON")
                db.execute("PRAGMA synchronous = NORMAL")
                yield db
            finally:
                db.close()
        except sqlite3.OperationalError as e:
            raise VideoHVError(
                f"cannot use the caption store {self.path} ({e}): check that the file and its directory can be written "
                "and that the disk has room"
            ) from e
        except sqlite3.DatabaseError as e:
            raise InputError(
                f"the caption store {self.path} is damaged or is not one ({e}): move the file away (its captions will "
                "be made anew) or name another"
            ) from e


_Row = tuple[int, str, str | None]
_WHERE = "WHERE track = (SELECT id FROM tracks WHERE content_hash = ? AND captioner = ? AND fps = ?)"


def _args(key: Key) -> tuple[str, str, float]:
    return key.content_hash, key.captioner, key.fps


def _version(db: sqlite3.Connection) -> int:
    return int(db.execute("PRAGMA user_version").fetchone()[0])
