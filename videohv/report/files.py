"""From runs and traces on disk to report files."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import ValidationError

from videohv.data.whole import write_whole
from videohv.errors import DecodeError, InputError
from videohv.evaluate.journal import read_entries, read_trace, read_traces
from videohv.evaluate.manifest import read_manifest
from videohv.report.packed import BUDGET
from videohv.report.pictures import beside, require_same, same_video, thumbnails
from videohv.report.runs import run_html
from videohv.report.single import html_of
from videohv.report.versus import Pair, Side, comparison_html
from videohv.types import Trace
from videohv.video import Video

T = TypeVar("T")

Counted = Callable[[int, int], None]
"""Told of questions done and questions in all."""


def report_answer(trace: Trace, out: Path, video: Path | None = None) -> Path:
    """Write the report of one answer.

    Args:
        trace: What happened.
        out: The HTML file.
        video: The file that was asked about, for pictures of the evidence. The report plays it if it lies in the
            report's folder or below.

    Returns:
        `out`.

    Raises:
        InputError: The file cannot be written, or `video` is another one than the trace is of.
        NotVideo: `video` cannot be read.
    """
    if video is None:
        write_whole(out, html_of(trace))
        return out
    require_same(trace, video)
    pictures: Mapping[float, str] = {}
    remark = ""
    try:
        pictures = thumbnails(trace, Video(video))
    except DecodeError as error:
        # The answer stands without its pictures; the page says why there are none.
        remark = f"No pictures of the evidence: {error}"
    write_whole(out, html_of(trace, pictures=pictures, video=beside(video, out), remark=remark))
    return out


def report_run(folder: Path, out: Path, budget: int = BUDGET, on_progress: Counted = lambda done, total: None) -> Path:
    """Write the report of a run, finished or not.

    Args:
        folder: The run's directory.
        out: The HTML file.
        budget: Bytes of the questions' details at most.
        on_progress: Told of questions done and questions in all.

    Returns:
        `out`.

    Raises:
        InputError: There is no run, it is damaged, or the file cannot be written.
    """
    manifest, entries = read_manifest(folder), read_entries(folder)
    answers = _counted(read_traces(folder, entries), len(entries), on_progress)
    write_whole(out, run_html(manifest, answers, budget=budget))
    return out


def report_comparison(
    a: Path, b: Path, out: Path, budget: int = BUDGET, on_progress: Counted = lambda done, total: None
) -> Path:
    """Write the report of two runs beside each other; otherwise as `report_run`."""
    entries_a, entries_b = read_entries(a), read_entries(b)
    shared, done = len(entries_a.keys() & entries_b.keys()), itertools.count()

    def traces(pair: Pair) -> tuple[Trace, Trace]:
        on_progress(next(done), shared)
        return read_trace(a, entries_a[pair.a.key]), read_trace(b, entries_b[pair.b.key])

    first = Side(a.name or str(a), read_manifest(a), [entry.row for entry in entries_a.values()])
    second = Side(b.name or str(b), read_manifest(b), [entry.row for entry in entries_b.values()])
    write_whole(out, comparison_html(first, second, traces, budget=budget))
    return out


def _counted(items: Iterable[T], total: int, on_progress: Counted) -> Iterator[T]:
    for done, item in enumerate(items):
        on_progress(done, total)
        yield item


def read_trace_file(path: Path) -> Trace:
    """A trace that `videohv ask --trace` or `--json` wrote.

    Raises:
        InputError: It is not there, or is none.
    """
    try:
        made = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"{path} cannot be read as JSON ({error})") from error
    if isinstance(made, dict) and isinstance(made.get("trace"), dict):
        made = made["trace"]
    try:
        # As JSON again: enumerations and tuples are read from JSON's types, not from Python's.
        trace = Trace.model_validate_json(json.dumps(made))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(map(str, first["loc"])) or "the whole"
        raise InputError(
            f"{path} is no trace that this version knows ({where}: {first['msg']}); give a file of "
            "`videohv ask --trace FILE`, or a run's directory"
        ) from error
    index = trace.answer.option_index if trace.answer is not None else None
    if index is not None and not 0 <= index < len(trace.question.options):
        raise InputError(f"{path}: it answers option {index}, and the question has {len(trace.question.options)}")
    return trace


def video_at_hand(trace: Trace, *folders: Path) -> Path | None:
    """The trace's video, if a file of its name and content lies in one of the folders.

    The place that a trace names is not looked at: traces come from elsewhere too.
    """
    if trace.video is None:
        return None
    name = trace.video.path.replace("\\", "/").rpartition("/")[2]
    for folder in folders:
        path = folder / name
        if name and path.is_file() and same_video(trace, path):
            return path
    return None
