"""Batch jobs on a fake server: clips whose every frame is another picture, and runs that do not sleep."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from tests.support.batch_server import FakeBatchServer
from tests.support.clips import make_clip
from tests.support.server import Request
from videohv.batch import BatchServer, CaptionJob, Journal, Limits, Report, run_batch
from videohv.data.store import CaptionStore, Key
from videohv.lm import make_lm
from videohv.modules.captioner import Captioner
from videohv.video import content_hash


def make_clips(folder: Path, lengths: Sequence[int]) -> list[Path]:
    """Clips of so many seconds, one frame a second, no two frames alike."""
    folder.mkdir(exist_ok=True)
    return [
        make_clip(folder / f"clip{i}.mp4", frames=length, fps=1.0, size=(128 + 16 * i, 96))
        for i, length in enumerate(lengths)
    ]


def times_in(request: Request) -> list[float]:
    """The times of the frames that a captioner's request shows."""
    shown = re.search(r"## times ## \]\]\n([\d.s, ]+)", request.text)
    return [float(time) for time in re.findall(r"([\d.]+)s", shown.group(1))] if shown else []


def describe(request: Request) -> str:
    """What a captioner replies: a sentence for each frame."""
    return json.dumps({"captions": [{"time": t, "seen": f"the scene at {t:g}"} for t in times_in(request)]})


class Rig:
    """A caption job in a folder, run as often as wanted; every run is a new process's view of it.

    Args:
        folder: For state and store.
        clips: The videos.
        server: The fake server.
        lm: Options of the LM.
    """

    def __init__(self, folder: Path, clips: Sequence[Path], server: FakeBatchServer, **lm: Any) -> None:
        self.folder, self.clips, self.server, self.address = folder, list(clips), server, server.address
        self.lm = make_lm(server.spec(**lm))
        self.store = CaptionStore(folder / "captions.sqlite3")
        self.told: list[str] = []
        self.pauses: list[float] = []
        self.problems: list[str] = []

    def job(self) -> CaptionJob:
        """A new job."""
        return CaptionJob(self.clips, Captioner(), self.lm, store=self.store)

    def run(self, *, wait: bool = True, **limits: Any) -> Report:
        """Go on with the job."""
        job = self.job()
        with self.journal() as journal:
            try:
                return run_batch(
                    job,
                    BatchServer(self.address, "none", pause=self.pauses.append),
                    journal,
                    limits=Limits(**limits),
                    wait=wait,
                    poll=0.0,
                    tell=self.told.append,
                    pause=self.pauses.append,
                    settle=0.0,
                )
            finally:
                self.problems = job.problems

    def journal(self) -> Journal:
        """The state, to look into."""
        return Journal(self.folder / "state", self.job().identity)

    def key(self, clip: Path) -> Key:
        """Where the captions of a clip lie."""
        return Key(content_hash(clip), self.job().captioner, 1.0)

    @property
    def counts(self) -> list[int]:
        """How many captions each clip has, -1 added where it is not marked as complete."""
        keys = [self.key(clip) for clip in self.clips]
        return [
            len(self.store.read(key)) if self.store.complete(key) else -1 - len(self.store.read(key)) for key in keys
        ]

    def check_once(self) -> None:
        """Every picture was captioned by exactly one answered line, and never in flight twice."""
        assert set(self.server.shelf.captioned.values()) == {1}
        assert not self.server.shelf.twice
