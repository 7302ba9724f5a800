"""One call against a real HTTP server: what is tried again and what is not, and what everybody gets to see of it."""

from __future__ import annotations

import contextlib
import inspect
import itertools
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import dspy
import pytest
from dspy.clients import execution
from dspy.utils.callback import BaseCallback

from tests.support.engine import ended, fake_lm
from tests.support.server import Failure, FakeServer, Fault, Request
from videohv.lm import make_lm, pace
from videohv.lm.adapter import json_adapter
from videohv.lm.budget import Budget, spending
from videohv.lm.call import Caller
from videohv.lm.faults import EmptyReply, Patience, patient
from videohv.lm.reply import Finish
from videohv.lm.usage import Ledger
from videohv.types import RoleUsage

OK = '{"summary": "x"}'
PREDICT = dspy.Predict("question -> summary")
HASTY = Patience(first=0.01, most=0.02)


@pytest.fixture(autouse=True)
def nothing_learned() -> Iterator[None]:
    pace.forget()
    yield
    pace.forget()


def serve(*script: str | Fault) -> FakeServer:
    """A server that plays a script; its last line stays."""
    lines = itertools.chain(script, itertools.repeat(script[-1]))
    lock = threading.Lock()

    def answer(request: Request) -> str | Fault:
        with lock:
            return next(lines)

    return FakeServer(answer)


class Asked:
    """A question to a server, with all that can be seen of it."""

    def __init__(self, server: FakeServer, retries: int = 3, cache: bool = False, **options: Any) -> None:
        self.ledger = Ledger()
        self.told: list[str] = []
        self.lm = make_lm(server.spec(retries=retries, timeout=2, **options)).copy(cache=cache)
        self.caller = Caller(self.lm, "step", self.ledger, tell=self.told.append)

    def __call__(self, question: str = "q") -> str:
        with dspy.context(adapter=json_adapter()), patient(HASTY):
            return str(PREDICT(lm=self.caller.lm(), question=question).summary)

    @property
    def booked(self) -> RoleUsage:
        return self.ledger.total()


PASSING = [
    Fault(Failure.SERVER_ERROR),
    Fault(Failure.SERVER_ERROR, status=502),
    Fault(Failure.SERVER_ERROR, status=504),
    Fault(Failure.DROP),
    Fault(Failure.GARBAGE),
    Fault(Failure.TRUNCATED),
    Fault(Failure.EMPTY),
    Fault(Failure.RATE_LIMIT),
]


@pytest.mark.parametrize("fault", PASSING, ids=lambda f: f"{f.kind}-{f.status}")
def test_what_passes_is_tried_again(fault: Fault) -> None:
    with serve(fault, fault, OK) as server:
        asked = Asked(server)
        assert asked() == "x"
        assert len(server.requests) == 3
        assert len({str(request.body) for request in server.requests}) == 1, "in the same words"
        assert (asked.booked.calls, asked.booked.failed_calls) == (3, 2)
        assert asked.booked.prompt_tokens == server.prompt_tokens
        assert asked.booked.completion_tokens == server.completion_tokens


@pytest.mark.parametrize("fault", [f for f in PASSING if f.kind is not Failure.RATE_LIMIT], ids=lambda f: f.kind)
@pytest.mark.parametrize("retries", [0, 2])
def test_as_often_as_the_lm_says(fault: Fault, retries: int) -> None:
    with serve(fault) as server:
        with pytest.raises((dspy.LMError, EmptyReply)):
            Asked(server, retries=retries)()
        assert len(server.requests) == retries + 1


@pytest.mark.parametrize(("retries", "requests"), [(0, 1), (1, 6)])
def test_rate_limits_are_tried_more_often(retries: int, requests: int) -> None:
    with serve(Fault(Failure.RATE_LIMIT)) as server:
        with pytest.raises(dspy.LMRateLimitError):
            Asked(server, retries=retries)()
        assert len(server.requests) == requests


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (Fault(Failure.SERVER_ERROR, status=401), dspy.LMAuthError),
        (Fault(Failure.SERVER_ERROR, status=402), dspy.LMBillingError),
        (Fault(Failure.SERVER_ERROR, status=400), dspy.LMInvalidRequestError),
        (Fault(Failure.TOO_LONG), dspy.ContextWindowExceededError),
    ],
    ids=["key", "money", "request", "length"],
)
def test_what_does_not_pass_is_not_tried_again(fault: Fault, error: type[Exception]) -> None:
    with serve(fault) as server:
        with pytest.raises(error):
            Asked(server)()
        assert len(server.requests) == 1


def test_a_hang_ends_at_the_time_limit_and_is_tried_again() -> None:
    with serve(Fault(Failure.HANG, 30), OK) as server:
        asked = Asked(server)
        asked.lm.kwargs["timeout"] = 0.3
        assert asked() == "x"
        assert (asked.booked.calls, asked.booked.failed_calls) == (2, 1)


def test_retry_after_is_waited_for() -> None:
    with serve(Fault(Failure.RATE_LIMIT, 1), OK) as server:
        assert Asked(server)() == "x"
        first, second = (request.time for request in server.requests)
        assert second - first >= 1.0


def test_nobody_else_asks_the_server_meanwhile() -> None:
    with serve(Fault(Failure.RATE_LIMIT, 1), OK) as server:
        one, other = Asked(server), Asked(server)
        thread = threading.Thread(target=one)
        thread.start()
        while not server.requests:
            time.sleep(0.01)
        time.sleep(0.1)
        other("another question")
        thread.join()
        times = [request.time for request in server.requests]
        assert len(times) == 3
        assert times[1] - times[0] >= 1.0


@pytest.mark.parametrize("fault", [Failure.RATE_LIMIT, Failure.SERVER_ERROR])
def test_a_server_that_asks_for_too_much_patience_is_given_up_at_once(fault: Failure) -> None:
    with serve(Fault(fault, 3_600)) as server:
        with pytest.raises(dspy.LMError) as failed:
            Asked(server)()
        assert len(server.requests) == 1
        assert "asks to be left alone for 3600 s; 120 s are waited at most" in failed.value.message
        with pytest.raises(dspy.LMError):
            Asked(server)()
        assert len(server.requests) == 2, "and the next one finds no gate closed for an hour"


def test_a_wait_ends_when_the_question_is_cancelled() -> None:
    stop = threading.Event()

    def check() -> None:
        if stop.is_set():
            raise KeyError("stopped")

    with serve(Fault(Failure.RATE_LIMIT, 60)) as server:
        lm = make_lm(server.spec(retries=3)).copy(cache=False)
        caller = Caller(lm, "step", Ledger(), check=check)
        threading.Timer(0.2, stop.set).start()
        began = time.monotonic()
        with dspy.context(adapter=json_adapter()), pytest.raises(KeyError):
            PREDICT(lm=caller.lm(), question="q")
        assert time.monotonic() - began < 30
        assert pace.gate_for(lm).pacer.in_flight == 0


def test_a_long_wait_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("videohv.lm.call.LONG", 0.05)
    monkeypatch.setattr(pace, "LONG", 0.05)
    with serve(Fault(Failure.SERVER_ERROR, 0.1), Fault(Failure.RATE_LIMIT, 1), OK) as server:
        asked = Asked(server)
        assert asked() == "x"
    failed, limited = asked.told
    assert "failed (LMServerError)" in failed
    assert server.address in limited
    assert "takes no more calls for now" in limited


def test_an_empty_reply_is_kept_by_no_cache() -> None:
    with serve(Fault(Failure.EMPTY), OK) as server:
        asked = Asked(server, retries=0, cache=True)
        with pytest.raises(EmptyReply):
            asked()
        assert asked() == "x"
        assert asked() == "x"
        assert len(server.requests) == 2


def test_an_empty_reply_that_dspy_has_kept_is_asked_for_again() -> None:
    with serve(Fault(Failure.EMPTY), OK) as server:
        asked = Asked(server, retries=0, cache=True)
        with dspy.context(adapter=json_adapter()), pytest.raises(dspy.AdapterParseError):
            PREDICT(lm=asked.lm, question="q")
        assert asked() == "x"
        assert len(server.requests) == 2


def test_a_reply_out_of_the_cache_is_booked_as_such_and_seen_whole() -> None:
    with serve(Fault(Failure.CUT, text=OK), OK) as server:
        first = Asked(server, cache=True)
        with pytest.raises(dspy.AdapterParseError):
            first()
        assert first.caller.reply is not None
        assert first.caller.reply.finish is Finish.CUT
        again = Asked(server, cache=True)
        with pytest.raises(dspy.AdapterParseError):
            again()
        assert again.caller.reply == first.caller.reply
        assert (again.booked.calls, again.booked.cached_calls, again.booked.prompt_tokens) == (0, 1, 0)
        assert len(server.requests) == 1


def test_replies_are_shared_with_dspy_itself() -> None:
    with serve(OK) as server:
        asked = Asked(server, cache=True)
        with dspy.context(adapter=json_adapter()):
            PREDICT(lm=asked.lm, question="one")
        asked("one")
        asked("two")
        with dspy.context(adapter=json_adapter()):
            PREDICT(lm=asked.lm, question="two")
        assert len(server.requests) == 2


def test_turns_follow_the_prompt() -> None:
    with serve(OK) as server:
        asked = Asked(server)
        turns = [{"role": "assistant", "content": "bad"}, {"role": "user", "content": "again"}]
        with dspy.context(adapter=json_adapter()):
            PREDICT(lm=asked.caller.lm(turns), question="q")
        (request,) = server.requests
    assert [message["role"] for message in request.body["messages"]] == ["system", "user", "assistant", "user"]
    assert request.body["messages"][2:] == turns


def test_a_missing_key_is_no_call(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    ledger = Ledger()
    with dspy.context(adapter=json_adapter()), pytest.raises(dspy.LMNotConfiguredError):
        PREDICT(lm=Caller(dspy.LM("openai/gpt-4o", cache=False), "step", ledger).lm(), question="q")
    assert (ledger.total().calls, ledger.total().failed_calls) == (0, 1)


def test_the_lm_itself_is_not_changed_and_its_history_is_kept() -> None:
    lm, _ = fake_lm({"summary": {"summary": "x"}})
    lm.num_retries = 5
    before = dict(vars(lm))
    with dspy.context(adapter=json_adapter()):
        PREDICT(lm=Caller(lm, "step", Ledger()).lm(), question="q")
    assert {name: value for name, value in vars(lm).items() if value is not before[name]} == {}
    assert type(lm) is dspy.LM
    assert len(lm.history) == 1
    assert lm.history[0]["outputs"] == [OK]


class Seeing(BaseCallback):
    def __init__(self) -> None:
        self.seen: list[Any] = []

    def on_lm_start(self, call_id: str, instance: Any, inputs: dict[str, Any]) -> None:
        self.seen.append((instance.model, len(inputs["messages"]), sorted(inputs["kwargs"])))

    def on_lm_end(self, call_id: str, outputs: Any, exception: Any = None) -> None:
        self.seen.append(outputs if exception is None else type(exception))


def test_dspys_callbacks_see_what_they_see_of_dspy_itself() -> None:
    seen: list[list[Any]] = []
    for make in (lambda lm: lm, lambda lm: Caller(lm, "step", Ledger()).lm()):
        callback = Seeing()
        for script in ({"summary": "x"}, dspy.lm15.AuthError("no")):
            lm, _ = fake_lm({"summary": script})
            context = dspy.context(adapter=json_adapter(), callbacks=[callback])
            with context, contextlib.suppress(dspy.LMAuthError):
                PREDICT(lm=make(lm), question="q")
        seen.append(callback.seen)
    assert seen[0] == seen[1]
    assert len(seen[0]) == 4


class Logged(dspy.LM):
    """An LM with a way of its own to be called, as users write them."""

    def __call__(self, prompt: Any = None, *, messages: Any = None, **kwargs: Any) -> Any:
        self.calls = [*getattr(self, "calls", []), len(messages)]
        return super().__call__(prompt, messages=messages, **kwargs)


def test_an_lm_with_a_way_of_its_own_to_be_called_is_called_that_way() -> None:
    _, engine = fake_lm({"summary": [dspy.lm15.ServerError("once"), {"summary": "x"}]})
    lm, ledger = Logged("fake/model", engine=engine, cache=False, num_retries=1), Ledger()
    caller, counts = Caller(lm, "step", ledger), []
    made = caller.lm([{"role": "user", "content": "again"}])
    with dspy.context(adapter=json_adapter()), patient(HASTY), spending(Budget(max_calls=5)) as budget:
        assert PREDICT(lm=made, question="q").summary == "x"
    counts = made.calls
    assert counts == [3, 3]
    assert (ledger.total().calls, ledger.total().failed_calls, budget.spent.calls) == (2, 1, 2)
    assert caller.reply is None


def test_dspys_test_double_works_too() -> None:
    from dspy.utils import DummyLM

    ledger = Ledger()
    with dspy.context(adapter=json_adapter()):
        lm = DummyLM([{"summary": "x"}], adapter=json_adapter())
        assert PREDICT(lm=Caller(lm, "step", ledger).lm(), question="q").summary == "x"
    assert ledger.total().calls == 1


def test_a_cut_reply_is_seen_as_cut_from_an_engine() -> None:
    lm, _ = fake_lm({"summary": ended(OK)})
    caller = Caller(lm, "step", Ledger())
    with dspy.context(adapter=json_adapter()):
        PREDICT(lm=caller.lm(), question="q")
    assert caller.reply is not None
    assert (caller.reply.finish, caller.reply.text, caller.reply.completion_tokens) == (Finish.CUT, OK, 1_000)


@pytest.mark.parametrize(
    ("function", "parameters"),
    [
        (execution.prepare, ["lm", "prompt", "messages", "kwargs", "asynchronous", "direct"]),
        (execution._cached, ["lm", "call", "asynchronous"]),
        (execution.execute, ["lm", "call"]),
        (execution._store, ["lm", "call", "result", "asynchronous"]),
        (execution.finalize, ["lm", "call", "result"]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_what_is_used_of_dspys_inside_is_there(function: Callable[..., Any], parameters: list[str]) -> None:
    assert list(inspect.signature(function).parameters) == parameters
