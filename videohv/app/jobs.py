"""Questions waiting, running and done: so many at once, fair between clients, each stoppable and limited in time.

A job runs in a thread of its own, in a copy of the context in which `Jobs` was made, so that models, budgets and
settings of that context hold in it. A thread cannot be killed: a job that does not stop when it is told to loses its
place after a while, and the next one begins; what it still does is not looked at.
"""

from __future__ import annotations

import contextvars
import logging
import threading
from collections import Counter, OrderedDict
from collections.abc import Callable, Sequence
from functools import partial

from videohv.app.job import Asked, Job, State
from videohv.errors import InputError
from videohv.types import Trace

GRACE_SECONDS = 10.0
"""How long a job that was told to stop may keep its place."""

_LOG = logging.getLogger(__name__)

_MOST_LOST = 8
"""Threads that did not stop in time; with so many, something is broken and no further job is begun."""


class Refused(InputError):
    """Too much is waiting already. The message says what."""


class Jobs:
    """All jobs of this process.

    Args:
        at_once: Jobs that run at the same time.
        seconds: How long each may run.
        waiting: Jobs that may wait, over all clients.
        waiting_of_one: Jobs that one client may have waiting.
        kept: Ended jobs that are remembered; older ones are forgotten.
        on_end: Called with each job that ends, once, from any thread; only then it is seen to have ended.
        grace: Seconds that a job which was told to stop may keep its place.
    """

    def __init__(
        self,
        at_once: int = 2,
        seconds: float = 1800.0,
        *,
        waiting: int = 64,
        waiting_of_one: int = 4,
        kept: int = 200,
        on_end: Callable[[Job], None] = lambda job: None,
        grace: float = GRACE_SECONDS,
    ) -> None:
        self._at_once, self._seconds, self._grace = at_once, seconds, grace
        self._most, self._most_of_one, self._kept = waiting, waiting_of_one, kept
        self._on_end = on_end
        self._context = contextvars.copy_context()
        self._lock = threading.RLock()
        self._jobs: OrderedDict[str, Job] = OrderedDict()
        self._waiting: list[Job] = []
        self._running: dict[str, Job] = {}
        self._lost = 0
        self._turn = 0
        self._served: dict[str, int] = {}
        self._closed = False
        self._closing: list[Callable[[], None]] = []

    def submit(self, asked: Asked, work: Callable[[], Trace], client: str = "") -> Job:
        """Have a question worked on when it is its turn.

        Args:
            asked: What it is about.
            work: Does it, in a thread; stopped through the listeners of its context.
            client: Who asks. Clients take turns, and none has all places while others wait.

        Raises:
            Refused: If too many jobs are waiting.
        """
        job = Job(asked, client, work, self._ended)
        with self._lock:
            if self._closed:
                raise Refused("nothing more is begun: it is being closed")
            if self._lost >= _MOST_LOST:
                raise Refused(f"{self._lost} questions did not stop when they were told to: start the command anew")
            if len(self._waiting) >= self._most:
                raise Refused(f"{len(self._waiting)} questions are waiting already; try again later")
            if client and sum(one.client == client for one in self._waiting) >= self._most_of_one:
                raise Refused(f"{self._most_of_one} questions of yours are waiting already; try again later")
            self._jobs[job.id] = job
            self._waiting.append(job)
            self._forget()
            self._fill()
        return job

    def get(self, name: str) -> Job | None:
        """The job of an id."""
        with self._lock:
            return self._jobs.get(name)

    def all(self) -> Sequence[Job]:
        """All that are remembered, newest first."""
        with self._lock:
            return tuple(reversed(self._jobs.values()))

    def place(self, job: Job) -> int:
        """How many jobs are before it in the queue, plus one; 0 if it does not wait."""
        with self._lock:
            return self._waiting.index(job) + 1 if job in self._waiting else 0

    def cancel(self, job: Job, why: str = "stopped") -> bool:
        """Stop a job at its next step; False if it had ended before. It counts as ended at once."""
        if not job.end(State.CANCELLED, why):
            return False
        with self._lock:
            waited = job in self._waiting
            if waited:
                self._waiting.remove(job)
        if waited:
            self._moved()
        else:
            self._after(self._grace, self._take_place, job)
        return True

    def cancel_of(self, client: str, why: str) -> None:
        """Stop all jobs of a client."""
        with self._lock:
            theirs = [job for job in self._jobs.values() if job.client == client and not job.state.is_end]
        for job in theirs:
            self.cancel(job, why)

    @property
    def is_closed(self) -> bool:
        """Whether no more is begun."""
        return self._closed

    def watch(self, call: Callable[[], None]) -> Callable[[], None]:
        """Have `call` called, from any thread, when it is closed. Returns what ends that."""
        with self._lock:
            self._closing.append(call)

        def end() -> None:
            with self._lock:
                self._closing.remove(call)

        return end

    def close(self) -> None:
        """Stop all jobs and begin no more."""
        with self._lock:
            self._closed = True
            left = [job for job in self._jobs.values() if not job.state.is_end]
            watching = tuple(self._closing)
        for job in left:
            self.cancel(job, "stopped: it was closed")
        for call in watching:
            call()

    def _fill(self) -> None:
        """Begin what there is a place for."""
        with self._lock:
            while len(self._running) < self._at_once and (job := self._next()) is not None:
                self._waiting.remove(job)
                self._running[job.id] = job
                self._turn += 1
                self._served[job.client] = self._turn
                job.begin()
                context = self._context.copy()
                threading.Thread(target=context.run, args=(self._work, job), name="videohv-job", daemon=True).start()
                limit = self._after(self._seconds, self._overdue, job)
                job.watch(partial(_stop_timer, limit, job))
                _stop_timer(limit, job)
                self._moved()

    def _next(self) -> Job | None:
        """Whose turn it is: that of the client with the fewest running, then of the one whose last turn is longest ago.

        No client has all places, even while nobody else waits: a job that runs makes way for none.
        """
        mine = Counter(job.client for job in self._running.values())
        share = max(1, self._at_once - 1)
        able = [job for job in self._waiting if mine[job.client] < share]
        return min(able, key=lambda job: (mine[job.client], self._served.get(job.client, 0)), default=None)

    def _moved(self) -> None:
        """The queue has changed: those who watch a waiting job see its new place."""
        with self._lock:
            waiting = tuple(self._waiting)
        for job in waiting:
            job.tell()

    def _work(self, job: Job) -> None:
        try:
            if not job.ending.is_end:
                job.run()
        finally:
            self._give_up(job, returned=True)

    def _overdue(self, job: Job) -> None:
        if job.end(State.FAILED, f"it ran longer than {self._seconds / 60:g} minutes and was stopped"):
            self._after(self._grace, self._take_place, job)

    def _ended(self, job: Job) -> None:
        """Tell who asked to be told; whatever that runs into, such as a full disk, is not the job's failure."""
        try:
            self._on_end(job)
        except Exception as error:
            _LOG.warning("the question %s has ended, and is not kept: %s", job.id, error)

    def _take_place(self, job: Job) -> None:
        """Give the place of a job that has ended, but whose thread has not, to the next one."""
        with self._lock:
            if job.id in self._running:
                self._lost += 1
                self._give_up(job)

    def _give_up(self, job: Job, returned: bool = False) -> None:
        with self._lock:
            if self._running.pop(job.id, None) is None and returned:
                # Its place was taken, and now its thread has ended all the same.
                self._lost -= 1
            self._fill()

    def _forget(self) -> None:
        ended = [name for name, job in self._jobs.items() if job.state.is_end]
        for name in ended[: max(0, len(ended) - self._kept)]:
            del self._jobs[name]
        there = {job.client for job in self._jobs.values()}
        self._served = {client: turn for client, turn in self._served.items() if client in there}

    @staticmethod
    def _after(seconds: float, call: Callable[[Job], None], job: Job) -> threading.Timer:
        timer = threading.Timer(seconds, call, (job,))
        timer.daemon = True
        timer.start()
        return timer


def _stop_timer(timer: threading.Timer, job: Job) -> None:
    if job.state.is_end:
        timer.cancel()
