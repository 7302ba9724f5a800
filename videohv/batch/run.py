"""A batch job from its requests to the stored replies, in as many runs as it takes."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from videohv.batch.gather import Gatherer
from videohv.batch.journal import Journal
from videohv.batch.outbox import Limits, Outbox
from videohv.batch.record import Step
from videohv.batch.send import SETTLE, Sender
from videohv.batch.server import BatchServer, Full, Passing
from videohv.batch.work import BatchJob, Ending, Request, Whole
from videohv.errors import ModelError

POLL = 60.0
"""Seconds between two looks at the server."""

_BAD_LOOKS = 30
_DROPS = 3
_OPEN = tuple(step for step in Step if step is not Step.ENDED)


class Report(NamedTuple):
    """Where a job stands after a run.

    Args:
        sent: Requests sent in this run.
        in_flight: Requests at the server, or on their way to it.
        waiting: Requests that failed and could not be sent again.
        lost: Requests that failed for good.
    """

    sent: int
    in_flight: int
    waiting: int
    lost: int


def run_batch(
    job: BatchJob,
    server: BatchServer,
    journal: Journal,
    *,
    limits: Limits | None = None,
    wait: bool = False,
    poll: float = POLL,
    tell: Callable[[str], None] = lambda line: None,
    pause: Callable[[float], None] = time.sleep,
    settle: float = SETTLE,
) -> Report:
    """Go on with a job from wherever it stands: finish what was begun, collect what is over, send what is missing.

    It may be interrupted anywhere; called again with the same journal it goes on, and sends nothing that is in flight.

    Args:
        job: What to do.
        server: Where.
        journal: The job's state.
        limits: Of a batch, and tries of a request.
        wait: Whether to return only when nothing is in flight.
        poll: Seconds between two looks while waiting.
        tell: Told what happens, in lines.
        pause: Waits for some seconds.
        settle: Seconds within which a batch that was made is sure to be in the server's list.

    Raises:
        ModelError: The server has no Batch API, refuses key, batch or payment, or cannot be reached.
        VideoHVError: Something cannot be stored.
    """
    limits = limits or Limits()
    outbox = Outbox(journal, limits)
    bad = 0

    def hold_on(error: ModelError) -> None:
        nonlocal bad
        bad += 1
        if not wait or bad >= _BAD_LOOKS:
            raise error
        tell(f"{error}; trying again in {poll:g} s")
        pause(poll)

    sender = Sender(server, journal, outbox, tell, hold_on, pause, settle)
    gatherer = Gatherer(job, server, journal, limits, sender.drop, tell)

    def again() -> Iterator[Request]:
        for line in journal.waiting():
            if job.done(line):
                journal.settle(line)
            elif (request := job.again(line)) is not None:
                yield request

    def fresh() -> Iterator[Request | Whole]:
        for item in job.fresh(outbox):
            yield item
            if isinstance(item, Whole) and not outbox.taken(item.group):
                job.finish(item.group, item.size)

    def send(work: Iterable[Request | Whole]) -> int:
        sent = sender.send(work)
        for _ in range(_DROPS):
            if not sender.dropped:
                break
            sender.dropped = 0
            sent += sender.send(again())
        return sent

    def collect() -> int:
        nonlocal bad
        while True:
            try:
                over = gatherer.collect()
            except (Passing, Full) as error:
                hold_on(error)
            else:
                bad = 0
                break
        if gatherer.halt:
            raise ModelError(gatherer.halt)
        return over

    server.check()
    sender.tidy()
    sender.resume()
    collect()
    sent = send(chain(again(), fresh()))
    while wait and journal.parts(*_OPEN):
        pause(poll)
        over = collect()
        # The server has room again when something is over, or when nothing is left there.
        sender.resume(held=over > 0 or not journal.parts(Step.SUBMITTED))
        sent += send(again())
    return Report(sent, journal.count("sent"), journal.count(Ending.AGAIN), journal.count(Ending.LOST))
