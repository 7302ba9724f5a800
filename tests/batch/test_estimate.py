"""What sending would mean, said before anything is sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.batch_server import FakeBatchServer, Plan
from tests.support.batches import Rig, describe, make_clips
from videohv.batch import CaptionJob, Journal, Limits
from videohv.batch.estimate import TOKENS_A_CAPTION, batch_rates, estimate, picture_tokens, shown
from videohv.lm import make_lm
from videohv.modules.captioner import Captioner
from videohv.types import Caption


@pytest.mark.parametrize(
    ("model", "size", "tokens"),
    [
        # OpenAI's own examples: 85 + 4 * 170 for 1024 x 1024, 85 + 6 * 170 for 2048 x 4096.
        ("openai/gpt-4o", (1024, 1024), 765),
        ("openai/gpt-4o", (2048, 4096), 1105),
        ("openai/gpt-4o-2024-11-20", (796, 448), 425),
        ("openai/gpt-4o-mini", (448, 448), 2833 + 5667),
        ("openai/gpt-4.1-mini", (1024, 1024), 1659),
        ("openai/gpt-4.1-nano-2025-04-14", (796, 448), 861),
        ("openai/gpt-4o-search-preview", (448, 448), None),
        ("openai/gpt-9", (448, 448), None),
        ("openai-compatible-abc/gpt-4o", (448, 448), None),
    ],
)
def test_pictures_count_by_the_published_rules(model: str, size: tuple[int, int], tokens: int | None) -> None:
    assert picture_tokens(model, *size) == tokens


def test_prices_are_those_of_the_list_for_batches() -> None:
    assert batch_rates("openai/gpt-4o-mini") == pytest.approx((0.075, 0.3))
    assert batch_rates("openai-compatible-abc/gpt-4o-mini") is None


def test_frames_are_sent_no_larger_than_they_are() -> None:
    assert shown(1920, 1080) == (796, 448)
    assert shown(128, 96) == (128, 96)


def test_an_estimate_is_what_is_then_sent(tmp_path: Path) -> None:
    clips = make_clips(tmp_path / "clips", [12, 3, 7])
    with FakeBatchServer(describe) as server:
        rig = Rig(tmp_path, clips, server)
        rig.store.write(rig.key(clips[0]), [Caption(time=0, text="was there")])
        limits = Limits(requests=2)
        with rig.journal() as journal:
            found = estimate(rig.job(), journal, rig.lm, limits)
            assert not list(journal.folder.glob("part*"))
        assert not server.shelf.calls
        rig.run(requests=2)
        sent = sum(len(made.lines) for made in server.shelf.batches)
        assert (found.videos, found.moments, found.requests) == (3, 21, sent)
        assert found.batches == len(server.shelf.batches) == 3
        assert (found.picture_tokens, found.price, found.reply_tokens) == (None, None, 21 * TOKENS_A_CAPTION)
        with rig.journal() as journal:
            assert estimate(rig.job(), journal, rig.lm, limits).requests == 0


def test_it_counts_what_is_to_be_sent_again_but_not_what_is_in_flight(tmp_path: Path) -> None:
    clips = make_clips(tmp_path / "clips", [12, 3])
    with FakeBatchServer(describe, plan=lambda n, lines: Plan("cancelled", silent=frozenset({0}))) as server:
        rig = Rig(tmp_path, clips, server)
        rig.run(wait=False)
        with rig.journal() as journal:
            assert estimate(rig.job(), journal, rig.lm, Limits()).requests == 0
        with pytest.raises(Exception, match="cancelled"):
            rig.run()
        with rig.journal() as journal:
            found = estimate(rig.job(), journal, rig.lm, Limits())
        assert (found.requests, found.moments, found.videos) == (1, 5, 0)


def test_a_price_where_it_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-planted-0123456789")
    clips = make_clips(tmp_path / "clips", [10])
    lm = make_lm("openai/gpt-4o-mini")
    job = CaptionJob(clips, Captioner(), lm)
    with Journal(tmp_path / "state", job.identity) as journal:
        found = estimate(job, journal, lm, Limits())
    assert found.picture_tokens == 10 * 8500
    assert found.price == pytest.approx((85_000 + found.text_tokens) * 0.075e-6 + found.reply_tokens * 0.3e-6)
    assert 0 < found.text_tokens < 5000
