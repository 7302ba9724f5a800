"""Everything that can go wrong at the server, and what is done about it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.batch_server import FakeBatchServer, Plan, pictures
from tests.support.batches import Rig, describe, make_clips, times_in
from tests.support.server import Failure, Fault, Request
from videohv.errors import ModelError
from videohv.types import Caption


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return make_clips(tmp_path_factory.mktemp("clips"), [12, 3])


@pytest.fixture
def server() -> Iterator[FakeBatchServer]:
    with FakeBatchServer(describe) as made:
        yield made


@pytest.fixture
def rig(tmp_path: Path, clips: list[Path], server: FakeBatchServer) -> Rig:
    return Rig(tmp_path, clips, server)


def sizes(server: FakeBatchServer) -> list[int]:
    """Requests in each batch."""
    return [len(made.lines) for made in server.shelf.batches]


def lost(rig: Rig) -> list[tuple[str, str]]:
    """What failed for good, and why."""
    job = rig.job()
    with rig.journal() as journal:
        return [(job.label(line), why) for line, why in journal.lost()]


def test_only_the_lines_that_failed_are_sent_again(rig: Rig, server: FakeBatchServer) -> None:
    broken = iter([False, True, True, False])

    def answer(request: Request) -> str | Fault:
        return Fault(Failure.SERVER_ERROR) if next(broken, False) else describe(request)

    server.answer = answer
    assert rig.run().sent == 6
    assert sizes(server) == [4, 2]
    assert rig.counts == [12, 3]
    rig.check_once()


def test_a_line_that_always_fails_is_given_up_and_named(rig: Rig, server: FakeBatchServer) -> None:
    server.answer = lambda request: Fault(Failure.SERVER_ERROR) if times_in(request)[0] == 5 else describe(request)
    report = rig.run(tries=3)
    assert (report.lost, report.in_flight) == (1, 0)
    assert sizes(server) == [4, 1, 1]
    ((label, why),) = lost(rig)
    assert label.endswith("clip0.mp4 at 0:05–0:09")
    assert why == "server_error: something broke"
    assert rig.counts == [-8, 3]
    assert rig.run().sent == 0, "for good"


def test_what_was_given_up_can_be_asked_for_once_more(rig: Rig, server: FakeBatchServer) -> None:
    server.answer = lambda request: "mumble" if times_in(request)[0] == 5 else describe(request)
    assert rig.run().lost == 1
    server.answer = describe
    with rig.journal() as journal:
        assert journal.revive() == 1
    assert rig.run().lost == 0
    assert rig.counts == [12, 3]
    bodies = [made.lines[-1]["body"] for made in server.shelf.batches]
    assert bodies[-1] == next(line["body"] for line in server.shelf.batches[0].lines if line["body"] == bodies[-1])


def test_what_expired_is_sent_again_and_what_was_done_is_kept(rig: Rig, server: FakeBatchServer) -> None:
    server.plan = lambda number, lines: Plan("expired", silent=frozenset({1, 3})) if number == 0 else Plan()
    rig.run()
    assert sizes(server) == [4, 2]
    assert rig.counts == [12, 3]
    rig.check_once()


def test_what_expires_again_and_again_is_given_up(rig: Rig, server: FakeBatchServer) -> None:
    server.plan = lambda number, lines: Plan("expired", silent=frozenset(range(len(lines))))
    assert rig.run(tries=2).lost == 4
    assert sizes(server) == [4, 4]
    assert {why for _, why in lost(rig)} == {"batch_expired: too late"}


def test_lines_that_are_in_neither_file_are_sent_again(rig: Rig, server: FakeBatchServer) -> None:
    server.plan = lambda number, lines: Plan(silent=frozenset({0})) if number == 0 else Plan()
    rig.run()
    assert sizes(server) == [4, 1]
    assert rig.counts == [12, 3]


def test_a_reply_that_cannot_be_used_is_followed_by_what_a_live_call_would_send(
    rig: Rig, server: FakeBatchServer
) -> None:
    server.answer = lambda request: describe(request) if request.body["temperature"] else "mumble"
    rig.run()
    assert rig.counts == [12, 3]
    asked = [[line["body"] for line in made.lines] for made in server.shelf.batches]
    assert [len(bodies) for bodies in asked] == [4, 4, 4]
    assert {body["temperature"] for body in asked[-1]} == {1.0}
    assert sorted(map(pictures, asked[-1])) == sorted(map(pictures, asked[0]))
    assert any("mumble" in json.dumps(body["messages"]) for body in asked[1])


def test_a_held_batch_is_packed_anew_when_smaller_ones_are_wanted(rig: Rig, server: FakeBatchServer) -> None:
    server.plan = lambda number, lines: Plan("failed", errors=(FULL,)) if len(lines) > 2 else Plan()
    rig.run(wait=False)
    rig.run(wait=False)
    assert any("a smaller --batch-requests may fit" in line for line in rig.told)
    assert rig.run(requests=2, tries=1).lost == 0
    assert [size for size in sizes(server) if size <= 2] == [2, 2]
    assert rig.counts == [12, 3]
    rig.check_once()


@pytest.mark.parametrize(
    ("fault", "why"),
    [(Failure.REFUSAL, "refused to answer"), (Failure.EMPTY, "could not be used")],
)
def test_refused_and_empty_replies_are_asked_for_again_and_then_given_up(
    rig: Rig, server: FakeBatchServer, fault: Failure, why: str
) -> None:
    server.answer = lambda request: Fault(fault) if times_in(request)[0] == 10 else describe(request)
    assert rig.run().lost == 1
    ((label, told),) = lost(rig)
    assert label.endswith("clip0.mp4 at 0:10–0:11")
    assert why in told
    assert 2 <= len(sizes(server)) <= 3
    assert rig.counts == [-11, 3]


def test_a_reply_that_merges_frames_counts_as_it_does_live(rig: Rig, server: FakeBatchServer) -> None:
    server.answer = lambda request: json.dumps({"captions": [{"time": times_in(request)[0], "seen": "one for all"}]})
    rig.run()
    assert rig.counts == [12, 3]
    assert rig.store.read(rig.key(rig.clips[1]))[2] == Caption(time=2, text="one for all")


def test_a_refused_batch_is_told_with_the_servers_words_and_sent_by_the_next_run(
    rig: Rig, server: FakeBatchServer
) -> None:
    wrong = ("model_not_found", "The model fake-model does not exist", None)
    server.plan = lambda number, lines: Plan("failed", errors=(wrong,)) if number == 0 else Plan()
    with pytest.raises(ModelError, match="batch_1 was refused by the server: The model fake-model does not exist"):
        rig.run()
    assert rig.run().lost == 0
    assert sizes(server) == [4, 4]
    assert rig.counts == [12, 3]


def test_lines_that_the_server_names_do_not_hold_up_the_others(rig: Rig, server: FakeBatchServer) -> None:
    wrong = tuple(("invalid", f"no {n}", n) for n in (2,))
    server.plan = lambda number, lines: Plan("failed", errors=wrong) if len(lines) == 4 else Plan()
    with rig.journal():
        pass
    report = rig.run(tries=1)
    assert report.lost == 1
    assert sizes(server) == [4, 3]
    assert lost(rig)[0][1] == "no 2"


def test_a_batch_that_was_cancelled_is_not_sent_behind_its_users_back(rig: Rig, server: FakeBatchServer) -> None:
    server.plan = lambda number, lines: Plan("cancelled", silent=frozenset({2, 3})) if number == 0 else Plan()
    with pytest.raises(ModelError, match="batch_1 was cancelled"):
        rig.run(tries=1)
    assert sizes(server) == [4]
    rig.run(tries=1)
    assert sizes(server) == [4, 2]
    assert rig.counts == [12, 3]


def test_without_quota_it_stops_and_no_try_is_used_up(rig: Rig, server: FakeBatchServer) -> None:
    server.answer = lambda request: Fault(Failure.RATE_LIMIT)
    for _ in range(4):
        with pytest.raises(ModelError, match="no quota left"):
            rig.run(tries=2)
    server.answer = describe
    rig.run(tries=2)
    assert rig.counts == [12, 3]
    rig.check_once()


FULL = ("token_limit_exceeded", "Enqueued token limit reached for fake-model. Limit: 2,000,000 enqueued tokens.", None)


def test_what_the_server_has_no_room_for_waits_for_what_is_in_flight(rig: Rig, server: FakeBatchServer) -> None:
    def plan(number: int, lines: object) -> Plan:
        return Plan("failed", errors=(FULL,)) if number == 1 else Plan(polls=2 if number == 0 else 0)

    server.plan = plan
    report = rig.run(requests=2, tries=1)
    assert (report.lost, report.in_flight) == (0, 0)
    assert rig.counts == [12, 3]
    assert server.calls("POST /v1/files") == 2, "its file is still there"
    assert server.calls("POST /v1/batches") == 3
    rig.check_once()


def test_a_batch_that_never_fits_is_made_smaller_on_request(rig: Rig, server: FakeBatchServer) -> None:
    server.plan = lambda number, lines: Plan("failed", errors=(FULL,)) if len(lines) > 1 else Plan()
    with pytest.raises(ModelError, match=r"Limit: 2,000,000 enqueued tokens.*--batch-requests"):
        rig.run()
    assert rig.run(requests=1, tries=1).lost == 0
    assert rig.counts == [12, 3]


def test_a_video_that_is_gone_when_it_is_needed_again_is_not_given_up(tmp_path: Path, server: FakeBatchServer) -> None:
    (clip,) = make_clips(tmp_path / "moving", [12])
    rig = Rig(tmp_path, [clip], server)
    server.plan = lambda number, lines: Plan("expired", silent=frozenset({1})) if number == 0 else Plan()
    rig.run(wait=False)
    clip.rename(tmp_path / "elsewhere.mp4")
    rig.clips = []
    report = rig.run()
    assert (report.waiting, report.lost, report.sent) == (1, 0, 0)
    assert "there is no such file" in rig.problems[0]
    (tmp_path / "elsewhere.mp4").rename(clip)
    rig.clips = [clip]
    assert rig.run().waiting == 0
    assert rig.counts == [12]


def test_what_was_captioned_live_meanwhile_is_not_sent_again(rig: Rig, server: FakeBatchServer) -> None:
    server.plan = lambda number, lines: Plan("expired", silent=frozenset({1})) if number == 0 else Plan()
    rig.run(wait=False)
    rig.store.write(rig.key(rig.clips[0]), [Caption(time=t, text="live") for t in range(12)])
    rig.run()
    assert sizes(server) == [4]
    assert rig.counts == [12, 3]
