"""`videohv report`: an answer, a run or two runs as one HTML file to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from videohv.cli.console import OUT
from videohv.cli.progress import counting
from videohv.errors import InputError
from videohv.report.files import read_trace_file, report_answer, report_comparison, report_run, video_at_hand

_MB = 1_000_000


def report(
    of: Annotated[
        list[Path],
        typer.Argument(
            help="A run's directory, two of them to compare, or a trace (`ask --trace FILE`).", metavar="RUN|TRACE"
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option(help="The HTML file. Default: report.html in the run, TRACE.html, or A-B.html.", metavar="FILE"),
    ] = None,
    video: Annotated[
        Path | None,
        typer.Option(
            help="The video of a trace, for pictures of the evidence. It is found by itself beside the trace."
        ),
    ] = None,
    details_mb: Annotated[
        int, typer.Option(min=0, max=500, help="Questions' details in a run's report at most, in MB.")
    ] = 32,
) -> int:
    """Write a report: one HTML file that needs no network and nothing beside itself."""
    if len(of) > 2:
        raise InputError(f"{len(of)} runs given; a report is of one, or of two beside each other")
    first = of[0]
    if len(of) == 2 or first.is_dir():
        if video is not None:
            raise InputError("--video goes with the trace of one question, not with runs")
        if len(of) == 2:
            target = out or Path(f"{first.resolve().name}-{of[1].resolve().name}.html")
            with counting("questions") as progress:
                report_comparison(first, of[1], target, details_mb * _MB, progress)
        else:
            with counting("questions") as progress:
                target = report_run(first, out or first / "report.html", details_mb * _MB, progress)
    else:
        trace = read_trace_file(first)
        target = out or first.with_suffix(".html")
        found = video or video_at_hand(trace, first.absolute().parent, target.absolute().parent)
        report_answer(trace, target, found)
    OUT.out(str(target))
    return 0
