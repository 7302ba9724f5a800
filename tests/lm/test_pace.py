from __future__ import annotations

import contextvars
import json
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import dspy
import pytest

from tests.support.engine import fake_lm
from tests.support.faults import Quota
from tests.support.server import FakeServer
from videohv.errors import InputError
from videohv.lm import make_lm, pace
from videohv.lm.adapter import json_adapter
from videohv.lm.call import Caller
from videohv.lm.pace import Gate, gate_for, server_of
from videohv.lm.usage import Ledger
from videohv.modules.parallel import side_by_side


@pytest.fixture(autouse=True)
def nothing_learned() -> Iterator[None]:
    pace.forget()
    yield
    pace.forget()
    pace.limit(None)


def test_servers_are_told_apart_by_provider_and_address_and_by_nothing_else() -> None:
    here = "openai-compatible/{}?api_base=http://127.0.0.1:9/v1"
    a, b = make_lm(here.format("a")), make_lm(here.format("b") + "&temperature=1")
    other = make_lm("openai-compatible/a?api_base=http://127.0.0.1:10/v1")
    assert server_of(a) == server_of(b) != server_of(other)
    assert "secret" not in server_of(dspy.LM("openai/m", api_base="http://user:secret@127.0.0.1:9/v1"))
    assert gate_for(a) is gate_for(b) is gate_for(a.copy(temperature=0.5))
    assert gate_for(a) is not gate_for(other)
    assert server_of(dspy.LM("openai/gpt-4o", api_key="k")) == "openai"
    assert server_of(dspy.LM("openai/gpt-4o", api_base="http://x/v1")) == "openai at http://x/v1"
    (one, _), (two, _) = fake_lm(), fake_lm()
    assert server_of(one) == server_of(one.copy()) != server_of(two)


def test_the_cap_holds_and_everybody_gets_through() -> None:
    pace.limit(3)
    gate, lock, inside, most = Gate(), threading.Lock(), 0, 0

    def work(_: int) -> None:
        nonlocal inside, most
        with gate.slot() as slot:
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.001)
            with lock:
                inside -= 1
            slot.answered()

    with ThreadPoolExecutor(24) as pool:
        list(pool.map(work, range(200)))
    assert (most, inside, gate.pacer.in_flight) == (3, 0, 0)


@pytest.mark.parametrize("calls", [0, -1])
def test_a_cap_is_at_least_one(calls: int) -> None:
    with pytest.raises(InputError, match="at least 1"):
        pace.limit(calls)


def test_who_waits_is_served_in_the_order_of_arrival() -> None:
    pace.limit(1)
    gate, served, arrived = Gate(), [], threading.Semaphore(0)

    def work(number: int) -> None:
        arrived.release()
        with gate.slot():
            served.append(number)

    with gate.slot():
        threads = []
        for number in range(8):
            threads.append(threading.Thread(target=work, args=(number,)))
            threads[-1].start()
            arrived.acquire()
            while len(gate._queue) <= number:
                time.sleep(0.001)
    for thread in threads:
        thread.join()
    assert served == list(range(8))


def test_a_wait_can_be_ended_and_leaves_no_gap() -> None:
    pace.limit(1)
    gate, stop = Gate(), threading.Event()

    def check() -> None:
        if stop.is_set():
            raise KeyError("stopped")

    def work() -> str:
        with gate.slot(check):
            return "through"

    with ThreadPoolExecutor(2) as pool:
        with gate.slot():
            waiting = pool.submit(work)
            while not gate._queue:
                time.sleep(0.001)
            stop.set()
            with pytest.raises(KeyError):
                waiting.result()
            assert not gate._queue
            stop.clear()
            second = pool.submit(work)
        assert second.result() == "through"
    assert gate.pacer.in_flight == 0


def test_a_long_wait_is_told_once() -> None:
    times = iter([0.0, *[pace.LONG + n for n in range(1, 20)]])
    gate = Gate(clock=lambda: next(times))
    gate.pacer._held_until = pace.LONG + 4
    told: list[float] = []
    with gate.slot(tell=told.append):
        pass
    assert told == [pace.LONG + 1]


def test_a_call_that_fails_gives_its_place_back() -> None:
    gate = Gate()
    with pytest.raises(ValueError, match="broken"), gate.slot():
        raise ValueError("broken")
    assert gate.pacer.in_flight == 0


def test_calls_within_side_by_side_within_side_by_side_do_not_block_each_other() -> None:
    pace.limit(1)
    lm, engine = fake_lm({"summary": {"summary": "x"}})
    predictor = dspy.Predict("question -> summary")

    def call(number: int) -> str:
        return str(predictor(lm=Caller(lm, "step", Ledger()).lm(), question=str(number)).summary)

    def outer(number: int) -> int:
        return len(side_by_side(call, range(number * 10, number * 10 + 4), 4))

    with dspy.context(adapter=json_adapter()):
        assert side_by_side(outer, range(4), 4) == [4] * 4
    assert len(engine.requests) == 16


def test_against_a_quota_everything_is_answered_and_little_refused() -> None:
    """Calls in 32 threads at a server that takes a hundred a second and asks for whole seconds of rest."""
    quota, calls = Quota(100.0, 30.0), 250
    with FakeServer(lambda request: json.dumps({"answer": "yes"}), quota=quota) as server:
        lm = make_lm(server.spec(retries=3)).copy(cache=False)
        predictor, ledger = dspy.Predict("question -> answer"), Ledger()

        def call(number: int) -> str:
            return str(predictor(lm=Caller(lm, "step", ledger).lm(), question=str(number)).answer)

        with (
            dspy.context(adapter=json_adapter(), disable_history=True),
            ThreadPoolExecutor(32) as pool,
        ):
            jobs = [pool.submit(contextvars.copy_context().run, call, number) for number in range(calls)]
            answers = [job.result() for job in jobs]
        refused, seen = server.refused, len(server.requests)
    assert answers == ["yes"] * calls
    assert seen == calls + refused
    assert refused <= 32 + 0.2 * calls
    total = ledger.total()
    assert (total.calls, total.failed_calls) == (seen, refused)
