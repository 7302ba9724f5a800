"""`videohv caption --batch`: what will be sent and what it costs, where it stands, and what failed."""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import typer

from videohv.batch import BatchServer, CaptionJob, Journal, Limits, Report, run_batch
from videohv.batch.estimate import CHARS_A_TOKEN, TOKENS_A_CAPTION, Estimate, estimate
from videohv.cli.console import ERRORS, OUT, clean, say
from videohv.cli.interrupt import keeps
from videohv.cli.oneline import Counted, Going
from videohv.errors import InputError
from videohv.lm.naming import name_models
from videohv.lm.ready import check_ready
from videohv.lm.roles import assignments
from videohv.lm.team import make_team
from videohv.modules.captioner import STEP
from videohv.modules.videohv import VideoHV
from videohv.paths import cache_dir

FAILED = 1
SHOWN = 100
"""Failed requests that are named one by one."""


class Batching(NamedTuple):
    """The options that belong to `--batch`."""

    wait: bool
    estimate: bool
    yes: bool
    state: Path | None
    poll: float
    requests: int
    retry_failed: bool


def caption_in_batches(
    videos: Counted[Path],
    options: Batching,
    models: tuple[str | None, str | None, Sequence[str], str | None],
    captioner: str,
    *,
    decoder: str,
    fps: float,
    seed: int,
) -> int:
    """Go on with the captions of some videos from wherever they stand.

    Args:
        videos: Their paths; gone through twice with `--estimate`.
        options: Of `--batch`.
        models: What `--lm`, `--vision-lm`, `--role` and `--profile` say.
        captioner: Of `--captioner`.
        decoder: Of `--decoder`.
        fps: Captions a second.
        seed: Of `--seed`.

    Returns:
        The exit code: 1 if something failed for good or could not be sent.
    """
    if captioner not in ("auto", "lm"):
        raise InputError(f"--captioner {captioner} and --batch: only a vision LM captions in batches")
    # The model that reasons is not asked: it need not be fetched.
    with make_team(name_models(*models), seed, fetch=False).at_work():
        used = assignments((STEP,))
        ((choice, lm),) = used
        if lm is None:
            raise InputError("--batch needs a model that sees images: give --vision-lm, such as openai/gpt-4o-mini")
        job = CaptionJob(
            Going(ERRORS, "video", videos), VideoHV(fps=fps, seed=seed).captioner, lm, fps=fps, decoder=decoder
        )
        check_ready(used)
        say("looks", f"{choice.lm} ({choice.origin})")
        limits = Limits(requests=options.requests)
        with Journal(options.state or _usual_state(job), job.identity) as journal:
            say("state", str(journal.folder))
            keeps(f"what was sent goes on at the server and is noted in {journal.folder}")
            if options.retry_failed:
                journal.revive()
            if options.estimate and not _agreed(estimate(job, journal, lm, limits), options):
                return 0
            there = job.wire.connection()
            report = run_batch(
                job,
                BatchServer(there.base_url, there.key),
                journal,
                limits=limits,
                wait=options.wait,
                poll=options.poll,
                tell=lambda line: say("batch", line),
            )
            return _told(report, job, journal)


def _usual_state(job: CaptionJob) -> Path:
    return cache_dir() / "batches" / hashlib.sha256(job.identity.encode()).hexdigest()[:16]


def _agreed(found: Estimate, options: Batching) -> bool:
    """Show the estimate and have it agreed to."""
    for name, text in forecast(found):
        say(name, text)
    if not found.requests or options.yes:
        return True
    if not sys.stdin.isatty():
        raise InputError("nothing was sent: with --estimate somebody must agree, on a terminal or by --yes")
    if typer.confirm("Send it?", err=True):
        return True
    say("batch", "nothing was sent")
    return False


def forecast(found: Estimate) -> list[tuple[str, str]]:
    """An estimate in lines."""
    if not found.requests:
        return [("would send", "nothing: all that is wanted is in the store or in flight")]
    count = f"{found.requests:,} requests in at least {found.batches:,} batch{'es' if found.batches > 1 else ''}"
    text = f"{found.text_tokens:,} of text ({CHARS_A_TOKEN:g} characters each)"
    if found.picture_tokens is not None:
        pictures = f"{found.picture_tokens:,} of pictures (the model's published rule)"
    else:
        pictures = "those of pictures are not known for this model"
    price = f"about ${found.price:,.2f}" if found.price is not None else "not known"
    if found.rates is not None:
        price += f" (batch rates of DSPy's list: ${found.rates[0]:g} and ${found.rates[1]:g} a million tokens)"
    return [
        (
            "would send",
            f"{count}: {found.moments:,} frames of {found.videos:,} videos, {found.upload_bytes / 1e6:,.1f} MB",
        ),
        ("tokens in", f"about {text}; {pictures}"),
        ("tokens out", f"about {found.reply_tokens:,} ({TOKENS_A_CAPTION} a caption, without hidden reasoning)"),
        ("price", price),
        ("time", "up to 24 hours after each batch is submitted; what expires or fails is sent again"),
    ]


def _told(report: Report, job: CaptionJob, journal: Journal) -> int:
    for problem in job.problems:
        ERRORS.print(f"error: {clean(problem)}", style="bold red", markup=False, soft_wrap=True)
    left = 0
    for line, why in journal.lost():
        if job.done(line) or not job.concerns(line):
            continue
        left += 1
        if left <= SHOWN:
            OUT.out(f"failed  {clean(job.label(line))}: {clean(why)}")
    if left:
        more = f", {SHOWN} of which are shown" if left > SHOWN else ""
        say("failed", f"{left} requests failed for good{more}; --retry-failed sends them once more")
    if report.in_flight:
        say(
            "in flight",
            f"{report.in_flight} requests; the same command collects them when they are over (--wait: stays)",
        )
    if report.waiting:
        say("waiting", f"{report.waiting} requests are to be sent again; the same command does it")
    if not (report.in_flight or report.waiting or left or job.problems):
        say("captions", "all are in the store")
    return FAILED if left or report.waiting or job.problems else 0
