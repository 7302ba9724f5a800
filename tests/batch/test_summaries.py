"""Summaries from a batch lie where the loop looks for them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.batch_server import FakeBatchServer, Plan
from tests.support.engine import default_reply, seen_in
from tests.support.server import Failure, Fault, Request
from videohv import Caption, Question, VideoHV
from videohv.batch import BatchServer, Journal, Report, SummaryJob, run_batch
from videohv.errors import InputError
from videohv.lm import make_lm
from videohv.types import Outcome

CAPTIONS = [Caption(time=float(i), text=f"moment {i}") for i in range(60)]


def questions(count: int, tag: str) -> list[Question]:
    return [Question(text=f"what {tag} {i}?", options=("a", "b"), id=f"{tag}{i}") for i in range(count)]


def summarise(request: Request) -> str:
    """A plausible reply for each step of the loop."""
    return json.dumps(default_reply(seen_in(request.text, 0, None, True, "")))


@pytest.fixture
def server() -> Iterator[FakeBatchServer]:
    with FakeBatchServer(summarise) as made:
        yield made


def run(job: SummaryJob, server: FakeBatchServer, folder: Path, **options: Any) -> Report:
    with Journal(folder, job.identity) as journal:
        return run_batch(
            job,
            BatchServer(server.address, "none", pause=lambda seconds: None),
            journal,
            wait=True,
            poll=0.0,
            pause=lambda seconds: None,
            **options,
        )


def ask(server: FakeBatchServer, question: Question, captions: list[Caption] = CAPTIONS) -> Any:
    with dspy.context(lm=make_lm(server.spec(timeout=5))):
        return VideoHV()(question=question, captions=captions)


def test_the_loop_makes_no_call_for_a_summary_that_came_by_batch(server: FakeBatchServer, tmp_path: Path) -> None:
    asked, program = questions(3, "primed"), VideoHV()
    job = SummaryJob(asked, lambda q: CAPTIONS, program.summary, make_lm(server.spec(timeout=5)), program.settings)
    report = run(job, server, tmp_path)
    assert (report.sent, report.lost, report.in_flight) == (12, 0, 0)
    assert not server.requests
    result = ask(server, asked[1])
    assert result.outcome is Outcome.ANSWERED
    assert len(result.trace.summary) == 4
    usage = {row.role: (row.calls, row.cached_calls) for row in result.trace.usage}
    assert usage["summary"] == (0, 4)
    assert not [request for request in server.requests if request.outputs == {"summary"}]


def test_the_requests_are_those_of_the_loop(server: FakeBatchServer, tmp_path: Path) -> None:
    (question,) = questions(1, "same")
    job = SummaryJob([question], lambda q: CAPTIONS, VideoHV().summary, make_lm(server.spec(timeout=5)))
    run(job, server, tmp_path)
    (other,) = questions(1, "live")
    ask(server, other)
    live = [json.dumps(r.body).replace("what live", "what same") for r in server.requests if r.outputs == {"summary"}]
    assert sorted(json.dumps(line["body"]) for line in server.shelf.batches[0].lines) == sorted(live)


def test_what_the_cache_holds_is_not_sent_and_what_failed_is_sent_again(
    server: FakeBatchServer, tmp_path: Path
) -> None:
    asked = questions(2, "again")
    ask(server, asked[0])
    server.plan = lambda number, lines: Plan("expired", silent=frozenset({2})) if number == 0 else Plan()
    job = SummaryJob(asked, lambda q: CAPTIONS, VideoHV().summary, make_lm(server.spec(timeout=5)))
    assert run(job, server, tmp_path).sent == 5
    assert [len(made.lines) for made in server.shelf.batches] == [4, 1]
    assert run(job, server, tmp_path).sent == 0


def test_a_summary_that_cannot_be_used_is_left_to_the_loop(server: FakeBatchServer, tmp_path: Path) -> None:
    (question,) = questions(1, "unusable")
    server.answer = lambda request: "mumble"
    job = SummaryJob([question], lambda q: CAPTIONS, VideoHV().summary, make_lm(server.spec(timeout=5)))
    run(job, server, tmp_path)
    server.answer = summarise
    result = ask(server, question)
    assert result.outcome is Outcome.ANSWERED
    assert len(result.trace.summary) == 4
    assert not result.trace.degraded


def test_a_summary_that_needs_another_is_not_made_of_half(server: FakeBatchServer, tmp_path: Path) -> None:
    (question,) = questions(1, "long")
    many = [Caption(time=float(i), text=f"moment {i} " + "and so on " * 5) for i in range(300)]
    program = VideoHV(caption_tokens=500)
    job = SummaryJob([question], lambda q: many, program.summary, make_lm(server.spec(timeout=5)), program.settings)
    fail = iter([Fault(Failure.SERVER_ERROR)])
    server.answer = lambda request: next(fail, None) or summarise(request)
    report = run(job, server, tmp_path)
    assert report.lost == 0
    assert all("moment" in str(line["body"]) for made in server.shelf.batches for line in made.lines)


def test_without_a_cache_on_disk_there_is_no_point() -> None:
    lm = make_lm("openai-compatible/m?api_base=http://host:1/v1").copy(cache=False)
    with pytest.raises(InputError, match="is off"):
        SummaryJob([], lambda q: CAPTIONS, VideoHV().summary, lm)
