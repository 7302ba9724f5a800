"""Workers that are threads of this process."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Callable, Iterable, Iterator

from videohv.errors import Cancelled
from videohv.evaluate.jobs import Answerer, Done, Job, work_off
from videohv.modules.recorder import Stop, listening


class Pool:
    """Threads that work off jobs and call back with each one that has ended.

    They run in copies of the context in which the pool was made, so that `dspy.context` holds in them.

    Args:
        answer: Asks one question.
        count: Threads at most; they are started as jobs come.
        on_done: Called from the thread that did the job.
    """

    def __init__(self, answer: Answerer, count: int, on_done: Callable[[Done], None]) -> None:
        self._answer, self._count, self._on_done = answer, count, on_done
        self._waiting: queue.SimpleQueue[Job | None] = queue.SimpleQueue()
        self._stop = Stop()
        self._threads: list[threading.Thread] = []

    def submit(self, job: Job) -> None:
        """Have a job done."""
        self._waiting.put(job)
        if len(self._threads) < self._count:
            context = contextvars.copy_context()
            # Daemons: an interrupted run must not wait for replies that nobody wants any longer.
            thread = threading.Thread(target=context.run, args=(self._work,), name="videohv-eval", daemon=True)
            self._threads.append(thread)
            thread.start()

    def close(self) -> None:
        """Begin nothing more; what runs ends at its next step and is not reported."""
        self._stop.set()
        for _ in self._threads:
            self._waiting.put(None)

    def _work(self) -> None:
        with listening(self._stop):
            while (job := self._waiting.get()) is not None:
                try:
                    self._on_done(work_off(job, self._answer))
                except Cancelled:
                    return


class ThreadWorkers:
    """Works off jobs in threads of this process.

    Args:
        answer: Asks one question.
        count: Questions at once.
    """

    def __init__(self, answer: Answerer, count: int) -> None:
        self._answer, self._count = answer, count

    def run(self, jobs: Iterable[Job]) -> Iterator[Done]:
        """As `Workers.run`."""
        ended: queue.SimpleQueue[Done] = queue.SimpleQueue()
        pool = Pool(self._answer, self._count, ended.put)
        running = 0
        try:
            for job in jobs:
                pool.submit(job)
                running += 1
                if running == self._count:
                    yield ended.get()
                    running -= 1
            for _ in range(running):
                yield ended.get()
        finally:
            pool.close()
