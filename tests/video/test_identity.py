from __future__ import annotations

import hashlib
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from videohv.errors import NotVideo
from videohv.video.identity import PerFile, content_hash


def test_the_hash_is_that_of_the_whole_file(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(os.urandom(3_000_001))
    assert content_hash(path) == hashlib.sha256(path.read_bytes()).hexdigest()
    copy = tmp_path / "b"
    copy.write_bytes(path.read_bytes())
    assert content_hash(copy) == content_hash(path)


def test_a_change_in_the_middle_is_seen(tmp_path: Path) -> None:
    path = tmp_path / "a"
    data = bytearray(5_000_000)
    path.write_bytes(data)
    before = content_hash(path)
    data[2_500_000] = 1
    path.write_bytes(data)
    os.utime(path, ns=(1, 1))
    assert content_hash(path) != before


def test_once_per_file_whatever_the_threads(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    made: list[Path] = []
    together = Barrier(8)

    def make(path: Path) -> int:
        made.append(path)
        return len(made)

    once = PerFile(make)

    def ask(_: int) -> int:
        together.wait()
        return once(path)

    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(ask, range(8))) == {1}
    path.write_bytes(b"longer")
    assert once(path) == 2


def test_failures_are_not_remembered(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"x")
    calls = 0

    def make(_: Path) -> int:
        nonlocal calls
        calls += 1
        if calls == 1:
            raise NotVideo("not yet")
        return calls

    once = PerFile(make)
    with pytest.raises(NotVideo):
        once(path)
    assert once(path) == 2
