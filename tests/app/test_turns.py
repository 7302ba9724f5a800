"""Jobs and pages over a longer time: turns, hanging listeners, and pages that come back."""

from __future__ import annotations

import threading

from tests.app.test_jobs import ASKED, DONE, Gate, eventually, gate, tell
from videohv.app.job import Job, State
from videohv.app.jobs import Jobs
from videohv.app.presence import Presence
from videohv.modules.recorder import Event, listening
from videohv.types import Trace

__all__ = ["gate"]


def test_whoever_asked_much_before_is_not_held_up_by_whoever_is_new(gate: Gate) -> None:
    jobs = Jobs(at_once=1)
    for _ in range(5):
        assert jobs.submit(ASKED, lambda: DONE, "old").wait(10)
    first = jobs.submit(ASKED, gate.work("held"), "third")
    made = [jobs.submit(ASKED, gate.work(f"{who} {i}"), who) for i in range(3) for who in ("old", "new")]
    gate.opened.set()
    assert all(job.wait(10) for job in (first, *made))
    assert gate.begun == ["held", "new 0", "old 0", "new 1", "old 1", "new 2", "old 2"]


def test_those_without_a_name_leave_a_place_too(gate: Gate) -> None:
    jobs = Jobs(at_once=2)
    for i in range(3):
        jobs.submit(ASKED, gate.work(f"script {i}"))
    jobs.submit(ASKED, gate.work("page"), "page")
    eventually(lambda: len(gate.begun) == 2)
    assert sorted(gate.begun) == ["page", "script 0"]


def test_a_listener_that_hangs_is_as_good_as_a_runaway(gate: Gate) -> None:
    hanging = threading.Event()

    def hang(event: Event) -> None:
        if not hanging.is_set():
            hanging.set()
            gate.opened.wait(20)

    def work() -> Trace:
        tell(1)
        return DONE

    with listening(hang):
        jobs = Jobs(at_once=1, seconds=0.3, grace=0.1)
    stuck = jobs.submit(ASKED, work)
    assert hanging.wait(10)
    following = jobs.submit(ASKED, work)
    assert following.wait(10)
    assert (stuck.state, following.state) == (State.FAILED, State.ANSWERED)


def test_each_end_is_told_once_whoever_brings_it_about(gate: Gate) -> None:
    ended: list[Job] = []
    jobs = Jobs(at_once=1, seconds=0.2, grace=0.05, on_end=ended.append)
    late = jobs.submit(ASKED, gate.work("late"))
    waiting = jobs.submit(ASKED, gate.work("waiting"))
    assert jobs.cancel(waiting)
    assert late.wait(10)
    gate.opened.set()
    eventually(lambda: not [t for t in threading.enumerate() if t.name == "videohv-job"])
    assert not jobs.cancel(late)
    assert [job.id for job in ended] == [waiting.id, late.id]


def test_what_brings_down_a_thread_ends_the_job() -> None:
    def leave() -> Trace:
        raise SystemExit(3)

    jobs = Jobs(at_once=1)
    gone, following = jobs.submit(ASKED, leave), jobs.submit(ASKED, lambda: DONE)
    assert following.wait(10)
    assert (gone.state, "SystemExit" in gone.error) == (State.FAILED, True)


def test_whoever_waits_is_told_of_a_new_place(gate: Gate) -> None:
    jobs = Jobs(at_once=1)
    _, second, third = (jobs.submit(ASKED, gate.work(name)) for name in "123")
    places: list[int] = []
    third.watch(lambda: places.append(jobs.place(third)))
    jobs.cancel(second)
    assert places == [1]


def test_a_page_that_came_back_has_all_of_the_time_anew() -> None:
    gone: list[str] = []
    presence = Presence(gone.append, away=60)
    with presence.page("tab"):
        pass
    with presence.page("tab"):
        pass
    presence._look("tab", 1)
    assert not gone
    presence._look("tab", 2)
    assert gone == ["tab"]
    with presence.page("two"), presence.page("two"):
        pass
    with presence.page("two"):
        presence._look("two", 3)
    assert gone == ["tab"]
