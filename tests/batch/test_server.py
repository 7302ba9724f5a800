"""Failures of the calls themselves: what passes is tried again, the rest is one clear line, and nothing is doubled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.batch_server import FakeBatchServer, Plan
from tests.support.batches import Rig, describe, make_clips
from tests.support.server import FakeServer
from videohv.batch import BatchServer
from videohv.batch.server import Passing
from videohv.errors import ModelError

CALLS = [
    "GET /v1/batches",
    "POST /v1/files",
    "POST /v1/batches",
    "GET /v1/batches/ID",
    "GET /v1/files/ID/content",
    "DELETE /v1/files/ID",
]


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return make_clips(tmp_path_factory.mktemp("clips"), [7])


@pytest.fixture
def server() -> Iterator[FakeBatchServer]:
    with FakeBatchServer(describe) as made:
        yield made


@pytest.fixture
def rig(tmp_path: Path, clips: list[Path], server: FakeBatchServer) -> Rig:
    return Rig(tmp_path, clips, server)


def failing(server: FakeBatchServer, call: str, after: bool, status: int, times: int) -> None:
    """Have the first few calls of a kind fail, before or after they had their effect."""
    left = Counter({(call, after): times})

    def hook(made: str, done: bool) -> int | None:
        left[made, done] -= 1
        return status if left[made, done] >= 0 else None

    server.hook = hook


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", CALLS)
def test_server_errors_pass_and_no_batch_is_made_twice(
    rig: Rig, server: FakeBatchServer, call: str, after: bool
) -> None:
    failing(server, call, after, 500, 2)
    rig.run()
    assert rig.counts == [7]
    rig.check_once()
    assert len(server.shelf.batches) == 1


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("call", CALLS[:-1])
def test_a_server_that_stays_broken_ends_the_run_and_the_next_one_goes_on(
    rig: Rig, server: FakeBatchServer, call: str, after: bool
) -> None:
    failing(server, call, after, 503, 1000)
    # What had its effect all the same is found by the next run, which goes on with it.
    unseen = after and call.startswith("POST")
    for _ in range(3):
        with suppress(Passing):
            rig.run(wait=False)
    assert unseen or not rig.store.times(rig.key(rig.clips[0]))
    server.hook = lambda call, after: None
    rig.run()
    assert rig.counts == [7]
    rig.check_once()
    assert len(server.shelf.batches) == 1


def test_while_waiting_a_server_may_be_away_for_long(rig: Rig, server: FakeBatchServer) -> None:
    failing(server, "GET /v1/batches/ID", False, 502, 40)
    assert rig.run().in_flight == 0
    assert any("trying again" in line for line in rig.told)
    assert rig.counts == [7]


def test_a_file_that_is_not_known_at_once_is_waited_for(rig: Rig, server: FakeBatchServer) -> None:
    seen = Counter[str]()
    add = server.add_file

    def late(name: str, content: bytes) -> str:
        file_id = add(name, content)
        if seen["upload"] == 0:
            seen["upload"] += 1
            hidden[file_id] = server.shelf.files.pop(file_id)
        return file_id

    hidden: dict[str, tuple[str, bytes]] = {}
    server.add_file = late  # type: ignore[method-assign]

    def hook(call: str, after: bool) -> int | None:
        if call == "POST /v1/batches" and after is False:
            seen[call] += 1
            if seen[call] == 3:
                server.shelf.files.update(hidden)
        return None

    server.hook = hook
    rig.run()
    assert server.calls("POST /v1/batches") == 3
    assert server.calls("POST /v1/files") == 1
    assert rig.counts == [7]


def test_a_file_that_the_server_has_lost_is_made_again(rig: Rig, server: FakeBatchServer) -> None:
    def hook(call: str, after: bool) -> int | None:
        if call == "POST /v1/batches" and not after and not server.shelf.batches and server.calls(call) <= 4:
            server.shelf.files.clear()
        return None

    server.hook = hook
    rig.run()
    assert server.calls("POST /v1/files") == 2
    assert rig.counts == [7]
    rig.check_once()


def test_a_list_of_several_pages_is_gone_through(server: FakeBatchServer) -> None:
    client = BatchServer(server.address, "none")
    for i in range(250):
        server.add_file(f"videohv-{i}.jsonl", b"")
        server.make(f"file-{i + 1}", {})
    assert client.find_batch("file-1", "nothing") == "batch_1"
    assert client.find_batch("file-1", "nothing", {"batch_1"}) is None
    assert client.find_file("videohv-7") == "file-8"


def test_too_many_calls_at_creation_leave_the_file_for_later(rig: Rig, server: FakeBatchServer) -> None:
    failing(server, "POST /v1/batches", False, 429, 1)
    rig.run()
    assert server.calls("POST /v1/files") == 1
    assert any("held back" in line for line in rig.told)
    assert rig.counts == [7]


def test_a_server_without_a_batch_api_is_told_before_anything_is_made(tmp_path: Path, clips: list[Path]) -> None:
    with FakeServer(describe) as plain, FakeBatchServer(describe) as other:
        rig = Rig(tmp_path, clips, other)
        rig.address = plain.address
        with pytest.raises(ModelError, match=r"has no Batch API \(404 for http://.*/batches\)"):
            rig.run()
        assert not (tmp_path / "state" / "part-000001.jsonl").exists()


def test_a_refused_key_is_told_without_the_key(server: FakeBatchServer) -> None:
    server.key = "the-right-one"
    with pytest.raises(ModelError, match="the key is not accepted") as caught:
        BatchServer(server.address, "a-very-secret-thing").check()
    assert "a-very-secret-thing" not in str(caught.value)
    assert "[key]" in str(caught.value)
    BatchServer(server.address, "the-right-one").check()


def test_nobody_there_is_one_line() -> None:
    with pytest.raises(Passing, match=r"asking for batches at http://127.0.0.1:1/v1: Connection error"):
        BatchServer("http://127.0.0.1:1/v1", "none", pause=lambda s: None).check()


def test_a_batch_of_another_account_is_told(rig: Rig, server: FakeBatchServer) -> None:
    server.plan = lambda number, lines: Plan(polls=9)
    rig.run(wait=False)
    server.shelf.batches.clear()
    with pytest.raises(ModelError, match="was it made with another key"):
        rig.run()
