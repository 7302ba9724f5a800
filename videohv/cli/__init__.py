"""The command line: parses, calls the library, prints. Results go to stdout, everything else to stderr.

Exit codes: 0 answered (or done), 1 failure, 2 usage, 3 abstained, 130 interrupted.
"""

from __future__ import annotations

import os
import sys
from typing import Any

import typer

from videohv.cli.ask import ask, demo
from videohv.cli.caption import caption
from videohv.cli.captions import captions
from videohv.cli.compile import compile_
from videohv.cli.console import ERRORS, clean
from videohv.cli.doctor import doctor
from videohv.cli.eval import evaluate
from videohv.cli.frames import frames
from videohv.cli.models import models
from videohv.cli.probe import probe
from videohv.cli.program import program
from videohv.cli.report import report
from videohv.cli.results import compare, export, results, submit
from videohv.cli.tune import tune
from videohv.errors import InputError, VideoHVError

FAILURE, USAGE, INTERRUPTED = 1, 2, 130

# Typer brings its own copy of click or depends on it, by version; this is the base of its usage errors either way.
_UsageError: Any = typer.BadParameter.__bases__[0]

app = typer.Typer(
    name="videohv",
    help="Ask about a long video and get the answer with its evidence.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.command("ask")(ask)
app.command("caption")(caption)
app.command("probe")(probe)
app.command("frames")(frames)
app.command("demo")(demo)
app.command("doctor")(doctor)
app.command("results")(results)
app.command("compare")(compare)
app.command("export")(export)
app.command("submit")(submit)
app.command("report")(report)
app.command("eval")(evaluate)
app.command("tune")(tune)
app.command("compile")(compile_)
app.add_typer(captions, name="captions")
app.add_typer(models, name="models")
app.add_typer(program, name="program")


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        # An answer that was paid for is printed on every terminal, if need be with escapes.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    code = run(arguments)
    if code == INTERRUPTED:
        # Threads may still wait for calls that nobody wants any longer.
        os._exit(code)
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; each expected failure is one line on stderr."""
    try:
        code = app(args=arguments, standalone_mode=False)
        sys.stdout.flush()
    except _UsageError as error:
        error.show()
        return USAGE
    except InputError as error:
        return _failed(error, USAGE)
    except BrokenPipeError:
        # Whoever read stdout has had enough; Python must not complain about it once more while it shuts down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return FAILURE
    except (VideoHVError, OSError) as error:
        return _failed(error, FAILURE)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:
        ERRORS.print(
            "stopped; captions and model replies so far are kept: run the same command to go on", soft_wrap=True
        )
    return code if isinstance(code, int) else 0


def _failed(error: Exception, code: int) -> int:
    ERRORS.print(f"error: {clean(str(error))}", style="bold red", markup=False, soft_wrap=True)
    return code
