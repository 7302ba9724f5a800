"""Jobs: turns, stopping, time limits, and what one that does not stop costs the others."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator

import dspy
import pytest

from videohv.app.job import Asked, Job, State
from videohv.app.jobs import Jobs, Refused
from videohv.errors import InputError
from videohv.modules.recorder import Event, EventKind, Progress, listeners
from videohv.types import Answer, Outcome, Question, Trace

ASKED = Asked(question="what?")
DONE = Trace(
    question=Question(text="what?", options=("a", "b")),
    outcome=Outcome.ANSWERED,
    answer=Answer(option_index=0),
)


class Gate:
    """Work that lasts until it is let go, and notes the order in which it begins."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.opened = threading.Event()

    def work(self, name: str) -> Callable[[], Trace]:
        def run() -> Trace:
            self.begun.append(name)
            self.opened.wait(20)
            return DONE

        return run


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.opened.set()


def eventually(condition: Callable[[], bool]) -> None:
    until = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.005)


def tell(number: int, kind: EventKind = EventKind.WARNING) -> None:
    for listener in listeners():
        listener(
            Event(
                kind=kind,
                value=Progress(step="captions", done=number, total=9) if kind is EventKind.PROGRESS else f"{number}",
            )
        )


def test_a_job_runs_to_its_end_and_is_told_of(gate: Gate) -> None:
    ended: list[Job] = []
    jobs = Jobs(on_end=ended.append)
    job = jobs.submit(ASKED, gate.work("one"))
    seen: list[State] = []
    job.watch(lambda: seen.append(job.state))
    gate.opened.set()
    assert job.wait(10)
    assert (job.state, job.trace, job.error) == (State.ANSWERED, DONE, "")
    assert seen[-1] is State.ANSWERED
    eventually(lambda: ended == [job])


def test_steps_are_numbered_and_progress_is_not_piled_up() -> None:
    def work() -> Trace:
        tell(1)
        for i in range(5):
            tell(i, EventKind.PROGRESS)
        tell(2)
        return DONE

    job = Jobs().submit(ASKED, work)
    assert job.wait(10)
    steps = job.steps()
    assert [(step.number, step.event.kind) for step in steps] == [(1, "warning"), (6, "progress"), (7, "warning")]
    assert [step.number for step in job.steps(after=6)] == [7]


def test_what_the_program_raises_is_a_failure_and_no_secret() -> None:
    def broken() -> Trace:
        raise KeyError("sk-secret")

    def refused() -> Trace:
        raise InputError("the options are empty")

    jobs = Jobs()
    first, second = jobs.submit(ASKED, broken), jobs.submit(ASKED, refused)
    assert first.wait(10)
    assert second.wait(10)
    assert (first.state, second.state) == (State.FAILED, State.FAILED)
    assert "KeyError" in first.error
    assert "sk-secret" not in first.error
    assert second.error == "the options are empty"


def test_settings_of_the_place_where_it_was_made_hold_in_jobs() -> None:
    found: list[object] = []

    def work() -> Trace:
        found.append(dspy.settings.get("marked"))
        return DONE

    with dspy.context(marked="here"):
        jobs = Jobs()
    assert jobs.submit(ASKED, work).wait(10)
    assert found == ["here"]


def test_one_client_cannot_hold_up_another(gate: Gate) -> None:
    jobs = Jobs(at_once=2)
    many = [jobs.submit(ASKED, gate.work(f"greedy {i}"), "greedy") for i in range(4)]
    other = jobs.submit(ASKED, gate.work("modest"), "modest")
    eventually(lambda: len(gate.begun) == 2)
    assert sorted(gate.begun) == ["greedy 0", "modest"]
    assert [jobs.place(job) for job in (*many, other)] == [0, 1, 2, 3, 0]


def test_with_one_place_clients_take_turns(gate: Gate) -> None:
    jobs = Jobs(at_once=1)
    last = [
        jobs.submit(ASKED, gate.work(name), client)
        for name, client in (("a1", "a"), ("a2", "a"), ("a3", "a"), ("b1", "b"))
    ]
    gate.opened.set()
    assert all(job.wait(10) for job in last)
    assert gate.begun == ["a1", "b1", "a2", "a3"]


def test_queues_are_bounded(gate: Gate) -> None:
    jobs = Jobs(at_once=1, waiting=3, waiting_of_one=2)
    jobs.submit(ASKED, gate.work("0"), "a")
    for _ in range(2):
        jobs.submit(ASKED, gate.work("1"), "a")
    with pytest.raises(Refused, match="2 questions of yours"):
        jobs.submit(ASKED, gate.work("2"), "a")
    jobs.submit(ASKED, gate.work("3"))
    with pytest.raises(Refused, match="3 questions are waiting"):
        jobs.submit(ASKED, gate.work("4"), "b")


def test_stopping_takes_effect_at_the_next_step() -> None:
    reached, go_on, after = threading.Event(), threading.Event(), []

    def work() -> Trace:
        reached.set()
        go_on.wait(10)
        tell(1)
        after.append("went on")
        return DONE

    ended: list[Job] = []
    jobs = Jobs(on_end=ended.append)
    job = jobs.submit(ASKED, work)
    assert reached.wait(10)
    assert jobs.cancel(job)
    assert job.state is State.CANCELLED
    go_on.set()
    eventually(lambda: not [t for t in threading.enumerate() if t.name == "videohv-job" and t.is_alive()])
    assert not after
    assert not jobs.cancel(job)
    assert ended == [job]


def test_a_waiting_job_that_is_stopped_never_begins(gate: Gate) -> None:
    jobs = Jobs(at_once=1)
    first, second = jobs.submit(ASKED, gate.work("1")), jobs.submit(ASKED, gate.work("2"))
    jobs.cancel(second)
    gate.opened.set()
    assert first.wait(10)
    assert gate.begun == ["1"]


def test_a_runaway_is_stopped_at_its_time_and_its_place_goes_to_the_next(gate: Gate) -> None:
    jobs = Jobs(at_once=1, seconds=0.2, grace=0.1)
    stuck = jobs.submit(ASKED, gate.work("stuck"))
    following = jobs.submit(ASKED, lambda: DONE)
    assert following.wait(10)
    assert (stuck.state, following.state) == (State.FAILED, State.ANSWERED)
    assert "ran longer than" in stuck.error
    gate.opened.set()
    # Its thread has ended late: the place that it had lost is not freed a second time.
    assert jobs.submit(ASKED, lambda: DONE).wait(10)
    assert stuck.state is State.FAILED


def test_with_too_many_runaways_nothing_more_is_begun(gate: Gate) -> None:
    jobs = Jobs(at_once=1, grace=0.0)
    for _ in range(8):
        job = jobs.submit(ASKED, gate.work("stuck"))
        eventually(lambda job=job: job.state is State.RUNNING)  # type: ignore[misc]
        jobs.cancel(job)
        eventually(lambda: not jobs._running)
    with pytest.raises(Refused, match="did not stop"):
        jobs.submit(ASKED, gate.work("one more"))


def test_closing_stops_everything(gate: Gate) -> None:
    jobs = Jobs(at_once=1)
    made = [jobs.submit(ASKED, gate.work(str(i))) for i in range(3)]
    jobs.close()
    assert {job.state for job in made} == {State.CANCELLED}
    with pytest.raises(Refused, match="being closed"):
        jobs.submit(ASKED, gate.work("late"))


def test_ended_jobs_are_forgotten_one_day() -> None:
    jobs = Jobs(kept=3)
    made = []
    for _ in range(6):
        made.append(jobs.submit(ASKED, lambda: DONE))
        assert made[-1].wait(10)
    assert [job.id for job in jobs.all()][:3] == [job.id for job in reversed(made[3:])]
    assert jobs.get(made[0].id) is None
