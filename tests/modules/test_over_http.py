"""The whole loop against a real HTTP server: what crosses the wire, and what happens when the wire fails."""

from __future__ import annotations

import json
import random
import threading
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.clips import make_clip
from tests.support.engine import Seen, answer_reply, check_reply, default_reply, letters, seen_in
from tests.support.server import Failure, FakeServer, Fault, Request
from videohv import Event, Stop, Trace, VideoHV, listening
from videohv.errors import Cancelled
from videohv.lm import make_lm, pace
from videohv.types import Outcome

OUTCOMES = {
    Failure.CUT: Outcome.PARSE_FAILED,
    Failure.REFUSAL: Outcome.CONTENT_FILTERED,
    Failure.FILTERED: Outcome.CONTENT_FILTERED,
}
"""How a question ends that meets with this at its last step; with anything else it is `lm_failed`."""

ASKED: dict[str, Any] = {"question": "what?", "options": ["a", "b", "c"]}
CAPTIONS = [f"moment {i}" for i in range(30)]


def seen(request: Request) -> Seen:
    system = str(request.body["messages"][0]["content"])
    return seen_in(request.prompt, request.images, request.body.get("temperature"), request.schema is not None, system)


class Scripted:
    """An answer callback that plays scripts per role and remembers what it saw."""

    def __init__(self, **scripts: Any) -> None:
        self.scripts = {role: iter(script) for role, script in scripts.items()}
        self.seen: list[Seen] = []
        self._lock = threading.Lock()

    def __call__(self, request: Request) -> str | Fault:
        what = seen(request)
        with self._lock:
            self.seen.append(what)
            reply = next(self.scripts[what.role], None) if what.role in self.scripts else None
        if isinstance(reply, Fault):
            return reply
        return json.dumps(reply or default_reply(what))

    def of(self, role: str) -> list[Seen]:
        return [what for what in self.seen if what.role == role]


@pytest.fixture(scope="module")
def clip(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_clip(tmp_path_factory.mktemp("clips") / "clip.mp4", frames=200, fps=10.0)


def ask(server: FakeServer, **inputs: Any) -> Trace:
    lm = make_lm(server.spec(timeout=2)).copy(cache=False)
    with dspy.context(lm=lm, videohv_vision_lm=lm):
        return VideoHV(**inputs.pop("settings", {}))(**ASKED, **inputs).trace


def test_what_the_server_saw(clip: Path) -> None:
    """Captions only where things are located, the summary only where they are reasoned about, five images at most."""
    overlapping = {"comparison": "alike", "quality": "OVERLAPPING", "clue": "a hand", "predictions": []}
    distinct = {"comparison": "differ", "quality": "DISTINCT", "clue": "the colour", "predictions": []}
    stated = [{"option": o, "statement": f"{o} holds", "plausibility": 0.0 if o == "B" else 0.6} for o in "ABC"]
    script = Scripted(
        thinker=[{"hypotheses": stated}, {"hypotheses": stated}],
        judge=[overlapping, distinct],
        check=[check_reply("PARTIAL", [(12, 18)]), check_reply("VERIFIED")],
        answer=[answer_reply("B", "ABC")],
    )
    with FakeServer(script) as server:
        trace = ask(server, video=clip)
    for what in script.seen:
        assert ("captions" in what.inputs) == (what.role in ("summary", "locate")), what.role
        assert ("summary" in what.inputs) == (what.role in ("thinker", "judge", "answer")), what.role
        assert what.schema, "each signature's schema is sent to a server that says it takes one"
        assert what.images <= 5
        assert (what.images > 0) == (what.role in ("captioner", "look"))
    assert [what.inputs["mode"] for what in script.of("thinker")] == ["initial", "discriminability"]
    assert "a hand" in script.of("judge")[1].inputs["earlier_clue"]
    assert all("the colour" in what.inputs["clue"] for what in script.seen if what.role in ("locate", "look", "check"))
    assert len(script.of("look")) == 2
    assert letters(script.of("check")[0], "hypotheses") == ["A", "C"], "B was pruned"
    assert trace.answer is not None
    assert trace.answer.option_index == 1, "and is answered all the same"
    assert trace.outcome is Outcome.ANSWERED
    assert trace.calls == len(script.seen)


def test_the_ledger_agrees_with_the_server(clip: Path) -> None:
    script = Scripted()
    with FakeServer(script) as server:
        trace = ask(server, video=clip)
        prompt = sum(max(1, len(request.text) // 4) for request in server.requests)
    assert trace.calls == len(script.seen)
    assert sum(u.prompt_tokens for u in trace.usage) == prompt
    assert sum(u.images for u in trace.usage) == sum(what.images for what in script.seen)


@pytest.mark.parametrize("kind", [k for k in Failure if k is not Failure.HANG])
@pytest.mark.parametrize("role", ["summary", "judge", "answer"])
def test_whatever_the_wire_does_the_question_ends_in_a_typed_outcome(kind: Failure, role: str) -> None:
    def always(request: Request) -> str | Fault:
        what = seen(request)
        return Fault(kind) if what.role == role else json.dumps(default_reply(what))

    with FakeServer(always) as server:
        trace = ask(server, captions=CAPTIONS)
    if role == "answer":
        assert trace.outcome is OUTCOMES.get(kind, Outcome.LM_FAILED)
        assert trace.answer is None
        assert trace.error.startswith("answer: ")
    else:
        assert trace.outcome is Outcome.ANSWERED
        assert [d.step for d in trace.degraded] == [role]
    assert Trace.model_validate_json(trace.model_dump_json()) == trace


def test_a_server_that_hangs_is_given_up_after_its_time_limit() -> None:
    def hang(request: Request) -> str | Fault:
        what = seen(request)
        return Fault(Failure.HANG, 10) if what.role == "thinker" else json.dumps(default_reply(what))

    with FakeServer(hang) as server:
        trace = ask(server, captions=CAPTIONS)
    assert trace.outcome is Outcome.ANSWERED
    assert [d.step for d in trace.degraded] == ["thinker"]


def test_under_faults_in_a_third_of_all_calls_no_answer_is_a_guess() -> None:
    faults, lock = random.Random(11), threading.Lock()

    def flaky(request: Request) -> str | Fault:
        what = seen(request)
        with lock:
            broken = faults.random() < 0.33
            kind = faults.choice([k for k in Failure if k is not Failure.HANG])
        return Fault(kind) if broken else json.dumps(default_reply(what))

    with FakeServer(flaky) as server:
        traces = [ask(server, captions=CAPTIONS) for _ in range(20)]
    for trace in traces:
        assert (trace.outcome is Outcome.ANSWERED) == (trace.answer is not None)
        assert trace.answer is None or trace.answer.option_index == 0, "the server only ever answers A"
    assert {t.outcome for t in traces} > {Outcome.ANSWERED}


def test_a_wrong_address_is_a_typed_failure_that_names_it() -> None:
    lm = make_lm("openai-compatible/x?api_base=http://127.0.0.1:9&retries=0").copy(cache=False)
    with dspy.context(lm=lm):
        prediction = VideoHV()(**ASKED, captions=CAPTIONS)
    assert prediction.outcome is Outcome.LM_FAILED
    assert "LMTransportError" in prediction.error


def test_a_long_wait_is_seen_in_the_trace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "LONG", 0.6)
    script = Scripted(judge=[Fault(Failure.RATE_LIMIT, 1)])
    events: list[Event] = []
    with FakeServer(script) as server, listening(events.append):
        lm = make_lm(server.spec(retries=2)).copy(cache=False)
        with dspy.context(lm=lm):
            trace = VideoHV(workers=1)(**ASKED, captions=CAPTIONS).trace
    (warning,) = [text for text in trace.warnings if "waits for more than" in text]
    assert warning.startswith("judge waits for more than 10 s: ")
    assert "takes no more calls for now" in warning
    assert warning in [event.value for event in events]
    assert trace.outcome is Outcome.ANSWERED


def test_a_question_that_is_stopped_while_it_waits_ends_at_once() -> None:
    stop = Stop()
    with FakeServer(lambda request: Fault(Failure.RATE_LIMIT, 100)) as server:
        lm = make_lm(server.spec(retries=2)).copy(cache=False)
        threading.Timer(0.3, stop.set).start()
        with dspy.context(lm=lm), listening(stop), pytest.raises(Cancelled):
            VideoHV()(**ASKED, captions=CAPTIONS)
        assert pace.gate_for(lm).pacer.in_flight == 0
