"""`videohv eval`: a benchmark run, resumed by running the same command again."""

from __future__ import annotations

import multiprocessing
import os
import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from videohv.cli.benchmarks import CaptionsOption, DataRootOption, HubOption, StrideOption, VideosOption
from videohv.cli.console import ERRORS, clean, say
from videohv.cli.interrupt import keeps
from videohv.cli.listed import listed, pairs
from videohv.cli.lms import (
    CaptionerOption,
    DecoderOption,
    LMOption,
    ProfileOption,
    RoleOption,
    SeedOption,
    VisionLMOption,
    at_once,
    is_embedded,
    steps_of,
    told,
)
from videohv.cli.results import show
from videohv.cli.running import Running
from videohv.cli.tracked import MlflowOption, complain
from videohv.cli.verbose import VerboseOption, verbosely
from videohv.data.dataset import Dataset
from videohv.data.registry import load_questions
from videohv.errors import InputError
from videohv.evaluate.answerer import Answerer
from videohv.evaluate.describe import manifest_of
from videohv.evaluate.limits import Limits
from videohv.evaluate.manifest import Manifest
from videohv.evaluate.processes import ProcessWorkers
from videohv.evaluate.results import Results, results_from
from videohv.evaluate.runner import Ending, Progress, Run
from videohv.evaluate.select import select
from videohv.evaluate.setup import Setup
from videohv.evaluate.threads import ThreadWorkers
from videohv.lm.budget import Budget
from videohv.lm.counter import SharedCounter
from videohv.lm.naming import name_models
from videohv.lm.ready import check_ready
from videohv.lm.roles import Assigned, assignments
from videohv.track import tracking
from videohv.track.runs import begin_run, end_run, tell_progress
from videohv.types import Question

INCOMPLETE = 1

CALLS_A_PROCESS = 24
"""Quick LM calls at once that one process keeps going before Python's lock holds them up."""


def evaluate(
    benchmark: Annotated[str, typer.Argument(help="BENCHMARK[:SPLIT][/train|/dev|/test], or custom:FILE.")],
    data_root: DataRootOption = None,
    hub: HubOption = False,
    captions: CaptionsOption = None,
    stride: StrideOption = 1,
    videos: VideosOption = None,
    method: Annotated[
        str, typer.Option(help="Who answers: videohv, or a rival on the same data and models.")
    ] = "videohv",
    ablate: Annotated[str, typer.Option(help="Parts to do without: hypotheses,clue,status,refinement,frames.")] = "",
    program: Annotated[str, typer.Option(help="A compiled program: a name or a file.")] = "",
    lm: LMOption = None,
    vision_lm: VisionLMOption = None,
    role: RoleOption = None,
    profile: ProfileOption = None,
    captioner: CaptionerOption = "auto",
    decoder: DecoderOption = "auto",
    setting: Annotated[
        list[str] | None, typer.Option("--set", metavar="NAME=VALUE", help="A setting of the method, such as rounds=1.")
    ] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")] = None,
    ids: Annotated[str, typer.Option(help="Only these question ids, by commas, or @FILE with one a line.")] = "",
    types: Annotated[str, typer.Option(help="Only these types (or durations, domains …), by commas.")] = "",
    shuffle_options: Annotated[
        int, typer.Option(min=1, max=26, help="Ask each question under so many option orders.")
    ] = 1,
    seed: SeedOption = 0,
    concurrency: Annotated[int | None, typer.Option(min=1, max=1024, help="LM calls at once.")] = None,
    out: Annotated[
        Path | None, typer.Option(help="The run's directory. Default: runs/BENCHMARK/…, by what it is.")
    ] = None,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Ask again what failed.")] = False,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Stop at so many US dollars.")] = None,
    max_tokens_total: Annotated[int | None, typer.Option(min=1, help="Stop at so many tokens.")] = None,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Neither use nor fill the response cache.")] = False,
    per_question: Annotated[
        str, typer.Option(metavar="LIMITS", help="Limits of one question: calls=40,tokens=60000,cost=0.05, or some.")
    ] = "",
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a benchmark with rows that are wrong.")] = False,
    verbose: VerboseOption = False,
    mlflow: MlflowOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as one JSON object.")] = False,
) -> int:
    """Run a benchmark. Each finished question is on disk; the same command goes on where it stopped."""
    dataset = load_questions(benchmark, data_root=data_root, hub=hub, strict=strict)
    questions = select(dataset.questions, _ids(ids), listed(types), limit)
    models = name_models(lm, vision_lm, role or (), profile)
    concurrency = at_once(models, concurrency)
    count = min(concurrency, len(questions) * shuffle_options)
    # Two processes would hold two copies of an embedded model, on the same cores; and only this one can be listened to.
    processes = (
        1 if is_embedded(models) or verbose or mlflow else min(os.cpu_count() or 1, -(-count // CALLS_A_PROCESS))
    )
    budget = Budget(
        "run",
        max_tokens=max_tokens_total,
        max_cost=max_cost,
        counter=SharedCounter(multiprocessing.get_context("spawn")) if processes > 1 else None,
    )
    settings: dict[str, Any] = {**pairs(setting, "--set")}
    if ablate:
        settings["without"] = listed(ablate)
    setup = Setup(
        models=models,
        method=method,
        # Calls of one question side by side only help while there are not enough questions to fill the room.
        settings={"workers": max(1, min(4, concurrency // len(questions))), **settings},
        captioner=captioner,
        program=program,
        captions=captions,
        videos=videos,
        decoder=decoder,
        stride=stride,
        seed=seed,
        concurrency=concurrency,
        cache=not no_cache,
        budget=budget,
        a_question=Limits.parse(per_question),
    )
    shown = Running(ERRORS)
    with setup.open() as answerer, verbosely(verbose), ExitStack() as tracked:
        used = assignments(steps_of(answerer.program))
        manifest = manifest_of(
            dataset, questions, answerer, orders=shuffle_options, program_name=program, concurrency=concurrency
        )
        folder = out or _default_folder(manifest)
        _tell(dataset, questions, used, folder)
        tracker = tracked.enter_context(tracking(mlflow, folder, f"{manifest.title} {manifest.method}", complain))

        def progressed(progress: Progress) -> None:
            shown(progress)
            # Not before: until then the folder may turn out to be that of another run.
            begin_run(tracker, manifest)
            tell_progress(tracker, progress)

        run = Run(
            folder,
            manifest,
            dataset,
            questions,
            ThreadWorkers(answerer, count) if processes == 1 else ProcessWorkers(setup, processes, count),
            retry_failed=retry_failed,
            budget=budget,
            on_begin=lambda: _ready(answerer, used),
            on_progress=progressed,
        )
        keeps(f"finished questions are in {folder}")
        try:
            ending = run.go()
        finally:
            shown.close()
        results = results_from(manifest, ending.rows)
        end_run(tracker, results, folder, whole=_is_whole(ending))
    return _report(ending, results, as_json=as_json)


def _ready(answerer: Answerer, used: Sequence[Assigned]) -> None:
    """Whatever would fail every question, before the first one is asked."""
    answerer.inputs.ready()
    check_ready(used)


def _report(ending: Ending, results: Results, *, as_json: bool) -> int:
    show(results, as_json=as_json)
    for name, crash in ending.crashes[:5]:
        ERRORS.print(f"crashed: {clean(name)}: {clean(crash)}", style="bold red", markup=False, soft_wrap=True)
    missing = ending.progress.total - ending.progress.done
    if ending.stopped:
        ERRORS.print(f"stopped: {clean(ending.stopped)}", style="bold red", markup=False, soft_wrap=True)
    if missing:
        ERRORS.print(f"{missing} questions are not asked yet: run the same command again", markup=False)
    if ending.progress.failed:
        ERRORS.print(f"{ending.progress.failed} failed: ask them again with --retry-failed", markup=False)
    return 0 if _is_whole(ending) else INCOMPLETE


def _is_whole(ending: Ending) -> bool:
    return not ending.stopped and ending.progress.done == ending.progress.total


def _tell(dataset: Dataset, questions: Sequence[Question], used: Sequence[Assigned], folder: Path) -> None:
    for name, text in told(used):
        say(name, text)
    labelled = sum(question.answer_index is not None for question in questions)
    say("questions", f"{len(questions)} of {dataset.name}, {labelled} with a known answer")
    for note in dataset.notes:
        say("", note)
    if dataset.problems:
        say("left out", f"{len(dataset.problems)} rows, such as {dataset.problems[0]}")
    say("run", str(folder))


def _default_folder(manifest: Manifest) -> Path:
    """A name that says what it is, and ends in what makes it that."""
    first = manifest.models[0].name if manifest.models else "no model"
    what = f"{manifest.method}-{first.rpartition('/')[2]}-{manifest.identity[:8]}"
    return Path("runs") / re.sub(r"[^A-Za-z0-9.-]+", "-", manifest.title) / re.sub(r"[^A-Za-z0-9.-]+", "-", what)


def _ids(text: str) -> tuple[str, ...]:
    if not text.startswith("@"):
        return listed(text)
    try:
        return tuple(Path(text[1:]).read_text(encoding="utf-8").split())
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--ids {text}: the file cannot be read ({error})") from error
