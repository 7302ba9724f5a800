"""`videohv results`, `compare`, `export` and `submit`: what a run came to, and where it goes from there."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer

from videohv.cli.console import ERRORS, OUT, clean, say
from videohv.cli.listed import listed
from videohv.evaluate.export import Export, export_run, save
from videohv.evaluate.results import Results, compare_runs, results_of
from videohv.evaluate.submit import URL, keep
from videohv.evaluate.submit import submit as send
from videohv.evaluate.tables import as_text
from videohv.evaluate.versus import comparison_text
from videohv.types import Value, letter

RunArgument = Annotated[Path, typer.Argument(help="A run's directory.")]
JSONOption = Annotated[bool, typer.Option("--json", help="Print everything as one JSON object.")]
FillOption = Annotated[
    int | None,
    typer.Option(
        min=0,
        max=25,
        help="Made-up answer (option counted from 0) for each question without one; they are written down.",
    ),
]


def results(
    run: RunArgument,
    by: Annotated[
        str, typer.Option(help="Break down by these only, by commas: type, group, or facets such as duration.")
    ] = "",
    policy: Annotated[str, typer.Option(help="These policies only, by commas: strict, answered, chance.")] = "",
    as_json: JSONOption = False,
) -> int:
    """Show a run's figures: accuracy with intervals, failures, calibration, cost."""
    show(results_of(run, by=listed(by) or None, policy=listed(policy)), as_json=as_json)
    return 0


def show(made: Results, *, as_json: bool) -> None:
    """Print a run's figures."""
    OUT.out(_json(made.summary) if as_json else as_text(made.summary, made.manifest))


def compare(
    a: Annotated[Path, typer.Argument(help="The first run's directory.")],
    b: Annotated[Path, typer.Argument(help="The second run's directory.")],
    as_json: JSONOption = False,
) -> int:
    """Compare two runs on the questions that both finished."""
    made = compare_runs(a, b)
    OUT.out(_json(made) if as_json else comparison_text(made, str(a), str(b)))
    return 0


def export(
    run: RunArgument,
    format: Annotated[str, typer.Option("--format", help="egoschema, kaggle or videomme.")],
    out: Annotated[Path | None, typer.Option(help="The file. Default: RUN/FORMAT, with the format's ending.")] = None,
    annotations: Annotated[
        Path | None, typer.Option(help="The authors' annotation file, for formats that copy it (videomme).")
    ] = None,
    fill: FillOption = None,
) -> int:
    """Write a run's answers as the file that the benchmark's authors take in."""
    made = export_run(run, format, fill=fill, annotations=annotations)
    OUT.out(str(_saved(made, out or run / f"{made.format}{made.suffix}")))
    return 0


def submit(
    run: RunArgument,
    url: Annotated[str, typer.Option(help="The validation server.")] = URL,
    yes: Annotated[
        bool, typer.Option("--yes", help="Send it. Without this it is only said what would be sent.")
    ] = False,
    fill: FillOption = None,
) -> int:
    """Send a run of EgoSchema's full set to its validation server, and keep what the server says."""
    made = export_run(run, "egoschema", fill=fill)
    path = _saved(made, run / f"{made.format}{made.suffix}")
    if not yes:
        OUT.out(f"would send {path} ({made.questions:,} answers, {len(made.text.encode()):,} bytes) to {clean(url)}")
        say("nothing sent", "add --yes to send it")
        return 0
    receipt = send(made.text, url=url, say=lambda line: say("waiting", line))
    say("kept in", str(keep(receipt, run)))
    OUT.out(clean(receipt.answer))
    return 0


def _saved(made: Export, path: Path) -> Path:
    """Write the file and say loudly what in it is not the run's own."""
    record = save(made, path)
    if record is not None and made.fill is not None:
        ERRORS.print(
            f"{len(made.without)} of {made.questions} answers are MADE UP: {letter(made.fill)} was put in for each "
            f"question without an answer; {record} names them. Say so wherever the score is quoted.",
            style="bold red",
            markup=False,
            soft_wrap=True,
        )
    elif made.without:
        say("no answer", f"{len(made.without)} of {made.questions} questions; they are left empty")
    return path


def _json(value: Value) -> str:
    as_it_is = (sys.stdout.encoding or "").lower().startswith("utf")
    return json.dumps(value.model_dump(mode="json"), ensure_ascii=not as_it_is, indent=1)
