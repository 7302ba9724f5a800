"""What comes back: finished batches are fetched, each reply goes to the job, what failed is noted to be sent again."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from videohv.batch.journal import Journal
from videohv.batch.outbox import Limits
from videohv.batch.record import End, Part, Step
from videohv.batch.server import BatchServer, Gone, State, is_no_money
from videohv.batch.work import BatchJob, Ending, Line
from videohv.errors import ModelError

ALONE = 3
"""How often a batch may be refused for its size alone while nothing else is enqueued."""


class Gatherer:
    """Polls, fetches and stores.

    Args:
        job: Reads the replies.
        server: Where they come from.
        journal: What has happened.
        limits: For the number of tries.
        drop: Gives a part up.
        tell: Told of each part in a line.

    Attributes:
        halt: Why nothing further should be sent now, or empty.
    """

    def __init__(
        self,
        job: BatchJob,
        server: BatchServer,
        journal: Journal,
        limits: Limits,
        drop: Callable[[int, str], None],
        tell: Callable[[str], None],
    ) -> None:
        self._job, self._server, self._journal, self._limits = job, server, journal, limits
        self._drop, self._tell = drop, tell
        self.halt = ""
        self._told = ""

    def collect(self) -> int:
        """Look at every batch in flight once and collect those that are over; returns how many those were.

        Raises:
            ModelError: The server does not know a batch, or cannot be reached.
        """
        over = answered = total = going = 0
        for part in self._journal.parts(Step.SUBMITTED):
            try:
                state = self._server.state(part.value)
            except Gone as error:
                raise ModelError(
                    f"{error}: was it made with another key, or deleted? A new --state starts over"
                ) from error
            if state.over:
                over += 1
                self._end(part, state)
                continue
            going += 1
            answered += state.counts.completed + state.counts.failed
            total += state.counts.total or self._journal.length_of(part.number)
        batches = "1 batch" if going == 1 else f"{going} batches"
        told = f"{batches} in flight: {answered} of {total} requests answered" if going else ""
        if told and told != self._told:
            self._tell(told)
        self._told = told
        return over

    def finish(self, group: str) -> None:
        """Tell the job of a group of which every request was made and stored."""
        size = self._journal.size_of(group)
        if size is not None and not self._journal.taken(group):
            self._job.finish(group, size)

    def _end(self, part: Part, state: State) -> None:
        if state.status == "failed":
            self._refused(part, state)
            return
        lines = self._journal.lines(part.number)
        ends: dict[int, End] = {}
        for file_id in filter(None, (state.output_file, state.error_file)):
            file = self._journal.folder / "replies.jsonl"
            self._server.download(file_id, file)
            for entry in entries(file, self._journal.name_of(part.number)):
                if entry.number in lines and entry.number not in ends:
                    ends[entry.number] = self._read(lines[entry.number], entry)
            file.unlink()
        silent = "no reply came" if state.status == "completed" else f"the batch {state.status}"
        for number, line in lines.items():
            if number not in ends:
                ends[number] = self._failed(line, silent, counts=state.status != "cancelled")
        self._journal.end_part(part.number, ends.values(), state.status)
        for group in {line.group for line in lines.values()}:
            self.finish(group)
        self._server.delete(self._journal.value_of(part.number, Step.UPLOADED))
        stored = sum(end.ending is Ending.STORED for end in ends.values())
        self._tell(f"part {part.number}: {part.value} {state.status}, {stored} of {len(ends)} replies stored")
        if state.status == "cancelled":
            self.halt = f"{part.value} was cancelled at the server; run the same command to send the rest of it again"

    def _read(self, line: Line, entry: Entry) -> End:
        if entry.reply is None:
            if is_no_money(entry.why):
                self.halt = f"the account has no quota left ({entry.why}); run the same command when it has"
                return self._failed(line, entry.why, counts=False)
            return self._failed(line, entry.why)
        reading = self._job.read(line, (*line.replies, entry.reply))
        if reading.ending is Ending.AGAIN:
            return self._failed(line, reading.why)._replace(reply=entry.reply)
        return End(line, reading.ending, line.tries, reading.why)

    def _failed(self, line: Line, why: str, *, counts: bool = True) -> End:
        tries = line.tries + counts
        return End(line, Ending.LOST if tries >= self._limits.tries else Ending.AGAIN, tries, why)

    def _refused(self, part: Part, state: State) -> None:
        """A batch of which the server wanted nothing."""
        said = "; ".join(
            f"line {p.line}: {p.message}" if p.line is not None else p.message or p.code for p in state.problems[:3]
        )
        said += f"; and {len(state.problems) - 3} more" if len(state.problems) > 3 else ""
        said = self._server.safe(said or "without a reason")
        if state.too_much or any(is_no_money(f"{p.code} {p.message}") for p in state.problems):
            self._hold(part, said, no_money=not state.too_much)
            return
        lines = self._journal.lines(part.number)
        named = {p.line - 1: self._server.safe(p.message) for p in state.problems if p.line is not None}
        ends = [
            self._failed(line, named[number]) if number in named else End(line, Ending.AGAIN, line.tries, said)
            for number, line in lines.items()
        ]
        self._journal.end_part(part.number, ends, f"failed: {said}")
        self._server.delete(self._journal.value_of(part.number, Step.UPLOADED))
        self._tell(f"part {part.number}: {part.value} was refused: {said}")
        if not named or len(named) >= len(lines):
            self.halt = f"{part.value} was refused by the server: {said}"

    def _hold(self, part: Part, said: str, *, no_money: bool) -> None:
        self._journal.note(part.number, Step.HELD, said)
        self._tell(f"part {part.number}: held back, {said} (a smaller --batch-requests may fit)")
        if no_money:
            self.halt = f"the account has no quota left ({said}); run the same command when it has"
        elif not self._journal.parts(Step.SUBMITTED) and len(self._journal.values_of(part.number, Step.HELD)) >= ALONE:
            self._drop(part.number, "too large for what the account may enqueue")
            self.halt = (
                f"the server takes no batch of this size ({said}): run again with smaller ones, --batch-requests"
            )


class Entry(NamedTuple):
    """One line of an output or error file: the body of the reply as JSON, or why there is none."""

    number: int
    reply: str | None
    why: str


def entries(file: Path, part: str) -> Iterator[Entry]:
    """The entries of a file that belong to a part; lines that cannot be read are left out, as if they had not come."""
    with file.open(encoding="utf-8", errors="replace") as stream:
        for text in stream:
            try:
                entry = json.loads(text)
                name, _, number = str(entry["custom_id"]).rpartition("-")
                response = entry.get("response") or {}
                body, status = response.get("body"), response.get("status_code")
                if name != part or not number.isdecimal():
                    continue
                if status == 200 and isinstance(body, dict):
                    yield Entry(int(number), json.dumps(body), "")
                    continue
                wrong = entry.get("error") or (body.get("error") if isinstance(body, dict) else None) or {}
            except (ValueError, TypeError, LookupError, AttributeError, RecursionError):
                continue
            parts = (
                [str(wrong.get(key)) for key in ("code", "message") if wrong.get(key)]
                if isinstance(wrong, dict)
                else []
            )
            yield Entry(int(number), None, ": ".join(parts) or f"status {status}")
