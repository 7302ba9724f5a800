"""Memory over many openings, and while nobody asks; of the processes beside this one too."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory cannot be read on this system"),
]
DECODERS = [
    "pyav",
    pytest.param("decord", marks=pytest.mark.skipif(not importlib.util.find_spec("decord"), reason="no decord")),
]
ROOT = Path(__file__).parent.parent.parent
GROWTH_MIB = 24
IDLE_MIB = 300

PRELUDE = """
import gc, os, sys, time
from pathlib import Path
from tests.support.clips import make_clip
from videohv.types import Window
from videohv.video import Video, decord_pool, identity
from videohv.video.decord_pool import POOL

folder, decoder = Path(sys.argv[1]), sys.argv[2]

def mib(pid="self"):
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

def all_mib():
    return mib() + sum(mib(p.pid) for p in POOL.idle)
"""

MANY = """
clips = [make_clip(folder / f"{i}.{kind}", frames=90, size=(320, 240), audio=True)
         for i, kind in enumerate(("mp4", "mkv", "mp4", "ts"))]
seen = []
for i in range(500):
    # A file that was touched is judged, scanned and opened anew.
    clip = clips[i % 4]
    os.utime(clip, ns=(i, i))
    video = Video(clip, decoder=decoder)
    assert len(video.window(Window(start=0.5, end=2.5))) == 5
    assert video.warnings == video.info.warnings
    if i >= 100 and i % 20 == 0:
        gc.collect()
        seen.append(all_mib())
print(sum(seen[-5:]) / 5 - sum(seen[:5]) / 5, max(seen))
"""

IDLE = """
video = Video(make_clip(folder / "long.mp4", frames=900, size=(1280, 720), gop=150), decoder=decoder)
frames = video.window(Window(start=2, end=12))
assert video.info.decoder == decoder and len(frames) == 5
at_once = all_mib()
time.sleep(5)
soon = all_mib()
time.sleep(25)
print(at_once, soon, all_mib(), len(POOL.idle))
"""


def run(script: str, folder: Path, decoder: str) -> list[float]:
    command = [sys.executable, "-c", PRELUDE + script, str(folder), decoder]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=1200, check=False, env=environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return [float(figure) for figure in done.stdout.splitlines()[-1].split()]


@pytest.mark.parametrize("decoder", DECODERS)
def test_memory_stays_flat_over_500_openings(tmp_path: Path, decoder: str) -> None:
    growth, most = run(MANY, tmp_path, decoder)
    assert growth < GROWTH_MIB, (growth, most)


@pytest.mark.parametrize("decoder", DECODERS)
def test_memory_stays_small_while_nobody_asks(tmp_path: Path, decoder: str) -> None:
    at_once, soon, after_half_a_minute, processes = run(IDLE, tmp_path, decoder)
    assert soon < at_once + GROWTH_MIB
    assert after_half_a_minute < IDLE_MIB
    assert processes == 0
