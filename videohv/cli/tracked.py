"""`--mlflow`: the option of commands whose runs can be tracked."""

from __future__ import annotations

from typing import Annotated

import typer

from videohv.cli.console import ERRORS, clean

MlflowOption = Annotated[
    str | None,
    typer.Option(
        "--mlflow", help="Track it in this MLflow store: sqlite:///FILE, http://…, or a folder.", metavar="URI"
    ),
]


def complain(why: str) -> None:
    """Say what could not be tracked."""
    ERRORS.print(f"not tracked: {clean(why)}", style="yellow", markup=False, soft_wrap=True)
