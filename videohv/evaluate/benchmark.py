"""A benchmark run from Python: any program, with the models that are configured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import dspy

from videohv.data.dataset import Dataset
from videohv.evaluate.answerer import Answerer
from videohv.evaluate.describe import manifest_of
from videohv.evaluate.inputs import Inputs
from videohv.evaluate.runner import Ending, Progress, Run
from videohv.evaluate.threads import ThreadWorkers
from videohv.modules.program import VideoProgram
from videohv.types import Question


def run_benchmark(
    program: VideoProgram,
    dataset: Dataset,
    out: Path,
    *,
    captions: Path | None = None,
    videos: Path | None = None,
    questions: Sequence[Question] | None = None,
    orders: int = 1,
    concurrency: int = 1,
    retry_failed: bool = False,
    on_progress: Callable[[Progress], None] = lambda progress: None,
) -> Ending:
    """Ask a program the questions of a benchmark, or go on where an earlier call stopped.

    Args:
        program: Any method, compiled or not.
        dataset: As `load_questions` gave it.
        out: The run's directory.
        captions: Published captions: a file that names its videos, or a folder with one file a video.
        videos: Folder of the video files.
        questions: Those of the dataset that are asked; None for all.
        orders: Option orders under which each is asked.
        concurrency: Questions at once, in threads.
        retry_failed: Ask again what failed earlier.
        on_progress: Called after each question.

    Returns:
        The row of every question on disk and how the sitting ended; `videohv.evaluate.journal.read_traces` gives the
        full traces.

    Raises:
        InputError: If the inputs can't be used, or `out` holds another run or is in use.
        VideoHVError: If the journal can't be written.
    """
    asked = tuple(questions) if questions is not None else dataset.questions
    answerer = Answerer(program, Inputs(captions, videos))
    with dspy.context(disable_history=True, max_trace_size=0):
        manifest = manifest_of(dataset, asked, answerer, orders=orders, concurrency=concurrency)
        workers = ThreadWorkers(answerer, concurrency)
        return Run(
            out,
            manifest,
            dataset,
            asked,
            workers,
            retry_failed=retry_failed,
            on_begin=answerer.inputs.ready,
            on_progress=on_progress,
        ).go()
