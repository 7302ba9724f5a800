"""What goes into a batch is to the byte what a live call sends."""

from __future__ import annotations

import json
from pathlib import Path

import dspy
import pytest

from tests.support.batch_server import FakeBatchServer
from tests.support.batches import Rig, describe, make_clips
from tests.support.engine import fake_lm
from tests.support.server import FakeServer, Request
from videohv.batch.wire import Wire
from videohv.batch.work import Line
from videohv.batch.work import Request as Made
from videohv.captioners import caption_video
from videohv.errors import InputError
from videohv.lm import make_lm
from videohv.lm.adapter import json_adapter
from videohv.modules.captioner import Captioner, LMCaptioner
from videohv.modules.videohv import VideoHV
from videohv.video import Video


class Nothing:
    """Nothing was sent before."""

    def taken(self, group: str) -> frozenset[str]:
        return frozenset()

    def planned(self, source: str) -> str | None:
        return None


@pytest.mark.parametrize(
    "options",
    [{}, {"temperature": 0.3}, {"max_tokens": 700, "seed": 5, "timeout": 9}, {"temperature": 1, "images": True}],
)
def test_the_lines_are_the_requests_of_the_live_captioner(tmp_path: Path, options: dict[str, object]) -> None:
    clips = make_clips(tmp_path / "clips", [12])
    with FakeBatchServer(describe) as server:
        rig = Rig(tmp_path, clips, server, **options)
        with dspy.context(vision_lm=None, videohv_vision_lm=rig.lm.copy(cache=False), lm=rig.lm):
            VideoHV(captioner="lm", store=tmp_path / "live.sqlite3").caption(clips[0])
        lines = [item.body for item in rig.job().fresh(Nothing()) if isinstance(item, Made)]
        live = sorted(json.dumps(request.body) for request in server.requests)
    assert sorted(json.dumps(json.loads(line)) for line in lines) == live
    assert [len(json.loads(line)["messages"][-1]["content"]) for line in lines] == [11, 11, 5]


def test_the_requests_after_unusable_replies_are_the_live_ones_too(tmp_path: Path) -> None:
    clips = make_clips(tmp_path / "clips", [3])

    def answer(request: Request) -> str:
        return describe(request) if request.body["temperature"] else "mumble"

    with FakeBatchServer(answer) as server:
        rig = Rig(tmp_path, clips, server)
        with dspy.context(adapter=json_adapter(), warn_on_type_mismatch=False):
            caption_video(Video(clips[0]), LMCaptioner(Captioner(), rig.lm.copy(cache=False)))
        live = [request.body for request in server.requests]
        job = rig.job()
        first = next(item for item in job.fresh(Nothing()) if isinstance(item, Made))
        mumble = json.dumps({"model": "m", "choices": [{"message": {"content": "mumble"}, "finish_reason": "stop"}]})
        later = [job.again(first.line.model_copy(update={"replies": (mumble,) * n})) for n in range(1, len(live))]
    assert [json.loads(made.body) for made in (first, *later) if made is not None] == live
    assert live[-1]["temperature"] == 1.0


def test_demonstrations_and_instructions_of_a_compiled_captioner_are_sent(tmp_path: Path) -> None:
    clips = make_clips(tmp_path / "clips", [2])
    with FakeBatchServer(describe) as server:
        rig = Rig(tmp_path, clips, server)
        module = Captioner()
        module.predict.signature = module.predict.signature.with_instructions("Say what is red.")
        plain, changed = rig.job(), type(rig.job())(clips, module, rig.lm, store=rig.store)
        body = next(item for item in changed.fresh(Nothing()) if isinstance(item, Made)).body
    assert b"Say what is red." in body
    assert plain.identity != changed.identity


def test_it_knows_where_to_and_with_which_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    there = Wire(make_lm("openai/gpt-4o-mini")).connection()
    assert (there.base_url, there.key) == ("https://api.openai.com/v1", "sk-planted-0123456789")
    assert "planted" not in repr(there)
    monkeypatch.setenv("LAB_KEY", "of-the-lab-42")
    there = Wire(make_lm("openai-compatible/m?api_base=http://host:1/v1&key_env=LAB_KEY")).connection()
    assert (there.base_url, there.key) == ("http://host:1/v1", "of-the-lab-42")


def test_models_that_no_batch_can_be_made_for_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="runs in this process"):
        Wire(fake_lm()[0])
    monkeypatch.setenv("ANTHROPIC_API_KEY", "k" * 12)
    with pytest.raises(InputError, match="does not speak OpenAI's protocol"):
        Wire(make_lm("anthropic/claude-sonnet-4-5"))
    monkeypatch.setenv("OPENAI_API_KEY", "k" * 12)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://proxy:1/v1")
    with pytest.raises(InputError, match="openai-compatible/MODEL"):
        Wire(make_lm("openai/gpt-4o-mini"))


def test_a_wire_sends_nothing_and_leaves_the_lm_as_it_was() -> None:
    with FakeServer(describe) as server:
        lm = make_lm(server.spec(timeout=3))
        before = dict(lm.kwargs), lm.engine, lm.num_retries, lm.cache
        wire = Wire(lm)
        with wire.replying(lambda body: None), pytest.raises(Exception, match="no reply"):
            wire.lm("hello")
        assert len(wire.sent) == 1
        assert not server.requests
        assert (lm.kwargs, lm.engine, lm.num_retries, lm.cache) == before


def test_a_line_survives_json() -> None:
    line = Line(group="g", items=("1", "2"), memo="{}", tries=1, replies=("a",), id=7)
    assert Line.model_validate_json(line.model_dump_json()) == line
