"""The ledger against the server's own books: every request and every token, whatever went wrong on the way."""

from __future__ import annotations

import contextvars
import json
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import dspy
import pytest

from tests.support.engine import default_reply, seen_in
from tests.support.faults import FaultPlan
from tests.support.server import Failure, FakeServer, Fault, Request
from videohv import Outcome, Trace, VideoHV
from videohv.lm import make_lm, pace
from videohv.lm.budget import Budget, spending
from videohv.lm.faults import Patience, patient

MIXED = [kind for kind in Failure if kind not in (Failure.HANG, Failure.TOO_LONG)]
THREADS = 16


class Books(NamedTuple):
    """What both sides have written down."""

    traces: list[Trace]
    requests: int
    prompt_tokens: int
    completion_tokens: int
    plan: FaultPlan
    budget: Budget


def reply_to(request: Request) -> str:
    return json.dumps(default_reply(seen_in(request.prompt, request.images, None, True, "")))


def run(questions: int, seed: int, cache: bool = False) -> Books:
    """So many questions, sixteen at a time, with faults in a fifth of all requests; with a cache, each asked twice."""
    plan = FaultPlan(0.2, MIXED, seed)
    different = questions // 2 if cache else questions

    def answer(request: Request) -> str | Fault:
        reply = reply_to(request)
        return plan.fault(request, reply) or reply

    pace.forget()
    with FakeServer(answer) as server:
        lm = make_lm(server.spec(retries=2, timeout=30)).copy(cache=cache)
        program = VideoHV(workers=2)

        def ask(number: int) -> Trace:
            captions = [f"moment {moment} of video {number % different}" for moment in range(30)]
            asked = f"what happens in {number % different}?"
            trace: Trace = program(question=asked, options=["a", "b", "c"], captions=captions).trace
            return trace

        with (
            dspy.context(lm=lm, disable_history=True),
            patient(Patience(first=0.001, most=0.002)),
            spending(Budget("run", max_calls=10**9, max_tokens=10**12)) as budget,
            ThreadPoolExecutor(THREADS) as pool,
        ):
            jobs = [pool.submit(contextvars.copy_context().run, ask, number) for number in range(questions)]
            traces = [job.result() for job in jobs]
        return Books(traces, len(server.requests), server.prompt_tokens, server.completion_tokens, plan, budget)


def assert_equal(books: Books) -> None:
    rows = [row for trace in books.traces for row in trace.usage]
    assert sum(row.calls for row in rows) == books.requests
    assert sum(row.prompt_tokens for row in rows) == books.prompt_tokens
    assert sum(row.completion_tokens for row in rows) == books.completion_tokens
    spent = books.budget.spent
    assert (spent.calls, spent.tokens) == (books.requests, books.prompt_tokens + books.completion_tokens)
    assert books.budget.counter.totals().held == (0, 0, 0)
    for trace in books.traces:
        assert (trace.outcome is Outcome.ANSWERED) == (trace.answer is not None)
    wire = (Failure.RATE_LIMIT, Failure.SERVER_ERROR, Failure.DROP, Failure.GARBAGE, Failure.TRUNCATED, Failure.EMPTY)
    assert sum(row.failed_calls for row in rows) == sum(books.plan.made[kind] for kind in wire)


@pytest.fixture(scope="module")
def books() -> Books:
    """One run that is looked at more than once."""
    return run(24, seed=1)


def test_calls_and_tokens_are_exact_under_mixed_faults(books: Books) -> None:
    assert_equal(books)
    assert len(books.plan.made) == len(MIXED), "every kind of fault occurred"
    assert sum(books.plan.made.values()) > 0.15 * books.requests


def test_and_with_replies_out_of_the_cache() -> None:
    books = run(24, seed=2, cache=True)
    assert_equal(books)
    assert sum(row.cached_calls for trace in books.traces for row in trace.usage) > 40


def test_the_plan_of_faults_is_the_same_whatever_the_threads_do(books: Books) -> None:
    first, second = books, run(24, seed=1)
    assert first.plan.made == second.plan.made
    assert sorted(t.outcome for t in first.traces) == sorted(t.outcome for t in second.traces)
    assert first.requests == second.requests


@pytest.mark.slow
def test_five_hundred_questions() -> None:
    books = run(500, seed=5)
    assert_equal(books)
    faults = sum(books.plan.made.values())
    answered = sum(trace.outcome is Outcome.ANSWERED for trace in books.traces)
    print(
        f"\n{len(books.traces)} questions, {THREADS} at a time: {books.requests} requests, of which {faults} failed "
        f"({faults / books.requests:.0%}); {books.prompt_tokens} + {books.completion_tokens} tokens; "
        f"{answered} answered"
    )
