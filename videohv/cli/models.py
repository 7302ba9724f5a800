"""`videohv models`: the embedded language models in the user's cache."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.progress import DownloadColumn

from videohv.cli.console import ERRORS, OUT
from videohv.cli.interrupt import keeps
from videohv.cli.progress import Counting
from videohv.errors import ModelError
from videohv.lm import fetch
from videohv.lm.catalogue import DEFAULT, entries

models = typer.Typer(help="The embedded language models.", no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(help="A name that `videohv models list` shows.")]


@models.command("list")
def list_models() -> None:
    """Show the models that can be embedded, and which are in the cache."""
    here = {item.name: item for item in fetch.installed()}
    for entry in entries():
        state = f"in the cache: {here[entry.name].path}" if entry.name in here else "not fetched"
        mark = " (default)" if entry.name == DEFAULT else ""
        OUT.out(f"{entry.name}{mark}\t{entry.size / 1e9:.2f} GB\t{entry.licence}\t{state}")


@models.command("pull")
def pull(name: Name = DEFAULT) -> None:
    """Fetch a model into the cache, verified by its SHA-256. Run it again to go on after an interruption."""
    bar = Counting(ERRORS, DownloadColumn())
    keeps("what was fetched is kept")
    try:
        path = fetch.pull(name, lambda done, total, what: bar(what, done, total))
    finally:
        bar.close()
    OUT.out(str(path))


@models.command("path")
def path(name: Name = DEFAULT) -> None:
    """Print where a fetched model lies."""
    found = fetch.model_path(name)
    if found is None:
        raise ModelError(f"{name} is not in the cache: fetch it with  videohv models pull {name}")
    OUT.out(str(found))


@models.command("remove")
def remove(name: Name) -> None:
    """Delete a model from the cache."""
    if not fetch.remove(name):
        raise ModelError(f"{name} is not in the cache")
    ERRORS.print(f"{name} removed", markup=False)
