"""The command line: parses, calls the library, prints. Results go to stdout, everything else to stderr.

Exit codes: 0 answered (or done), 1 failure, 2 usage, 3 abstained, 130 interrupted.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from typing import Any

import typer

from videohv.cli.console import ERRORS, clean
from videohv.cli.interrupt import INTERRUPTED, farewell, interruptible, keeps
from videohv.errors import InputError, VideoHVError

FAILURE, USAGE = 1, 2

# Typer brings its own copy of click or depends on it, by version; this is the base of its usage errors either way.
_UsageError: Any = typer.BadParameter.__bases__[0]

_COMMANDS: Mapping[str, str] = {
    "ask": "ask.ask",
    "caption": "caption.caption",
    "probe": "probe.probe",
    "frames": "frames.frames",
    "demo": "ask.demo",
    "doctor": "doctor.doctor",
    "results": "results.results",
    "compare": "results.compare",
    "export": "results.export",
    "submit": "results.submit",
    "report": "report.report",
    "eval": "eval.evaluate",
    "tune": "tune.tune",
    "compile": "compile.compile_",
    "captions": "captions.captions",
    "models": "models.models",
    "program": "program.program",
    "app": "app.app",
    "mcp": "mcp.mcp",
}
"""Where each command is, or each group of commands."""


def _app(arguments: Sequence[str]) -> typer.Typer:
    """The command that the arguments name, or all for help: each imports what it needs, which takes its time."""
    app = typer.Typer(
        name="videohv",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback(help="Ask about a long video and get the answer with its evidence.")(lambda: None)
    named = arguments[0] if arguments else ""
    for name in (named,) if named in _COMMANDS else _COMMANDS:
        module, _, attribute = _COMMANDS[name].partition(".")
        command = getattr(importlib.import_module(f"videohv.cli.{module}"), attribute)
        if isinstance(command, typer.Typer):
            app.add_typer(command, name=name)
        else:
            app.command(name)(command)
    return app


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and exit with its code."""
    for stream in (sys.stdout, sys.stderr):
        # An answer that was paid for is printed on every terminal, if need be with escapes.
        stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    with interruptible():
        code = run(arguments)
        if code == INTERRUPTED:
            # Threads may still wait for calls that nobody wants any longer.
            os._exit(code)
    # Python goes through all objects more than once while it ends, which takes longer than many a command.
    gc.freeze()
    sys.exit(code)


def run(arguments: list[str] | None = None) -> int:
    """Run the command line and return its exit code; each expected failure is one line on stderr."""
    given = sys.argv[1:] if arguments is None else arguments
    keeps("")
    try:
        code = _app(given)(args=given, standalone_mode=False)
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
        ERRORS.print(clean(farewell()), markup=False, soft_wrap=True)
    return code if isinstance(code, int) else 0


def _failed(error: Exception, code: int) -> int:
    ERRORS.print(f"error: {clean(str(error))}", style="bold red", markup=False, soft_wrap=True)
    return code
