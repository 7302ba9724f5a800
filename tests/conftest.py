from __future__ import annotations

import functools
import os
import signal
import ssl
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

# Before anything imports DSPy: its cache, and ours, must not touch the user's.
_HOME = tempfile.mkdtemp(prefix="videohv-tests-")
os.environ["DSPY_CACHEDIR"] = str(Path(_HOME) / "dspy")
os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "true"
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"
_MODELS = os.environ.get("VIDEOHV_CACHE")
os.environ["VIDEOHV_CACHE"] = str(Path(_HOME) / "videohv")

import pytest  # noqa: E402
from hypothesis import settings  # noqa: E402

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell has its background jobs ignore it, and so would every command that the tests interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says something about the machine, not about the code.
settings.register_profile("videohv", deadline=None)
settings.load_profile("videohv")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the test's own, and no key or choice of models of the machine's in sight."""
    home = tmp_path / "videohv-cache"
    monkeypatch.setenv("VIDEOHV_CACHE", str(home))
    for name in list(os.environ):
        chosen = name.startswith(("VIDEOHV_LM", "VIDEOHV_VISION_LM", "VIDEOHV_ROLE_", "VIDEOHV_PROFILE"))
        if chosen or name.endswith("_API_KEY") or name in {"OPENAI_BASE_URL", "OPENAI_API_BASE"}:
            monkeypatch.delenv(name)
    return home


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """A client of OpenAI's reads every certificate of the machine, and most tests have several of their own."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ssl, "create_default_context", functools.cache(ssl.create_default_context))
        yield


@pytest.fixture(autouse=True)
def kept_replies() -> Iterator[None]:
    """DSPy's response cache as it was: a run without one turns it off for the whole process."""
    loaded = sys.modules.get("dspy")
    before = loaded.cache if loaded is not None else None
    yield
    if loaded is not None:
        loaded.cache = before


@pytest.fixture
def user_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    """The user's own cache, for tests that need a model of a gigabyte."""
    if _MODELS is None:
        monkeypatch.delenv("VIDEOHV_CACHE")
    else:
        monkeypatch.setenv("VIDEOHV_CACHE", _MODELS)
