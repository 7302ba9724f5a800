"""Captions through a batch: packed within the limits, sent once, resumed from anywhere."""

from __future__ import annotations

import json
import shutil
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.batch_server import FakeBatchServer, Plan
from tests.support.batches import Rig, describe, make_clips
from videohv.batch.journal import Journal
from videohv.captioners import caption_video
from videohv.data.store import ticks
from videohv.errors import InputError
from videohv.modules.captioner import Captioner, LMCaptioner
from videohv.types import Caption
from videohv.video import Video


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return make_clips(tmp_path_factory.mktemp("clips"), [12, 3, 7])


@pytest.fixture
def server() -> Iterator[FakeBatchServer]:
    with FakeBatchServer(describe) as made:
        yield made


def test_every_moment_of_every_video_is_captioned_once(
    tmp_path: Path, clips: list[Path], server: FakeBatchServer
) -> None:
    rig = Rig(tmp_path, clips, server)
    report = rig.run()
    assert (report.sent, report.in_flight, report.waiting, report.lost) == (6, 0, 0, 0)
    assert rig.counts == [12, 3, 7]
    assert rig.store.read(rig.key(clips[0]))[3] == Caption(time=3, text="the scene at 3")
    assert len(server.shelf.batches) == 1
    rig.check_once()
    assert len(server.shelf.captioned) == 22


def test_what_a_live_caption_run_finds_afterwards_needs_no_call(
    tmp_path: Path, clips: list[Path], server: FakeBatchServer
) -> None:
    rig = Rig(tmp_path, clips, server)
    rig.run()
    captions = caption_video(Video(clips[2]), LMCaptioner(Captioner(), rig.lm), store=rig.store)
    assert len(captions) == 7
    assert not server.requests


def test_without_waiting_it_submits_and_the_next_run_collects(
    tmp_path: Path, clips: list[Path], server: FakeBatchServer
) -> None:
    server.plan = lambda number, lines: Plan(polls=1)
    rig = Rig(tmp_path, clips, server)
    assert rig.run(wait=False).in_flight == 6
    assert rig.run(wait=False).in_flight == 6, "still in progress"
    assert any("1 batch in flight: 0 of 6 requests answered" in line for line in rig.told)
    assert rig.run(wait=False).in_flight == 0
    assert rig.counts == [12, 3, 7]
    assert server.calls("POST /v1/batches") == 1
    assert not rig.pauses


def test_files_keep_to_both_limits(tmp_path: Path, clips: list[Path], server: FakeBatchServer) -> None:
    rig = Rig(tmp_path, clips, server)
    rig.run(requests=2)
    assert [len(made.lines) for made in server.shelf.batches] == [2, 2, 2]
    largest = max(len(json.dumps(line)) for made in server.shelf.batches for line in made.lines)
    server.shelf.batches.clear()
    again = Rig(tmp_path / "again", clips, server)
    again.run(size=2 * largest)
    assert len(server.shelf.batches) > 2
    for made in server.shelf.batches:
        assert sum(len(json.dumps(line)) + 1 for line in made.lines) <= 2 * largest
    assert again.counts == [12, 3, 7]
    with pytest.raises(InputError, match="one request has"):
        Rig(tmp_path / "small", clips, server).run(size=1000)


def test_each_line_names_itself_once_and_the_chat_endpoint(
    tmp_path: Path, clips: list[Path], server: FakeBatchServer
) -> None:
    Rig(tmp_path, clips, server).run(requests=4)
    lines = [line for made in server.shelf.batches for line in made.lines]
    assert len({line["custom_id"] for line in lines}) == len(lines)
    assert all(len(line["custom_id"]) <= 64 for line in lines)
    assert {(line["method"], line["url"]) for line in lines} == {("POST", "/v1/chat/completions")}
    assert all(1 <= len(made.images) <= 20 for made in server.shelf.batches)
    assert max(str(line["body"]).count("data:image/jpeg") for line in lines) == 5


def test_a_video_that_is_named_twice_is_sent_once(tmp_path: Path, clips: list[Path], server: FakeBatchServer) -> None:
    copy = tmp_path / "copy.mp4"
    shutil.copy(clips[0], copy)
    rig = Rig(tmp_path, [clips[0], clips[0], copy, clips[1], copy], server)
    assert rig.run(requests=2).sent == 4
    rig.check_once()
    assert rig.counts == [12, 12, 12, 3, 12]


def test_moments_that_the_store_holds_are_not_sent(tmp_path: Path, clips: list[Path], server: FakeBatchServer) -> None:
    rig = Rig(tmp_path, clips, server)
    there = [0, 1, 2, 5, 11]
    rig.store.write(rig.key(clips[0]), [Caption(time=t, text="was there") for t in there])
    rig.store.write(rig.key(clips[1]), [Caption(time=t, text="was there") for t in range(3)])
    rig.store.mark_complete(rig.key(clips[1]))
    rig.run()
    assert rig.counts == [12, 3, 7]
    assert len(server.shelf.captioned) == 7 + 7
    texts = [caption.text for caption in rig.store.read(rig.key(clips[0]))]
    assert [i for i, text in enumerate(texts) if text == "was there"] == there


def test_videos_that_come_later_are_added_to_what_is_in_flight(
    tmp_path: Path, clips: list[Path], server: FakeBatchServer
) -> None:
    server.plan = lambda number, lines: Plan(polls=3)
    rig = Rig(tmp_path, clips[:1], server)
    assert rig.run(wait=False).sent == 3
    rig.clips = clips
    assert rig.run(wait=False).sent == 3
    assert rig.run(wait=False).sent == 0
    assert rig.run().in_flight == 0
    assert rig.counts == [12, 3, 7]
    rig.check_once()


def test_a_video_of_which_everything_is_in_flight_is_not_opened_again(
    tmp_path: Path, clips: list[Path], server: FakeBatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.plan = lambda number, lines: Plan(polls=1)
    rig = Rig(tmp_path, clips, server)
    rig.run(wait=False)
    monkeypatch.setattr("videohv.batch.captions.Video", None)
    rig.run(wait=False)
    rig.run(wait=False)
    monkeypatch.undo()
    assert rig.counts == [12, 3, 7]


def test_a_broken_video_among_others_is_reported_and_hinders_nobody(
    tmp_path: Path, clips: list[Path], server: FakeBatchServer
) -> None:
    broken = tmp_path / "broken.mp4"
    broken.write_bytes(b"no video at all" * 100)
    rig = Rig(tmp_path, [clips[0], broken, tmp_path / "not there.mp4", clips[1]], server)
    rig.run()
    assert [problem.split(":")[0].rpartition("/")[2] for problem in rig.problems] == ["broken.mp4", "not there.mp4"]
    rig.clips = [clips[0], clips[1]]
    assert rig.counts == [12, 3]


def test_dying_between_store_and_journal_loses_and_doubles_nothing(
    tmp_path: Path, clips: list[Path], server: FakeBatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path, clips, server)
    rig.run(wait=False)

    def die(*args: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Journal, "end_part", die)
    with pytest.raises(KeyboardInterrupt):
        rig.run()
    monkeypatch.undo()
    assert len(rig.store.read(rig.key(clips[0]))) == 12
    rig.run()
    assert rig.counts == [12, 3, 7]
    rig.check_once()
    assert server.calls("POST /v1/batches") == 1


def test_dying_before_a_video_is_marked_complete_is_mended(
    tmp_path: Path, clips: list[Path], server: FakeBatchServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig(tmp_path, clips, server)
    monkeypatch.setattr("videohv.batch.captions.CaptionJob.finish", lambda *args: None)
    rig.run()
    assert rig.counts == [-13, -4, -8]
    monkeypatch.undo()
    rig.run()
    assert rig.counts == [12, 3, 7]
    assert server.calls("POST /v1/batches") == 1


def test_captions_that_vanished_from_the_store_are_made_anew(
    tmp_path: Path, clips: list[Path], server: FakeBatchServer
) -> None:
    rig = Rig(tmp_path, clips, server)
    rig.run()
    rig.store.forget(rig.key(clips[0]))
    rig.run()
    assert rig.counts == [12, 3, 7]
    assert sorted(server.shelf.captioned.values()) == [1] * 10 + [2] * 12


def test_the_record_only_grows(tmp_path: Path, clips: list[Path], server: FakeBatchServer) -> None:
    rig = Rig(tmp_path, clips, server)

    def rows() -> dict[str, list[Any]]:
        with sqlite3.connect(tmp_path / "state" / "journal.sqlite3") as db:
            return {name: db.execute(f"SELECT * FROM {name}").fetchall() for name in ("lines", "history", "events")}

    server.plan = lambda number, lines: Plan("expired", silent=frozenset({0})) if number == 0 else Plan(polls=1)
    rig.run(wait=False)
    seen = rows()
    for _ in range(4):
        rig.run(wait=False)
        now = rows()
        for name, before in seen.items():
            assert now[name][: len(before)] == before, name
        seen = now
    assert rig.counts == [12, 3, 7]


def test_a_state_belongs_to_one_job_and_one_process(tmp_path: Path, clips: list[Path], server: FakeBatchServer) -> None:
    rig = Rig(tmp_path, clips, server)
    rig.run()
    with pytest.raises(InputError, match=r"holds captions lm:.* not something else; give another --state"):
        Journal(tmp_path / "state", "something else")
    with rig.journal(), pytest.raises(InputError, match="another process works on this batch"):
        rig.run()
    rig.run()
    (tmp_path / "state" / "journal.sqlite3").write_bytes(b"no database" * 1000)
    with pytest.raises(InputError, match="is damaged"):
        rig.run()


def test_what_lies_in_the_state_is_cleared_away(tmp_path: Path, clips: list[Path], server: FakeBatchServer) -> None:
    rig = Rig(tmp_path, clips, server)
    (tmp_path / "state").mkdir()
    for name in ("part.draft", "part-000042.jsonl"):
        (tmp_path / "state" / name).write_text("left by one that died")
    rig.run()
    assert not list((tmp_path / "state").glob("part*"))
    assert not list((tmp_path / "state").glob("repl*"))
    assert server.calls("DELETE /v1/files/ID") == 1, "the pictures do not stay at the server"


def test_frames_keep_the_moment_that_they_were_wanted_for(tmp_path: Path, server: FakeBatchServer) -> None:
    (clip,) = make_clips(tmp_path / "odd", [9])
    rig = Rig(tmp_path, [clip], server)
    rig.run()
    assert {ticks(time) for time in rig.store.times(rig.key(clip))} == {i * 1_000_000 for i in range(9)}
