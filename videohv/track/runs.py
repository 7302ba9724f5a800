"""What is put into a store of a benchmark run and of a compile."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from videohv.compiled import read_artifact
from videohv.compiled.artifact import Artifact
from videohv.errors import VideoHVError
from videohv.evaluate.manifest import NAME as MANIFEST
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.results import Results
from videohv.evaluate.runner import Progress
from videohv.evaluate.tables import as_text
from videohv.report import report_run
from videohv.track.store import Tracker
from videohv.types import Estimate

if TYPE_CHECKING:
    from videohv.optimize.compile import Compiled
    from videohv.optimize.run.progress import Progress as CompileProgress

_REPORT_BYTES = 8_000_000


def begin_run(tracker: Tracker, manifest: Manifest) -> None:
    """What a benchmark run is."""
    tracker.begin(
        {
            "benchmark": manifest.title,
            "data_hash": manifest.data_hash,
            "questions": len(manifest.question_ids),
            "orders": manifest.orders,
            "method": manifest.method,
            "program": manifest.program,
            "program_hash": manifest.program_hash,
            "captions": manifest.captions,
            "captions_hash": manifest.captions_hash,
            "stride": manifest.stride,
            "captioner": manifest.captioner,
            "seed": manifest.seed,
            "code": manifest.code,
            "dspy": manifest.dspy,
            "identity": manifest.identity,
            **{f"setting.{name}": value for name, value in manifest.settings.items()},
            **{f"model.{model.role}": model.name for model in manifest.models},
        }
    )


def tell_progress(tracker: Tracker, progress: Progress) -> None:
    """How far a run has come."""
    right = progress.right / progress.scored if progress.scored else None
    tracker.figures(
        {
            "running.accuracy": right,
            "running.failed": progress.failed,
            "running.calls": progress.calls,
            "running.tokens": progress.tokens,
            "running.cost": progress.cost,
        },
        step=progress.done,
    )


def end_run(tracker: Tracker, results: Results, folder: Path, *, whole: bool = True) -> None:
    """What came of a run: its figures, tables, manifest and report; its journal stays where it is.

    Args:
        tracker: Where it is put.
        results: Of the run.
        folder: Of the run.
        whole: Whether it is done.
    """
    if not whole:
        tracker.stopped()
    if not tracker.takes:
        return
    summary = results.summary
    figures: dict[str, float | None] = {"finished": summary.n}
    for accuracy in summary.accuracy:
        figures |= dict(_estimate(f"accuracy.{accuracy.policy}", accuracy.estimate))
    figures |= dict(_estimate("failed", summary.failed)) | dict(_estimate("abstained", summary.abstained))
    for spent in (*summary.spending, *summary.stages):
        figures[f"mean.{_name(spent.name)}"] = spent.mean
        figures[f"total.{_name(spent.name)}"] = spent.total
    tracker.figures(figures)
    tracker.file(folder / MANIFEST)
    tracker.text("results.txt", as_text(summary, results.manifest))
    with tempfile.TemporaryDirectory(prefix="videohv-") as home, suppress(VideoHVError):
        # A run without a question on disk has no report.
        made = report_run(folder, Path(home) / "report.html", _REPORT_BYTES)
        tracker.text(made.name, made.read_text(encoding="utf-8"))


class Trials:
    """Puts each trial of a compile in once, out of the progress that is told of many times.

    Args:
        tracker: Where they are put.
    """

    def __init__(self, tracker: Tracker) -> None:
        self._tracker, self._told = tracker, 0

    def __call__(self, progress: CompileProgress) -> None:
        """Put in what is new."""
        if progress.trial is None or progress.trials <= self._told:
            return
        self._told = progress.trials
        trial = progress.trial
        self._tracker.figures(
            {"trial.score": trial.score, "trial.best": trial.best, "trial.calls": progress.calls}, step=progress.trials
        )


def end_compile(tracker: Tracker, made: Compiled) -> None:
    """What came of a compile: both scores, their difference, what it cost, and the artifact with its card."""
    proof = made.proof
    tracker.figures(
        {
            **dict(_estimate("seed", proof.seed)),
            **dict(_estimate("compiled", proof.compiled)),
            **dict(_estimate("difference", proof.difference)),
            "p": proof.p,
            "calls": made.spent.calls,
            "tokens": made.spent.tokens,
            "cost": made.spent.cost,
        }
    )
    if (artifact := read_artifact(made.artifact)) is not None:
        tracker.settings(_of(artifact))
    tracker.file(made.artifact)
    tracker.file(made.artifact.with_suffix(".md"))


def _of(artifact: Artifact) -> dict[str, object]:
    data = artifact.data
    return {
        "program_hash": artifact.program_hash,
        "data_hash": data.content_hash,
        "split_hash": data.split_hash,
        "captions_hash": data.captions_hash,
        "questions.train": len(data.train),
        "questions.dev": len(data.dev),
        "questions.test": len(data.test),
        "code": artifact.versions.videohv,
        "dspy": artifact.versions.dspy,
        **{f"setting.{name}": value for name, value in artifact.settings.items()},
        **{f"model.{model.role}": model.name for model in artifact.models},
    }


def _estimate(name: str, estimate: Estimate | None) -> Iterator[tuple[str, float | None]]:
    if estimate is not None:
        yield name, estimate.value
        yield f"{name}.low", estimate.low
        yield f"{name}.high", estimate.high


def _name(text: str) -> str:
    return "".join(character if character.isalnum() or character in "_./-" else "_" for character in text)
