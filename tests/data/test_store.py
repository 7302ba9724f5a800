from __future__ import annotations

import sqlite3
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from videohv.data import CaptionStore, Key
from videohv.data.forms import RawCaption
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


VERSION_1 = """
PRAGMA journal_mode = WAL;
CREATE TABLE tracks (
    id INTEGER PRIMARY KEY, content_hash TEXT NOT NULL, captioner TEXT NOT NULL, fps REAL NOT NULL,
    complete INTEGER NOT NULL DEFAULT 0, UNIQUE (content_hash, captioner, fps)
);
CREATE TABLE captions (
    track INTEGER NOT NULL REFERENCES tracks (id) ON DELETE CASCADE, microseconds INTEGER NOT NULL, text TEXT NOT NULL,
    PRIMARY KEY (track, microseconds)
) WITHOUT ROWID;
INSERT INTO tracks VALUES (1, 'hash', 'tags-1', 1.0, 1);
INSERT INTO captions VALUES (1, 0, 'caption 0'), (1, 1000000, 'caption 1');
PRAGMA user_version = 1;
"""


def version_1(path: Path) -> Path:
    db = sqlite3.connect(path)
    db.executescript(VERSION_1)
    db.close()
    return path


def test_version_1_is_brought_up_to_date_where_it_lies(tmp_path: Path) -> None:
    store = CaptionStore(version_1(tmp_path / "c.sqlite3"))
    assert store.read(KEY) == tuple(some(2))
    assert store.read_raw(KEY) == (RawCaption(0, "caption 0"), RawCaption(1, "caption 1"))
    assert store.complete(KEY)
    assert store.write_raw(KEY, [RawCaption(1, "kept out"), RawCaption(2, "#C C sits\n")]) == 1
    assert CaptionStore(store.path).read_raw(KEY)[2] == RawCaption(2, "#C C sits\n")
    assert store.read(KEY)[2].text == "C sits"


WORKER = """
import sys
from videohv.data import CaptionStore, Key
from videohv.data.forms import RawCaption
print("ready", flush=True)
sys.stdin.readline()
CaptionStore(sys.argv[1]).write_raw(Key("hash", "tags-1", 1.0), [RawCaption(int(sys.argv[2]), "x")])
"""


def test_two_processes_bring_it_up_to_date_at_once(tmp_path: Path) -> None:
    path = version_1(tmp_path / "c.sqlite3")
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", WORKER, str(path), str(second)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for second in (5, 6)
    ]
    for worker in workers:
        assert worker.stdout is not None
        assert worker.stdout.readline() == "ready\n"
    for worker in workers:
        assert worker.stdin is not None
        worker.stdin.write("go\n")
        worker.stdin.flush()
    for worker in workers:
        worker.communicate(timeout=60)
    assert [worker.returncode for worker in workers] == [0, 0]
    assert CaptionStore(path).times(KEY) == {0.0, 1.0, 5.0, 6.0}


def test_an_open_store_of_the_older_version_goes_on_writing(tmp_path: Path) -> None:
    """A process that opened the file before it was brought up to date still uses the older statements."""
    path = version_1(tmp_path / "c.sqlite3")
    old = sqlite3.connect(path)
    CaptionStore(path)
    with old:
        old.execute("INSERT OR IGNORE INTO captions (track, microseconds, text) SELECT id, 7000000, 'x' FROM tracks")
    old.close()
    assert CaptionStore(path).read(KEY)[-1] == Caption(time=7, text="x")


def test_published_captions_are_stored_whole_or_not_at_all(tmp_path: Path) -> None:
    store = CaptionStore(tmp_path / "c.sqlite3")

    def broken() -> Iterator[RawCaption]:
        yield from (RawCaption(i, f"text {i}") for i in range(100))
        raise InputError("entry 100 is wrong")

    with pytest.raises(InputError):
        store.write_raw(KEY, broken())
    assert store.read(KEY) == ()
    assert store.tracks() == ()
    assert store.write_raw(KEY, [RawCaption(0, "#O"), RawCaption(1, "a")]) == 2
    assert store.read(KEY) == (Caption(time=1, text="a"),)
    assert store.times(KEY) == {0.0, 1.0}
