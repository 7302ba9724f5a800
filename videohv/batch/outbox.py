"""Requests on their way into files that a server takes: as many a file as it allows, and no more than one file held."""

from __future__ import annotations

import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator

from pydantic import Field

from videohv.batch.journal import Journal
from videohv.batch.wire import ENDPOINT
from videohv.batch.work import Line, Request, Whole
from videohv.errors import InputError, VideoHVError
from videohv.types import Value


class Limits(Value):
    """How much goes into one batch, and how often a request is sent.

    Args:
        requests: Requests a batch at most; OpenAI takes 50 000.
        size: Bytes of its file at most; OpenAI takes 200 MB.
        tries: How often a request is sent before its items have failed for good.
    """

    requests: int = Field(default=50_000, ge=1)
    size: int = Field(default=200_000_000, ge=1)
    tries: int = Field(default=3, ge=1)


class Outbox:
    """Writes the files of parts, one after another.

    It knows what lies in the file that is being written, too, so that a video that is named twice is sent once.

    Args:
        journal: Where each finished file is noted.
        limits: Of a file.
    """

    def __init__(self, journal: Journal, limits: Limits) -> None:
        self._journal, self.limits = journal, limits
        self._lines: list[Line] = []
        self._wholes: list[Whole] = []
        self._items: defaultdict[str, set[str]] = defaultdict(set)

    def taken(self, group: str) -> frozenset[str]:
        """Items of a group that are in flight, wait to be sent again, failed for good, or lie here."""
        return self._journal.taken(group) | self._items.get(group, set())

    def planned(self, source: str) -> str | None:
        """The group of a source of which every request has been made."""
        return self._journal.planned(source)

    def parts(self, work: Iterable[Request | Whole]) -> Iterator[int]:
        """Write requests into files and yield the number of each part as soon as it is complete and noted.

        Raises:
            InputError: One request alone is larger than a file may be.
            VideoHVError: A file cannot be written.
        """
        draft = self._journal.folder / "part.draft"
        stream = iter(work)
        try:
            waiting = self._next(stream)
            while waiting is not None:
                number, size = self._journal.next_part(), 0
                with draft.open("wb") as file:
                    while waiting is not None:
                        entry = _entry(self._journal.name_of(number), len(self._lines), waiting)
                        if len(entry) > self.limits.size:
                            raise InputError(f"one request has {len(entry)} bytes; a batch may have {self.limits.size}")
                        if self._lines and (
                            len(self._lines) >= self.limits.requests or size + len(entry) > self.limits.size
                        ):
                            break
                        file.write(entry)
                        size += len(entry)
                        self._lines.append(waiting.line)
                        self._items[waiting.line.group].update(waiting.line.items)
                        waiting = self._next(stream)
                    file.flush()
                    os.fsync(file.fileno())
                draft.replace(self._journal.file_of(number))
                self._journal.add_part(self._lines, self._wholes)
                self._lines, self._wholes = [], []
                self._items.clear()
                if waiting is not None:
                    self._items[waiting.line.group].update(waiting.line.items)
                yield number
            self._journal.add_wholes(self._wholes)
        except OSError as error:
            raise VideoHVError(f"the files of a batch cannot be written to {self._journal.folder}: {error}") from error
        finally:
            self._lines, self._wholes = [], []
            self._items.clear()
            draft.unlink(missing_ok=True)

    def _next(self, stream: Iterator[Request | Whole]) -> Request | None:
        """The next request; groups that are whole on the way to it belong to what has been written so far."""
        for item in stream:
            if isinstance(item, Request):
                return item
            self._wholes.append(item)
        return None


def _entry(part: str, number: int, request: Request) -> bytes:
    # The body is put in as it is: it must reach the server to the byte as a live call sends it.
    head = {"custom_id": f"{part}-{number}", "method": "POST", "url": ENDPOINT}
    return json.dumps(head)[:-1].encode() + b', "body": ' + request.body + b"}\n"
