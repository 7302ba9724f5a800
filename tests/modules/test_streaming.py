from __future__ import annotations

import asyncio
import threading
import time
from typing import Any

import dspy
import pytest

from tests.support.engine import fake_lm
from videohv import Stop, VideoHV, listening
from videohv.errors import Cancelled
from videohv.modules.recorder import Event, EventKind

ASKED: dict[str, Any] = {"question": "q", "options": ["a", "b"], "captions": ["x", "y", "z", "x"]}
STEPS = ["captions", "summary", "hypotheses", "warning", "windows", "evidence", "check", "answer"]


def test_a_stream_yields_each_step_and_last_the_prediction() -> None:
    lm, _ = fake_lm()
    with dspy.context(lm=lm):
        *events, prediction = VideoHV().stream(**ASKED)
    assert sorted(e.kind for e in events) == sorted(STEPS)
    assert [e.kind for e in events][:3] == STEPS[:3]
    assert isinstance(prediction, dspy.Prediction)
    assert prediction.answer_index == 0
    check = next(e for e in events if e.kind is EventKind.CHECK)
    assert (check.round, check.look) == (1, 1)
    assert check.value == prediction.trace.rounds[0].looks[0].check


def test_events_survive_json() -> None:
    lm, _ = fake_lm()
    with dspy.context(lm=lm):
        *events, _ = VideoHV().stream(**ASKED)
    for event in events:
        assert Event.model_validate_json(event.model_dump_json()) == event


def test_closing_a_stream_stops_the_question() -> None:
    go_on = threading.Event()

    def slow(seen: object) -> dict[str, Any]:
        go_on.wait(5)
        return {"summary": "x"}

    lm, engine = fake_lm({"summary": slow})
    with dspy.context(lm=lm):
        stream = VideoHV().stream(**ASKED)
        assert next(stream).kind is EventKind.CAPTIONS
        threading.Timer(0.2, go_on.set).start()
        stream.close()
    assert "answer" not in engine.roles
    assert not [t for t in threading.enumerate() if t.name == "videohv-question"]


def test_an_error_of_the_program_is_raised_by_its_stream() -> None:
    lm, _ = fake_lm()
    with dspy.context(lm=lm), pytest.raises(ValueError, match="2 to 26"):
        list(VideoHV().stream(question="q", options=["a"], captions=["x"]))


def test_a_listener_can_stop_a_question() -> None:
    lm, engine = fake_lm()
    stop = Stop()
    stop.set()
    with dspy.context(lm=lm), listening(stop), pytest.raises(Cancelled):
        VideoHV()(**ASKED)
    assert "answer" not in engine.roles


def test_the_same_answer_awaited_streamed_and_called() -> None:
    lm, _ = fake_lm()

    async def both() -> tuple[dspy.Prediction, list[Any]]:
        program = VideoHV()
        awaited = await program.acall(**ASKED)
        return awaited, [item async for item in program.astream(**ASKED)]

    with dspy.context(lm=lm):
        called = VideoHV()(**ASKED)
        awaited, streamed = asyncio.run(both())
    assert awaited.trace.rounds == called.trace.rounds == streamed[-1].trace.rounds
    assert [u.calls for u in awaited.trace.usage] == [u.calls for u in called.trace.usage]


def test_cancelling_an_awaited_question_stops_it() -> None:
    began, go_on = threading.Event(), threading.Event()

    def slow(seen: object) -> dict[str, Any]:
        began.set()
        go_on.wait(5)
        return {"summary": "x"}

    lm, engine = fake_lm({"summary": slow})

    async def cancelled() -> None:
        task = asyncio.create_task(VideoHV().acall(**ASKED))
        await asyncio.to_thread(began.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    with dspy.context(lm=lm):
        asyncio.run(cancelled())
    assert "answer" not in engine.roles


def test_cancelling_an_asynchronous_stream_stops_it_too() -> None:
    began, go_on = threading.Event(), threading.Event()

    def slow(seen: object) -> dict[str, Any]:
        began.set()
        go_on.wait(5)
        return {"summary": "x"}

    lm, engine = fake_lm({"summary": slow})

    async def cancelled() -> None:
        async def consume() -> None:
            async for _ in VideoHV().astream(**ASKED):
                pass

        task = asyncio.create_task(consume())
        await asyncio.to_thread(began.wait, 5)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        go_on.set()

    with dspy.context(lm=lm):
        asyncio.run(cancelled())
    assert engine.roles == ["summary"]


@pytest.mark.parametrize("ending", ["closed", "hopeless"])
def test_calls_that_wait_are_not_made_when_nobody_wants_them(ending: str) -> None:
    from dspy.lm15 import AuthError

    first = threading.Event()

    def slow(seen: Any) -> dict[str, Any]:
        if ending == "hopeless":
            raise AuthError("no")
        first.set()
        time.sleep(0.05)
        return {"summary": "x"}

    lm, engine = fake_lm({"summary": slow})
    captions = [f"moment {i}" for i in range(400)]
    with dspy.context(lm=lm):
        program = VideoHV(stretches=40, workers=2)
        stream = program.stream(question="q", options=["a", "b"], captions=captions)
        assert next(stream).kind is EventKind.CAPTIONS
        if ending == "closed":
            first.wait(5)
            stream.close()
        else:
            *_, prediction = stream
            assert prediction.outcome == "lm_failed"
    assert len(engine.requests) < 10
