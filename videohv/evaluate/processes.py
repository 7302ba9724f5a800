"""Workers that are processes of this machine, each with threads of its own.

One process can keep about a hundred quick LM calls a second going before Python's lock is what it waits for. The
parent alone writes the journal; children get questions and give rows and traces back through a pipe. A child whose
parent is gone ends at once.
"""

from __future__ import annotations

import multiprocessing
import os
import pickle
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Protocol

from videohv.errors import VideoHVError
from videohv.evaluate.jobs import Answerer, Done, Job
from videohv.evaluate.threads import Pool


class Setup(Protocol):
    """What a child needs to answer as the run does. It is pickled, so it holds names and paths and no models."""

    def open(self, processes: int = 1) -> AbstractContextManager[Answerer]:
        """Load program and models inside a child that is one of so many; a failure is raised as `VideoHVError`."""
        ...


class ProcessWorkers:
    """Works off jobs in child processes.

    Args:
        setup: Opened once in each child.
        processes: How many children.
        count: Questions at once, over all children.
    """

    def __init__(self, setup: Setup, processes: int, count: int) -> None:
        self._setup = setup
        self._shares = [count // processes + (i < count % processes) for i in range(processes)]

    def run(self, jobs: Iterable[Job]) -> Iterator[Done]:
        """As `Workers.run`.

        Raises:
            VideoHVError: If a child could not open the setup, or died. What it had not finished is not reported.
        """
        source = iter(jobs)
        job = next(source, None)
        if job is None:
            return
        children = [_Child(self._setup, share, len(self._shares)) for share in self._shares if share]
        try:
            while True:
                while job is not None and (free := min(children, key=_Child.load)).load() < 1.0:
                    free.send(job)
                    job = next(source, None)
                busy = [child.connection for child in children if child.running]
                if not busy:
                    return
                for connection in wait(busy):
                    yield next(child for child in children if child.connection is connection).receive()
        finally:
            for child in children:
                child.connection.close()
            for child in children:
                child.end()


class _Child:
    """The parent's end of one child."""

    def __init__(self, setup: Setup, count: int, processes: int) -> None:
        # A fresh interpreter: threads and locks of this one must not be copied.
        context = multiprocessing.get_context("spawn")
        self.connection, theirs = context.Pipe()
        self.count = count
        self.running: dict[tuple[str, int], Job] = {}
        self.process: BaseProcess = context.Process(
            target=_serve, args=(setup, theirs, count, processes), name="videohv-eval", daemon=True
        )
        self.process.start()
        theirs.close()

    def load(self) -> float:
        return len(self.running) / self.count

    def send(self, job: Job) -> None:
        self.running[job.question.id, job.order] = job
        try:
            self.connection.send(job)
        except OSError as error:
            raise self._died() from error

    def receive(self) -> Done:
        try:
            done = self.connection.recv()
        except (EOFError, OSError, pickle.UnpicklingError) as error:
            raise self._died() from error
        if isinstance(done, VideoHVError):
            raise done
        assert isinstance(done, Done)
        del self.running[done.job.question.id, done.job.order]
        return done

    def _died(self) -> VideoHVError:
        self.process.join(timeout=5)
        return VideoHVError(
            f"a worker process died (exit code {self.process.exitcode}) with {len(self.running)} questions under way; "
            "what is finished is kept: run the same command again"
        )

    def end(self) -> None:
        """Waits for it a little; its connection is closed."""
        self.process.join(timeout=1)
        if self.process.is_alive():
            self.process.kill()


def _serve(setup: Setup, connection: Connection, count: int, processes: int) -> None:
    """A child: answer what comes through the pipe until it is closed."""
    # Ctrl-C goes to the whole group; the parent decides, and its end of the pipe tells.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sending = threading.Lock()

    def send(item: Done | VideoHVError) -> None:
        with sending:
            try:
                connection.send(item)
            except OSError:
                os._exit(0)

    try:
        with setup.open(processes) as answer:
            pool = Pool(answer, count, send)
            while True:
                try:
                    job = connection.recv()
                except (EOFError, OSError):
                    # At once: whatever threads still wait for, nobody is there to take it, and a run is not to wait
                    # while models and connections are put away.
                    os._exit(0)
                pool.submit(job)
    except VideoHVError as error:
        send(VideoHVError(str(error)))
    except Exception as error:
        send(VideoHVError(f"a worker process could not begin: {type(error).__name__}: {error}"))
