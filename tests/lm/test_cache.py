from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import diskcache
import dspy
import pytest
from dspy.clients import execution

from tests.support.engine import fake_lm
from videohv.lm import cache as module
from videohv.lm.adapter import json_adapter
from videohv.lm.cache import ensure_plain_cache, keeps_replies
from videohv.lm.call import Caller
from videohv.lm.usage import Ledger


class Evil:
    """Runs code when it is unpickled, as anything in a pickle may: here it makes a directory."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> Any:
        return os.mkdir, (str(self.mark),)


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """DSPy as it is before its cache was first used, with a directory of the test's own."""
    before = vars(dspy).pop("cache", None)
    home = tmp_path / "dspy"
    monkeypatch.setenv("DSPY_CACHEDIR", str(home))
    monkeypatch.setattr(module, "_seen", [])
    yield home
    vars(dspy).pop("cache", None)
    if before is not None:
        dspy.cache = before


def ask(lm: dspy.LM, question: str = "q") -> str:
    with dspy.context(adapter=json_adapter(), disable_history=True):
        caller = Caller(lm, "step", Ledger())
        return str(dspy.Predict("question -> summary")(lm=caller.lm(), question=question).summary)


def test_a_planted_pickle_is_not_run(own_cache: Path, tmp_path: Path) -> None:
    lm, engine = fake_lm({"summary": {"summary": "honest"}})
    cached, mark = lm.copy(cache=True), tmp_path / "it ran"
    assert ask(cached) == "honest"
    (key,) = dspy.cache.memory_cache
    vars(dspy).pop("cache")
    with diskcache.FanoutCache(str(own_cache), shards=16) as planted:
        planted.set(key, Evil(mark))
        planted.get(key)
    assert mark.is_dir(), "DSPy by itself would have run it"
    mark.rmdir()
    assert ask(cached) == "honest"
    assert not mark.exists()
    assert len(engine.requests) == 2, "what was planted counts as nothing"


def test_what_dspy_wrote_by_itself_is_read(own_cache: Path) -> None:
    lm, engine = fake_lm({"summary": {"summary": "x"}})
    cached = lm.copy(cache=True)
    with dspy.context(adapter=dspy.JSONAdapter()):
        dspy.Predict("question -> summary")(lm=cached, question="q")
    vars(dspy).pop("cache")
    assert ask(cached) == "x"
    assert len(engine.requests) == 1


def test_what_dspy_kept_in_memory_stays() -> None:
    lm, engine = fake_lm({"summary": {"summary": "x"}})
    cached = lm.copy(cache=True)
    with dspy.context(adapter=dspy.JSONAdapter()):
        dspy.Predict("question -> summary")(lm=cached, question="q")
    memory = dict(dspy.cache.memory_cache)
    ensure_plain_cache()
    assert dict(dspy.cache.memory_cache) == memory != {}
    ask(cached)
    assert not is_trusting(dspy.cache)
    assert len(engine.requests) == 1


def is_trusting(cache: Any) -> bool:
    return cache.disk_cache._disk is diskcache.Disk


@pytest.mark.parametrize(
    "asked", [{"enable_disk_cache": False}, {"memory_max_entries": 10}, {"disk_cache_dir": "elsewhere"}], ids=str
)
def test_what_the_user_configured_is_left_alone(asked: dict[str, Any], tmp_path: Path) -> None:
    options: dict[str, Any] = {"disk_cache_dir": str(tmp_path / asked.pop("disk_cache_dir", "dspy")), **asked}
    dspy.configure_cache(**options)
    own = dspy.cache
    ensure_plain_cache()
    assert dspy.cache is own


def test_a_later_choice_of_the_user_holds_too(tmp_path: Path) -> None:
    ensure_plain_cache()
    dspy.configure_cache(enable_disk_cache=False)
    own = dspy.cache
    ensure_plain_cache()
    assert dspy.cache is own


def test_nothing_is_built_for_calls_without_a_cache(own_cache: Path) -> None:
    lm, _ = fake_lm({"summary": {"summary": "x"}})
    ask(lm)
    assert "cache" not in vars(dspy)
    assert not own_cache.exists()


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="nothing is unwritable for this user")
def test_a_directory_that_cannot_be_written_leaves_the_memory(own_cache: Path) -> None:
    own_cache.parent.chmod(0o500)
    ensure_plain_cache()
    assert not dspy.cache.enable_disk_cache


def test_a_directory_that_is_none_leaves_the_memory(own_cache: Path) -> None:
    own_cache.write_text("a file")
    ensure_plain_cache()
    assert not dspy.cache.enable_disk_cache
    assert dspy.cache.enable_memory_cache


def test_however_many_threads_call_few_have_the_cache_open(monkeypatch: pytest.MonkeyPatch) -> None:
    used: set[str] = set()
    for name in ("_cached", "_store"):
        inner = getattr(execution, name)

        def spy(*arguments: Any, inner: Any = inner) -> Any:
            if arguments[1].cache:
                used.add(threading.current_thread().name)
            return inner(*arguments)

        monkeypatch.setattr(execution, name, spy)
    lm, engine = fake_lm({"summary": {"summary": "x"}})
    cached, start = lm.copy(cache=True), threading.Barrier(24)

    def work(number: int) -> str:
        start.wait()
        return ask(cached, f"question {number % 12}") + ask(cached, f"question {number % 12}")

    with ThreadPoolExecutor(24) as pool:
        assert list(pool.map(work, range(24))) == ["xx"] * 24
    assert 12 <= len(engine.requests) <= 24
    assert 1 <= len(used) <= 4
    assert all(name.startswith("videohv-cache") for name in used)


def test_where_nothing_is_kept_nothing_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    assert keeps_replies()
    dspy.configure_cache(enable_disk_cache=False, enable_memory_cache=False)
    assert not keeps_replies()
    monkeypatch.setattr("videohv.lm.call.in_cache_thread", lambda *_: pytest.fail("there is nothing to be found"))
    lm, engine = fake_lm({"summary": {"summary": "new"}})
    assert [ask(lm.copy(cache=True)) for _ in range(2)] == ["new", "new"]
    assert len(engine.requests) == 2
