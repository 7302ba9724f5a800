"""Looks at broken files the way the program does, in a process of its own, and says what is wrong with what it got.

    python -m tests.support.looking_at LIST DECODER [THREADS]

LIST holds one JSON object a line: the fields of `Broken`. For each file two lines come out, one when it is begun (so
that a crash can be laid at its door) and one with the complaints.
"""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any

from tests.support.broken import Broken, Span
from tests.support.clips import number_in
from videohv.errors import VideoHVError
from videohv.types import Window
from videohv.video import Frame, Video

_TIMES = 16
_SAMPLES = 60


def look(broken: Broken, decoder: str) -> tuple[list[str], str]:
    """Probes a file, then takes 16 frames spread over it, one a second, and 5 of a window in the middle.

    Returns:
        What is wrong (an error that is not typed, frames that are wrong, late, lost, doubled or out of order), and who
        read the file: `pyav`, `decord`, `decord, pyav` when it failed on the way, or nobody.
    """
    complaints: list[str] = []

    def tried(what: str, wanted: Sequence[float], get: Callable[[], Sequence[Frame]]) -> None:
        try:
            frames = get()
        except VideoHVError as error:
            if any(_within(broken.whole, time) for time in wanted):
                complaints.append(f"{what}: {type(error).__name__}: {error}")
        except Exception as error:
            complaints.append(f"{what}: untyped {type(error).__name__}: {error}")
        else:
            complaints.extend(f"{what}: {wrong}" for wrong in _wrong(broken, wanted, frames))

    try:
        video = Video(broken.path, decoder=decoder)
    except VideoHVError as error:
        return [f"refused: {type(error).__name__}: {error}"] if broken.whole else [], ""
    except Exception as error:
        return [f"untyped {type(error).__name__}: {error}"], ""
    length = video.info.duration
    times = [length * (i + 0.5) / _TIMES for i in range(_TIMES)]
    tried("16 times", times, lambda: video.frames_at(times))
    seconds = [float(i) for i in range(_SAMPLES) if i < length]
    tried("1 fps", seconds, lambda: list(islice(video.sample(), _SAMPLES)))
    middle = Window(start=length * 0.4, end=length * 0.5)
    span = middle.duration
    tried("window", [], lambda: video.window(middle))
    if any(s.start <= middle.start and middle.end <= s.end for s in broken.whole):
        each = [middle.start + span * (i + 0.5) / 5 for i in range(5)]
        tried("window by times", each, lambda: video.frames_at(each))
    taken_over = len(video.warnings) > len(video.info.warnings)
    return complaints, video.info.decoder + ", pyav" * taken_over


def _within(whole: Sequence[Span], time: float, margin: float = 0.001) -> bool:
    return any(span.start + margin <= time <= span.end - margin for span in whole)


def _wrong(broken: Broken, wanted: Sequence[float], frames: Sequence[Frame]) -> list[str]:
    wrong = []
    got = [frame.wanted for frame in frames]
    if got != sorted(set(got)):
        wrong.append(f"doubled or out of order: {got}")
    if wanted and (strange := set(got) - set(wanted)):
        wrong.append(f"never asked for: {sorted(strange)}")
    edge = 0.5 / broken.fps
    for at in wanted:
        if _within(broken.whole, at, 2 * edge) and at not in got:
            wrong.append(f"nothing for {at:.2f} s")
    for frame in frames:
        if frame.time > frame.wanted + 0.002:
            wrong.append(f"at {frame.wanted:.3f} s a frame of {frame.time:.3f} s")
        if not _within(broken.whole, frame.wanted, 2 * edge):
            continue
        # Times near an edge between two frames may be rounded either way by the container.
        right = {int((frame.wanted + slack) * broken.fps) for slack in (-0.002, 0.002)}
        number = number_in(frame.rgb)
        if number not in right:
            wrong.append(f"at {frame.wanted:.3f} s frame {number} ({frame.time:.3f} s) and not {sorted(right)}")
    return wrong[:4]


def main(listing: str, decoder: str, threads: str = "1") -> None:
    """See the module."""
    from videohv.video.decord_pool import POOL
    from videohv.video.pool import SOURCES

    every = [_broken(json.loads(line)) for line in Path(listing).read_text(encoding="utf-8").splitlines()]
    lock = threading.Lock()

    def say(**what: Any) -> None:
        with lock:
            print(json.dumps(what), flush=True)

    def one(broken: Broken) -> None:
        say(begun=broken.name)
        began, cpu = time.monotonic(), time.process_time()
        complaints, read_by = look(broken, decoder)
        say(
            ended=broken.name,
            complaints=complaints,
            read_by=read_by,
            seconds=time.monotonic() - began,
            cpu=time.process_time() - cpu,
        )

    if threads == "1":
        for broken in every:
            one(broken)
    else:
        with ThreadPoolExecutor(int(threads)) as pool:
            list(pool.map(one, every))
    idle = len(POOL.idle)
    POOL.close()
    SOURCES.close()
    left = [t.name for t in threading.enumerate() if t is not threading.main_thread()]
    say(finished=True, threads=left, processes=_children(), idle=idle)


def _children() -> list[str]:
    """Processes that this one has started and that are not gone, where the system tells."""
    return [pid for task in Path("/proc/self/task").glob("*/children") for pid in task.read_text().split()]


def _broken(fields: dict[str, Any]) -> Broken:
    spans = tuple(Span(*span) for span in fields["whole"])
    return Broken(fields["name"], Path(fields["path"]), fields["fps"], spans)


if __name__ == "__main__":
    main(*sys.argv[1:])
