"""The way of a part to the server: its file is uploaded, then a batch is made of it, never two.

What is about to be asked of the server is noted first. Where the answer is missing (the process died, the connection
broke off, the server failed) the server is asked what it has before anything is asked for again.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

from videohv.batch.journal import Journal
from videohv.batch.outbox import Outbox
from videohv.batch.record import End, Part, Step
from videohv.batch.server import ATTEMPTS, BatchServer, Full, Gone, Passing
from videohv.batch.work import Ending, Request, Whole
from videohv.errors import ModelError

SETTLE = 10.0
"""Seconds within which a batch that was made is sure to be in the server's list."""

REFUSALS = 30
"""How often a server may have no room for a batch while nothing of ours is in flight."""


class Sender:
    """Uploads and submits.

    Args:
        server: Where to.
        journal: What has happened.
        outbox: Where requests become files.
        tell: Told of each part in a line.
        hold_on: Told of a failure that may pass; returns when it is time to try again, or raises it.
        pause: Waits for some seconds.
        settle: As `SETTLE`.

    Attributes:
        dropped: Parts that were given up so far.
    """

    def __init__(
        self,
        server: BatchServer,
        journal: Journal,
        outbox: Outbox,
        tell: Callable[[str], None],
        hold_on: Callable[[ModelError], None],
        pause: Callable[[float], None] = time.sleep,
        settle: float = SETTLE,
    ) -> None:
        self._server, self._journal, self._outbox = server, journal, outbox
        self._tell, self._hold_on, self._pause, self._settle = tell, hold_on, pause, settle
        self.dropped = 0

    def tidy(self) -> None:
        """Remove files that no part needs any more, or that never became one."""
        needed = {
            self._journal.file_of(part.number)
            for part in self._journal.parts(*(step for step in Step if step not in (Step.SUBMITTED, Step.ENDED)))
        }
        for file in self._journal.folder.glob("part*"):
            if file not in needed:
                file.unlink(missing_ok=True)

    def send(self, work: Iterable[Request | Whole]) -> int:
        """Write requests into parts and send each as soon as it is written; returns how many requests that were."""
        count = 0
        for number in self._outbox.parts(work):
            count += self._journal.length_of(number)
            self._submit_patiently(number)
        return count

    def resume(self, *, held: bool = True) -> None:
        """Send what was left half-way: parts that were not submitted, and those that the server had no room for.

        Args:
            held: Whether to try those again that the server had no room for.
        """
        steps = [Step.WRITTEN, Step.UPLOADING, Step.UPLOADED, Step.SUBMITTING, *([Step.HELD] if held else [])]
        for part in self._journal.parts(*steps):
            if part.step is Step.HELD and self._journal.length_of(part.number) > self._outbox.limits.requests:
                self.drop(part.number, "larger than a batch is to be now")
            else:
                self._submit_patiently(part.number)

    def _submit_patiently(self, number: int) -> None:
        while True:
            try:
                self.submit(self._journal.part(number))
            except (Passing, Full) as error:
                self._hold_on(error)
            else:
                return

    def submit(self, part: Part) -> None:
        """Bring a part from where it stands to the server.

        Raises:
            ModelError: The server refuses; the same command goes on from here.
        """
        number, name = part.number, self._journal.name_of(part.number)
        if part.step in (Step.WRITTEN, Step.UPLOADING) and not self._upload(part):
            return
        file_id = self._journal.value_of(number, Step.UPLOADED)
        batch_id = self._make(part, file_id, name)
        if batch_id is None:
            return
        self._journal.note(number, Step.SUBMITTED, batch_id)
        self._journal.file_of(number).unlink(missing_ok=True)
        self._tell(f"part {number}: submitted as {batch_id}, {self._journal.length_of(number)} requests")

    def drop(self, number: int, why: str) -> None:
        """Give a part up; its requests are made again and go into another one, as if they had not been sent."""
        lines = self._journal.lines(number).values()
        self._journal.end_part(number, [End(line, Ending.AGAIN, line.tries, why) for line in lines], why)
        self._journal.file_of(number).unlink(missing_ok=True)
        self.dropped += 1
        self._tell(f"part {number}: {why}; its requests go into another one")

    def _upload(self, part: Part) -> bool:
        file, name = self._journal.file_of(part.number), self._journal.name_of(part.number)
        file_id = self._found(name) if part.step is Step.UPLOADING else None
        if file_id is None:
            if not file.exists():
                self.drop(part.number, f"{file.name} is gone")
                return False
            self._journal.note(part.number, Step.UPLOADING)
            self._tell(f"part {part.number}: uploading {file.stat().st_size / 1e6:.1f} MB")
            file_id = self._server.upload(file, name)
        self._journal.note(part.number, Step.UPLOADED, file_id)
        return True

    def _found(self, name: str) -> str | None:
        try:
            return self._server.find_file(name)
        except Gone:
            return None  # The server lists no files: it is uploaded once more, which costs nothing but the time.

    def _make(self, part: Part, file_id: str, name: str) -> str | None:
        """The batch of an uploaded file, found or made; None if the server has no room or has lost the file."""
        unsure, since = part.step is Step.SUBMITTING, part.at
        last: ModelError | None = None
        for attempt in range(ATTEMPTS):
            if unsure:
                self._pause(max(0.0, since + self._settle - time.time()))
                found = self._server.find_batch(file_id, name, self._journal.values_of(part.number, Step.SUBMITTED))
                if found is not None:
                    return found
            self._journal.note(part.number, Step.SUBMITTING)
            since = time.time()
            try:
                return self._server.submit(file_id, name)
            except Full as error:
                self._journal.note(part.number, Step.HELD, str(error))
                self._tell(f"part {part.number}: held back, {error}")
                alone = not self._journal.parts(Step.SUBMITTED)
                if alone and len(self._journal.values_of(part.number, Step.HELD)) >= REFUSALS:
                    raise ModelError(str(error)) from error
                return None
            except Gone as error:
                # A file may take a moment to be known everywhere.
                unsure, last = False, error
            except Passing as error:
                unsure, last = True, error
            self._pause(2.0**attempt)
        if isinstance(last, Gone):
            self.drop(part.number, str(last))
            return None
        assert last is not None
        raise last
