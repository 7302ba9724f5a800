from __future__ import annotations

import contextvars
import random
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import dspy
import pytest
from dspy import lm15

from videohv.lm.usage import Call, Ledger, estimate


@dataclass
class Engine:
    """Answers `{"answer": "yes"}` after using 10 + 3 tokens, or raises what is in the prompt's name."""

    text: str = '{"answer": "yes"}'
    supports_response_schema: bool = True
    supported_params: frozenset[str] = field(default_factory=frozenset)

    def complete(self, request: lm15.Request) -> lm15.Response:
        if "outage" in str(request.messages[-1].parts):
            raise lm15.AuthError("no")
        usage = lm15.Usage(input_tokens=10, output_tokens=3, cache_read_tokens=4)
        message = lm15.Message.assistant(self.text)
        return lm15.Response(id=None, model=request.model, message=message, finish_reason="stop", usage=usage)


def make(cache: bool = False, model: str = "toy/model", **engine: Any) -> dspy.LM:
    return dspy.LM(model, engine=Engine(**engine), cache=cache, num_retries=0)


PREDICT = dspy.Predict("question -> answer")
JSON = dspy.JSONAdapter()


def ask(question: str, lm: dspy.LM) -> Any:
    with dspy.context(adapter=JSON, disable_history=True):
        return PREDICT(question=question, lm=lm)


def test_a_call_is_booked_to_its_role() -> None:
    ledger, lm = Ledger(), make()
    with ledger.recording(), ledger.role("judge", lm, images=2) as call:
        ask("what", lm)
        ask("what else", lm)
    assert (call.calls, call.prompt_tokens) == (2, 20)
    (row,) = ledger.by_role()
    assert (row.role, row.model, row.calls, row.cached_calls, row.failed_calls) == ("judge", "toy/model", 2, 0, 0)
    assert (row.prompt_tokens, row.cached_prompt_tokens, row.completion_tokens, row.images) == (20, 8, 6, 2)
    assert row.seconds > 0
    assert row.cost is None


def test_a_cached_call_costs_nothing_and_is_counted_apart() -> None:
    ledger, lm = Ledger(), make(cache=True, model="toy/cached")
    for _ in range(3):
        with ledger.role("judge", lm, images=1):
            ask("the same", lm)
    (row,) = ledger.by_role()
    assert (row.calls, row.cached_calls, row.prompt_tokens, row.images) == (1, 2, 10, 1)


def test_a_failed_call_counts_as_a_call() -> None:
    ledger, lm = Ledger(), make()
    with pytest.raises(dspy.LMAuthError), ledger.role("judge", lm):
        ask("outage", lm)
    (row,) = ledger.by_role()
    assert (row.calls, row.failed_calls, row.cached_calls, row.prompt_tokens) == (1, 1, 0, 0)


def test_an_unreadable_reply_is_a_failed_call_with_its_tokens_and_from_the_cache_none() -> None:
    ledger, lm = Ledger(), make(cache=True, model="toy/prose", text="no JSON at all")
    for _ in range(2):
        with pytest.raises(dspy.utils.exceptions.AdapterParseError), ledger.role("judge", lm):
            ask("anything", lm)
    (row,) = ledger.by_role()
    assert (row.calls, row.failed_calls, row.cached_calls, row.prompt_tokens) == (1, 2, 1, 10)


def test_calls_outside_a_role_are_booked_too() -> None:
    ledger, lm = Ledger(), make()
    with ledger.recording():
        ask("what", lm)
    ask("not recorded", lm)
    (row,) = ledger.by_role()
    assert (row.role, row.model, row.calls) == ("other", "toy/model", 1)


def test_the_tracker_around_still_gets_everything() -> None:
    ledger, lm = Ledger(), make()
    with dspy.track_usage() as around, ledger.recording():
        with ledger.role("judge", lm):
            ask("one", lm)
        ask("two", lm)
        with dspy.track_usage() as within, ledger.role("answer", lm):
            ask("three", lm)
    assert around.get_total_tokens()["toy/model"]["prompt_tokens"] == 30
    assert within.get_total_tokens()["toy/model"]["prompt_tokens"] == 10
    assert {row.role: row.calls for row in ledger.by_role()} == {"judge": 1, "other": 1, "answer": 1}


def test_a_role_within_a_role_keeps_its_own() -> None:
    ledger, lm = Ledger(), make()
    with ledger.recording(), ledger.role("outer", lm):
        ask("one", lm)
        with ledger.role("inner", lm):
            ask("two", lm)
    assert {row.role: row.calls for row in ledger.by_role()} == {"inner": 1, "outer": 1}


def test_a_ledger_within_a_ledger_sees_the_same() -> None:
    whole, part, lm = Ledger(), Ledger(), make()
    with whole.recording(), part.recording(), part.role("judge", lm):
        ask("one", lm)
    assert part.total().prompt_tokens == whole.total().prompt_tokens == 10


def test_sixteen_threads_with_failures_add_up() -> None:
    ledger, lms = Ledger(), {name: make(model=f"toy/{name}") for name in ("a", "b")}
    jobs = [(f"role{n % 3}", "ab"[n % 2], n % 5 == 0) for n in range(320)]
    random.Random(0).shuffle(jobs)

    def run(job: tuple[str, str, bool]) -> None:
        role, name, fails = job
        try:
            with ledger.role(role, lms[name], images=1):
                ask("outage" if fails else "fine", lms[name])
        except dspy.LMAuthError:
            assert fails

    with dspy.track_usage() as around, ledger.recording(), ThreadPoolExecutor(16) as pool:
        for future in [pool.submit(contextvars.copy_context().run, run, job) for job in jobs]:
            future.result()
    total = ledger.total()
    assert (total.calls, total.failed_calls, total.cached_calls, total.images) == (320, 64, 0, 320)
    assert (total.prompt_tokens, total.completion_tokens) == (2560, 768)
    for row in ledger.by_role():
        assert row.calls == sum(job[0] == row.role and f"toy/{job[1]}" == row.model for job in jobs)
    assert sum(used["prompt_tokens"] for used in around.get_total_tokens().values()) == 2560


def test_dspys_own_threads_add_up() -> None:
    ledger, lm = Ledger(), make()
    with ledger.recording(), dspy.context(lm=lm, adapter=JSON, disable_history=True):
        examples = [dspy.Example(question=f"q{n}", answer="yes").with_inputs("question") for n in range(40)]
        dspy.Evaluate(devset=examples, metric=lambda *_: 1.0, num_threads=8, display_progress=False)(PREDICT)
    assert ledger.total().calls == 40


def test_prices_are_taken_from_the_list() -> None:
    usage = {"prompt_tokens": 1000, "completion_tokens": 100, "prompt_tokens_details": {"cached_tokens": 400}}
    full = estimate("openai/gpt-4o-mini", {"prompt_tokens": 1000, "completion_tokens": 100})
    part = estimate("openai/gpt-4o-mini", usage)
    assert full == pytest.approx(1000 * 0.15e-6 + 100 * 0.6e-6)
    assert part == pytest.approx(600 * 0.15e-6 + 400 * 0.075e-6 + 100 * 0.6e-6)
    assert estimate("embedded/qwen2.5-coder-1.5b", usage) is None
    assert estimate("toy/model", usage) is None


def test_the_sum_leaves_unknown_prices_out() -> None:
    ledger = Ledger()
    for model in ("openai/gpt-4o-mini", "toy/model"):
        call = Call("judge", model)
        call.add(model, {"prompt_tokens": 1_000_000, "completion_tokens": 0})
        ledger._book(call)
    assert ledger.total().cost == pytest.approx(0.15)
    assert ledger.total().prompt_tokens == 2_000_000
