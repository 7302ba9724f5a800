from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from videohv.data import CaptionStore, Key
from videohv.errors import InputError, VideoHVError
from videohv.paths import captions_db
from videohv.types import Caption

KEY = Key("hash", "tags-1", 1.0)


def some(n: int, start: int = 0) -> list[Caption]:
    return [Caption(time=i, text=f"caption {i}") for i in range(start, start + n)]


def test_captions_come_back_in_order_and_once(tmp_path: Path) -> None:
    store = CaptionStore(tmp_path / "deep" / "c.sqlite3")
    assert store.read(KEY) == ()
    assert store.times(KEY) == frozenset()
    assert store.write(KEY, reversed(some(40))) == 40
    assert store.write(KEY, [Caption(time=3, text="another"), Caption(time=3 + 1e-9, text="rounded")]) == 0
    assert CaptionStore(store.path).read(KEY) == tuple(some(40))
    assert store.times(KEY) == frozenset(float(i) for i in range(40))


def test_keys_do_not_mix(tmp_path: Path) -> None:
    store = CaptionStore(tmp_path / "c.sqlite3")
    others = [Key("other", "tags-1", 1.0), Key("hash", "tags-2", 1.0), Key("hash", "tags-1", 0.5)]
    store.write(KEY, some(1))
    store.mark_complete(KEY)
    for other in others:
        assert store.read(other) == ()
        assert not store.complete(other)
    store.write(others[0], some(2))
    store.forget(KEY)
    assert store.read(KEY) == ()
    assert not store.complete(KEY)
    assert len(store.read(others[0])) == 2


def test_complete_is_said_by_the_caller(tmp_path: Path) -> None:
    store = CaptionStore(tmp_path / "c.sqlite3")
    assert not store.complete(KEY)
    store.write(KEY, some(2))
    assert not store.complete(KEY)
    store.mark_complete(KEY)
    store.mark_complete(KEY)
    assert store.complete(KEY)
    assert len(store.read(KEY)) == 2


def test_batches_are_there_while_the_rest_is_made(tmp_path: Path) -> None:
    store = CaptionStore(tmp_path / "c.sqlite3")
    seen: list[int] = []

    def captions() -> Iterator[Caption]:
        for caption in some(40):
            yield caption
            seen.append(len(store.times(KEY)))
        raise RuntimeError("the captioner broke")

    with pytest.raises(RuntimeError, match="broke"):
        store.write(KEY, captions())
    assert max(i + 1 - n for i, n in enumerate(seen)) <= 16
    assert len(store.times(KEY)) == 40


def test_many_threads_write_each_moment_once(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite3"
    new: list[int] = []
    errors: list[Exception] = []
    start = threading.Barrier(6)

    def work(first: int) -> None:
        start.wait()
        try:
            new.append(CaptionStore(path).write(KEY, some(60, first)))
        except Exception as e:
            errors.append(e)

    threads = [threading.Thread(target=work, args=(10 * i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert sum(new) == 110
    assert CaptionStore(path).read(KEY) == tuple(some(110))


def test_the_default_file_lies_in_the_cache(cache: Path) -> None:
    assert CaptionStore().path == captions_db()
    assert captions_db().is_file()


def test_a_damaged_file_is_named_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite3"
    path.write_bytes(b"this is not a database" * 100)
    with pytest.raises(InputError, match=r"c\.sqlite3 is damaged or is not one .*move the file away"):
        CaptionStore(path)
    assert path.read_bytes() == b"this is not a database" * 100


def test_damage_in_the_middle_is_reported_when_it_is_met(tmp_path: Path) -> None:
    path = tmp_path / "c.sqlite3"
    store = CaptionStore(path)
    store.write(KEY, some(2000))
    pages = path.read_bytes()
    path.write_bytes(pages[:4096] + b"\xff" * (len(pages) - 4096))
    with pytest.raises(InputError, match="damaged"):
        store.read(KEY)


def test_other_databases_and_versions_are_refused(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.sqlite3")
    other.execute("CREATE TABLE bills (sum REAL)")
    other.close()
    with pytest.raises(InputError, match="something else"):
        CaptionStore(tmp_path / "other.sqlite3")
    newer = sqlite3.connect(tmp_path / "newer.sqlite3")
    newer.execute("PRAGMA user_version = 99")
    newer.close()
    with pytest.raises(InputError, match="version 99"):
        CaptionStore(tmp_path / "newer.sqlite3")


def test_places_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(VideoHVError, match="VIDEOHV_CACHE"):
        CaptionStore(tmp_path / "file" / "c.sqlite3")
    with pytest.raises(VideoHVError, match="cannot use the caption store"):
        CaptionStore(tmp_path)


@pytest.mark.parametrize(
    ("content_hash", "captioner", "fps"), [("", "c", 1.0), ("h", "", 1.0), ("h", "c", 0.0), ("h", "c", float("nan"))]
)
def test_keys_are_checked(content_hash: str, captioner: str, fps: float) -> None:
    with pytest.raises(InputError):
        Key(content_hash, captioner, fps)
