from __future__ import annotations

from pathlib import Path

import platformdirs
import pytest

from videohv.paths import cache_dir, captions_db, models_dir


def test_environment_names_the_cache(cache: Path) -> None:
    assert cache_dir() == cache
    assert captions_db().parent == cache
    assert models_dir().parent == cache
    assert not cache.exists()


def test_home_sign_and_relative_paths_are_resolved(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VIDEOHV_CACHE", "~/somewhere")
    assert cache_dir() == Path.home() / "somewhere"
    monkeypatch.setenv("VIDEOHV_CACHE", "here")
    assert cache_dir() == Path.cwd() / "here"


@pytest.mark.parametrize("value", [None, "", " "])
def test_without_it_the_users_cache_is_used(monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    if value is None:
        monkeypatch.delenv("VIDEOHV_CACHE")
    else:
        monkeypatch.setenv("VIDEOHV_CACHE", value)
    assert cache_dir() == Path(platformdirs.user_cache_dir("videohv", appauthor=False))
