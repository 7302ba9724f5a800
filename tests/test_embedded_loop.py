"""The whole of it once for real: sample clip, tag captions, embedded model. Structure is asserted, not the answer."""

from __future__ import annotations

from pathlib import Path

import dspy
import pytest

from videohv import Trace, VideoHV, samples
from videohv.lm import make_lm
from videohv.types import Outcome, Source

pytestmark = [pytest.mark.local_model, pytest.mark.slow]


def test_the_sample_clip_is_answered_or_ends_typed(user_cache: None, tmp_path: Path) -> None:
    lm = make_lm("embedded/qwen2.5-coder-0.5b").copy(cache=False)
    question = samples.QUESTIONS[1]
    with dspy.context(lm=lm):
        program = VideoHV(rounds=1, looks=1, store=tmp_path / "captions.sqlite3")
        trace = program(question=question, video=samples.CLIP).trace
    assert trace.outcome in (Outcome.ANSWERED, Outcome.PARSE_FAILED)
    assert (trace.answer is not None) == (trace.outcome is Outcome.ANSWERED)
    assert trace.captions is not None
    assert trace.captions.captioner.startswith("tags")
    assert 50 <= trace.captions.count <= 60
    assert trace.summary
    assert all(0 <= s.window.start <= s.window.end <= 57 for s in trace.summary)
    assert [h.option_index for h in trace.rounds[0].hypotheses] == [0, 1, 2, 3]
    assert trace.evidence
    assert {e.source for e in trace.evidence} == {Source.TAGS}
    assert all(len(e.times) <= 5 for e in trace.evidence)
    spent = {u.role: u for u in trace.usage}
    assert {"summary", "thinker", "judge", "verifier.locate", "answer"} <= set(spent)
    assert all(u.model == "embedded/qwen2.5-coder-0.5b" for u in spent.values())
    assert all(u.prompt_tokens > 0 for u in spent.values())
    assert Trace.model_validate_json(trace.model_dump_json()) == trace
