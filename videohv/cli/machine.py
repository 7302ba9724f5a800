"""What this machine has that a run needs, apart from models: versions, decoders, detectors, room."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import os
import platform
import shutil
from pathlib import Path

import videohv
from videohv.paths import cache_dir
from videohv.types import Value

DETECTORS = ("onnxruntime", "rapidocr")


class Machine(Value):
    """Args:
    python: Its version.
    videohv: Version of this package.
    dspy: Version of DSPy.
    pyav: Version of PyAV, which decodes by default; empty if it cannot be imported.
    decord: Version of decord; empty if it is not installed.
    detectors: Whether the packages of the extra `local` that detect objects and text are installed.
    embedded: Whether the runtime of the embedded model is installed.
    cache: The cache folder.
    cache_bytes: What lies in it.
    replies: DSPy's folder of kept replies.
    replies_bytes: What lies in it.
    free_bytes: Room left on the disk of the cache folder.
    """

    python: str
    videohv: str
    dspy: str
    pyav: str
    decord: str
    detectors: bool
    embedded: bool
    cache: str
    cache_bytes: int
    replies: str
    replies_bytes: int
    free_bytes: int


def look_around() -> Machine:
    """What there is. Nothing is fetched, and nothing heavy is imported."""
    from dspy.clients import DISK_CACHE_DIR

    cache = cache_dir()
    return Machine(
        python=f"{platform.python_version()}, {platform.system()} {platform.machine()}",
        videohv=videohv.__version__,
        dspy=importlib.metadata.version("dspy"),
        pyav=_pyav(),
        decord=importlib.metadata.version("decord") if importlib.util.find_spec("decord") else "",
        detectors=all(importlib.util.find_spec(name) is not None for name in DETECTORS),
        embedded=importlib.util.find_spec("xllamacpp") is not None,
        cache=str(cache),
        cache_bytes=size_of(cache),
        replies=str(DISK_CACHE_DIR),
        replies_bytes=size_of(Path(DISK_CACHE_DIR)),
        free_bytes=shutil.disk_usage(next(p for p in (cache, *cache.parents) if p.exists())).free,
    )


def size_of(folder: Path) -> int:
    """Bytes of all files in a folder; 0 if it is not there. Files that go while it is counted count for nothing."""
    total = 0
    for parent, _, names in os.walk(folder):
        for name in names:
            try:
                total += (Path(parent) / name).lstat().st_size
            except OSError:
                continue
    return total


def _pyav() -> str:
    try:
        import av
    except ImportError:
        return ""
    return str(av.__version__)
