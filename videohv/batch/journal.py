"""The record of a batch job: what was sent where, and how it ended. Rows are only ever added, each step in one
transaction, so that a process may die at any moment and the next one knows what has happened.

A part is one batch at the server. A line is one request; it may be sent in several parts, one after another.
"""

from __future__ import annotations

import json
import sqlite3
import time
import uuid
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from filelock import FileLock, Timeout

from videohv.batch.record import KIND, SCHEMA, SENT, VERSION, End, Part, Step
from videohv.batch.work import Ending, Line, Whole
from videohv.errors import InputError, VideoHVError


class Journal:
    """The state of one job in one directory, for one process at a time.

    Args:
        folder: The state directory; made when absent.
        identity: The job's.

    Raises:
        InputError: The directory belongs to another job, its record is damaged, or another process works on it.
        VideoHVError: It cannot be written.
    """

    def __init__(self, folder: Path, identity: str) -> None:
        self.folder = folder
        with self._guarded():
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = FileLock(folder / "lock")
            try:
                self._lock.acquire(timeout=0)
            except Timeout:
                raise InputError(
                    f"{folder}: another process works on this batch; wait for it, or give another --state"
                ) from None
            self._db = sqlite3.connect(folder / "journal.sqlite3")
        try:
            with self._guarded():
                self._db.execute("PRAGMA journal_mode = WAL")
                self._db.execute("PRAGMA synchronous = FULL")
                self._db.executescript(SCHEMA)
                with self._db:
                    new = {"identity": identity, "version": VERSION, "token": uuid.uuid4().hex[:12]}
                    self._db.executemany("INSERT OR IGNORE INTO meta VALUES (?, ?)", new.items())
                meta = dict(self._db.execute("SELECT name, value FROM meta"))
            if meta["version"] != VERSION:
                raise InputError(f"{folder}: is of version {meta['version']}; update videohv or give another --state")
            if meta["identity"] != identity:
                raise InputError(f"{folder}: holds {meta['identity']}, not {identity}; give another --state")
        except BaseException:
            self.close()
            raise
        self.token = meta["token"]

    def taken(self, group: str) -> frozenset[str]:
        """Items of a group that are in flight, wait to be sent again, or failed for good."""
        rows = self._rows(f"SELECT items FROM lines WHERE grp = ? AND {KIND} != 'stored'", group)
        return frozenset(item for (items,) in rows for item in json.loads(items))

    def planned(self, source: str) -> str | None:
        """The group of a source of which every request has been made."""
        return next((group for (group,) in self._rows("SELECT grp FROM wholes WHERE source = ?", source)), None)

    def size_of(self, group: str) -> int | None:
        """Items of a group of which every request has been made."""
        return next(
            (s for (s,) in self._rows("SELECT size FROM wholes WHERE grp = ? ORDER BY rowid DESC", group)), None
        )

    def next_part(self) -> int:
        """The number of the part that `add_part` will add."""
        return int(next(self._rows("SELECT COALESCE(MAX(part), 0) + 1 FROM events"))[0])

    def add_part(self, lines: Sequence[Line], wholes: Iterable[Whole]) -> int:
        """Note a part whose file is written, and the groups that are whole with it."""
        number = self.next_part()
        with self._guarded(), self._db:
            for i, line in enumerate(lines):
                key = line.id
                if key is None:
                    key = self._db.execute(
                        "INSERT INTO lines (grp, items, memo) VALUES (?, ?, ?)",
                        (line.group, json.dumps(line.items), line.memo),
                    ).lastrowid
                self._add_history(key, SENT, number, i, line.tries)
            self._add_wholes(wholes)
            self._add_event(number, Step.WRITTEN, "")
        return number

    def add_wholes(self, wholes: Iterable[Whole]) -> None:
        """Note groups that are whole without a further part."""
        with self._guarded(), self._db:
            self._add_wholes(wholes)

    def note(self, part: int, step: Step, value: str = "") -> None:
        """Note a step of a part."""
        with self._guarded(), self._db:
            self._add_event(part, step, value)

    def end_part(self, part: int, ends: Iterable[End], why: str) -> None:
        """Note how each line of a part ended, and that nothing more is to be had from it."""
        with self._guarded(), self._db:
            numbers = dict(
                self._db.execute("SELECT line, number FROM history WHERE part = ? AND kind = 'sent'", (part,))
            )
            for end in ends:
                number = numbers[end.line.id]
                self._add_history(end.line.id, end.ending, part, number, end.tries, end.why, end.reply)
            self._add_event(part, Step.ENDED, why)

    def settle(self, line: Line) -> None:
        """Note that what a waiting line asks for has been stored in another way."""
        with self._guarded(), self._db:
            self._add_history(line.id, Ending.STORED, 0, 0, line.tries)

    def revive(self) -> int:
        """Let everything that failed for good be sent again, from the beginning; returns how many requests that is."""
        with self._guarded(), self._db:
            lost = [key for (key,) in self._db.execute(f"SELECT id FROM lines WHERE {KIND} = 'lost'")]
            for key in lost:
                self._add_history(key, Ending.AGAIN, 0, 0, 0, "asked for once more", None)
        return len(lost)

    def part(self, number: int) -> Part:
        """A part as it stands."""
        rows = self._rows("SELECT step, value, at FROM events WHERE part = ? ORDER BY seq DESC LIMIT 1", number)
        step, value, at = next(rows)
        return Part(number, Step(step), value, at)

    def parts(self, *steps: Step) -> list[Part]:
        """The parts whose last step is one of these, in order."""
        rows = self._rows(
            "SELECT part, step, value, at FROM events WHERE seq IN (SELECT MAX(seq) FROM events GROUP BY part) "
            f"AND step IN ({', '.join('?' * len(steps))}) ORDER BY part",
            *steps,
        )
        return [Part(number, Step(step), value, at) for number, step, value, at in rows]

    def values_of(self, part: int, step: Step) -> list[str]:
        """The values of each time that a part came to a step, the latest last."""
        rows = self._rows("SELECT value FROM events WHERE part = ? AND step = ? ORDER BY seq", part, step)
        return [value for (value,) in rows]

    def value_of(self, part: int, step: Step) -> str:
        """The latest of `values_of`, or nothing."""
        return next(reversed(self.values_of(part, step)), "")

    def lines(self, part: int) -> dict[int, Line]:
        """The lines of a part by their number in it."""
        rows = self._rows("SELECT number, line FROM history WHERE part = ? AND kind = 'sent' ORDER BY number", part)
        return {number: self._line(key) for number, key in list(rows)}

    def length_of(self, part: int) -> int:
        """How many lines a part has."""
        return int(next(self._rows("SELECT COUNT(*) FROM history WHERE part = ? AND kind = 'sent'", part))[0])

    def waiting(self) -> Iterator[Line]:
        """The lines that are to be sent again, those of one group together."""
        for (key,) in list(self._rows(f"SELECT id FROM lines WHERE {KIND} = 'again' ORDER BY grp, id")):
            yield self._line(key)

    def lost(self) -> Iterator[tuple[Line, str]]:
        """The lines that failed for good, and why."""
        for (key,) in list(self._rows(f"SELECT id FROM lines WHERE {KIND} = 'lost' ORDER BY id")):
            yield self._line(key), self._latest(key)[1]

    def count(self, *kinds: str) -> int:
        """How many lines are `sent`, `stored`, `again` or `lost` at last."""
        marks = ", ".join("?" * len(kinds))
        return int(next(self._rows(f"SELECT COUNT(*) FROM lines WHERE {KIND} IN ({marks})", *kinds))[0])

    def name_of(self, part: int) -> str:
        """The name under which the server knows a part."""
        return f"{self.token}-{part}"

    def file_of(self, part: int) -> Path:
        """Where the requests of a part lie until it is submitted."""
        return self.folder / f"part-{part:06d}.jsonl"

    def close(self) -> None:
        """Let others at it."""
        if hasattr(self, "_db"):
            self._db.close()
        self._lock.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _line(self, key: int) -> Line:
        group, items, memo = next(self._rows("SELECT grp, items, memo FROM lines WHERE id = ?", key))
        # What was said before a line was revived (part 0) does not count.
        replies = self._rows(
            "SELECT reply FROM history WHERE line = ?1 AND reply IS NOT NULL AND seq > "
            "(SELECT COALESCE(MAX(seq), 0) FROM history WHERE line = ?1 AND part = 0) ORDER BY seq",
            key,
        )
        return Line(
            group=group,
            items=tuple(json.loads(items)),
            memo=memo,
            tries=self._latest(key)[0],
            replies=tuple(reply for (reply,) in replies),
            id=key,
        )

    def _latest(self, key: int) -> tuple[int, str]:
        tries, why = next(self._rows("SELECT tries, why FROM history WHERE line = ? ORDER BY seq DESC LIMIT 1", key))
        return int(tries), str(why)

    def _rows(self, query: str, *values: object) -> Iterator[tuple[Any, ...]]:
        with self._guarded():
            return iter(self._db.execute(query, values).fetchall())

    def _add_history(
        self, line: int | None, kind: str, part: int, number: int, tries: int, why: str = "", reply: str | None = None
    ) -> None:
        self._db.execute(
            "INSERT INTO history (line, kind, part, number, tries, why, reply) VALUES (?, ?, ?, ?, ?, ?, ?)",
            (line, kind, part, number, tries, why, reply),
        )

    def _add_wholes(self, wholes: Iterable[Whole]) -> None:
        rows = [(whole.source, whole.group, whole.size) for whole in wholes]
        self._db.executemany("INSERT OR REPLACE INTO wholes (source, grp, size) VALUES (?, ?, ?)", rows)

    def _add_event(self, part: int, step: Step, value: str) -> None:
        row = (part, step, value, time.time())
        self._db.execute("INSERT INTO events (part, step, value, at) VALUES (?, ?, ?, ?)", row)

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except (sqlite3.OperationalError, OSError) as error:
            raise VideoHVError(f"the state in {self.folder} cannot be used: {error}; give another --state") from error
        except sqlite3.DatabaseError as error:
            raise InputError(f"the state in {self.folder} is damaged ({error}); give another --state") from error
