"""`videohv app`: a page on this machine where people ask about videos, with an HTTP API."""

from __future__ import annotations

import os
import re
import secrets
import signal
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Annotated

import typer

from videohv.app import Desk, Jobs, Places
from videohv.app.kept import Kept, Runs, as_ended
from videohv.app.serve import LOOPBACK, make_server, open_port
from videohv.app.server import make_app
from videohv.cli.console import OUT, say
from videohv.cli.lms import DecoderOption, LMOption, ProfileOption, RoleOption, SeedOption, VisionLMOption, choose_lms
from videohv.errors import InputError
from videohv.paths import answers_dir

_LEAST_TOKEN = 16
_TOKEN = re.compile(rf"[A-Za-z0-9_-]{{{_LEAST_TOKEN},}}")

FoldersArgument = Annotated[
    list[Path] | None,
    typer.Argument(help="Folders whose videos may be asked about. Default: the current one.", metavar="FOLDER..."),
]
AtOnceOption = Annotated[int, typer.Option("--jobs-at-once", min=1, max=64, help="Questions that run at once.")]
MinutesOption = Annotated[float, typer.Option("--job-minutes", min=0.1, help="How long one question may run.")]


def app(
    folders: FoldersArgument = None,
    host: Annotated[str, typer.Option(help="Address to serve on; any but the loopback needs a token.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 takes a free one.")] = 7860,
    name: Annotated[
        list[str] | None,
        typer.Option("--name", help="Host name by which it is reached, if another. May be repeated.", metavar="HOST"),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(help="File with the token; else $VIDEOHV_TOKEN, or one is made where one is needed."),
    ] = None,
    runs: Annotated[Path | None, typer.Option(help="Folder with benchmark runs to look at.")] = None,
    no_uploads: Annotated[bool, typer.Option("--no-uploads", help="Take no uploads.")] = False,
    upload_mb: Annotated[int, typer.Option(min=1, help="Most megabytes of an upload.")] = 4096,
    at_once: AtOnceOption = 2,
    minutes: MinutesOption = 30.0,
    lm: LMOption = None,
    vision_lm: VisionLMOption = None,
    role: RoleOption = None,
    profile: ProfileOption = None,
    decoder: DecoderOption = "auto",
    seed: SeedOption = 0,
) -> int:
    """Serve a page where people ask about videos and look at the evidence, and the same as an HTTP API."""
    given = given_token(token_file)
    # A name of its own means that others come, by way of whatever serves it under that name.
    made = secrets.token_urlsafe(24) if not given and (host not in LOOPBACK or name) else ""
    token = given or made
    with ExitStack() as stack:
        # What is cleaned up at Ctrl-C is so too where a service is stopped.
        stack.callback(signal.signal, signal.SIGTERM, signal.signal(signal.SIGTERM, signal.default_int_handler))
        uploads = None
        if not no_uploads:
            uploads = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="videohv-uploads-")))
        places = Places(folders or [Path.cwd()], uploads, upload_mb * 1_000_000)
        models = stack.enter_context(choose_lms(lm, vision_lm, seed, roles=role, profile=profile))
        kept = Kept(answers_dir())
        jobs = stack.enter_context(
            closing_jobs(Jobs(at_once, minutes * 60, on_end=lambda job: kept.add(as_ended(job))))
        )
        shown = [(choice.role, choice.lm.partition(",")[0] or "none") for choice in models]
        desk = Desk(places, jobs, kept, Runs(runs), shown, decoder, seed)
        # Under a name of its own anybody may come; the token is then what keeps them out.
        served = make_app(desk, token, name or (() if host in LOOPBACK else ("*",)))
        server, opened = make_server(served, jobs.close), open_port(host, port)
        stack.callback(opened.close)
        for folder in places.folders:
            say("folder", str(folder))
        shown_host = f"[{host}]" if ":" in host else host
        # A token that was given is known to whoever gave it; only a new one has to be told.
        OUT.out(f"http://{shown_host}:{opened.getsockname()[1]}/{f'?token={made}' if made else ''}")
        server.run([opened])
    return 0


def given_token(file: Path | None) -> str:
    """The token that a file or the environment gives; empty for none.

    Raises:
        InputError: The file cannot be read, or what was given is too short.
    """
    given, origin = os.environ.get("VIDEOHV_TOKEN", "").strip(), "VIDEOHV_TOKEN"
    if file is not None:
        origin = f"--token-file {file}"
        try:
            given = file.read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"{origin} cannot be read ({error})") from error
    if (file is not None or given) and not _TOKEN.fullmatch(given):
        raise InputError(f"{origin}: a token has {_LEAST_TOKEN} letters, digits, - or _, or more")
    return given


@contextmanager
def closing_jobs(jobs: Jobs) -> Iterator[Jobs]:
    """Stop all jobs at the end of the block."""
    try:
        yield jobs
    finally:
        jobs.close()
