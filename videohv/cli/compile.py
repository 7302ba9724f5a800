"""`videohv compile`: prompts optimised against a benchmark, resumed by running the same command again."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from videohv.cli.benchmarks import CaptionsOption, DataRootOption, HubOption, StrideOption, VideosOption
from videohv.cli.compiling import Compiling, foretold, verdict
from videohv.cli.console import ERRORS, OUT, say
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
    steps_of,
    told,
)
from videohv.cli.tracked import MlflowOption, complain
from videohv.cli.verbose import VerboseOption, verbosely
from videohv.compiled import load_program
from videohv.data.dataset import Dataset
from videohv.data.registry import load_questions
from videohv.errors import InputError
from videohv.evaluate.limits import Limits
from videohv.lm import pace
from videohv.lm.naming import Named, name_models
from videohv.lm.ready import check_ready
from videohv.lm.roles import assignments
from videohv.lm.spec import parse_spec
from videohv.lm.team import Team, make_team
from videohv.modules.methods import make_method
from videohv.optimize.registry import PRESETS, optimizer_options
from videohv.optimize.run.forecast import Forecast
from videohv.optimize.run.progress import Phase, Progress
from videohv.optimize.run.split import Sizes
from videohv.optimize.run.state import work_folder
from videohv.track import tracking
from videohv.track.runs import Trials, end_compile

if TYPE_CHECKING:
    from videohv.optimize.compile import Compiled

WORSE = 4

_WRITER = "prompt_lm"


def compile_(
    benchmark: Annotated[str, typer.Argument(help="BENCHMARK[:SPLIT], or custom:FILE.")],
    optimizer: Annotated[
        str,
        typer.Option(
            metavar="NAME[,NAME]",
            help="labeled, bootstrap, random-search, optuna, knn, copro, mipro, simba or gepa; several work in turn.",
        ),
    ],
    out: Annotated[Path, typer.Option(help="The artifact. FILE.work beside it keeps what was learnt.", metavar="FILE")],
    data_root: DataRootOption = None,
    hub: HubOption = False,
    captions: CaptionsOption = None,
    stride: StrideOption = 1,
    videos: VideosOption = None,
    method: Annotated[str, typer.Option(help="What is compiled: videohv, or a rival.")] = "videohv",
    program: Annotated[str, typer.Option(help="Begin with a compiled program: a name or a file.")] = "",
    lm: LMOption = None,
    vision_lm: VisionLMOption = None,
    role: RoleOption = None,
    profile: ProfileOption = None,
    prompt_lm: Annotated[
        str | None, typer.Option("--prompt-lm", help="Model that writes instructions. Default: --lm.", metavar="SPEC")
    ] = None,
    captioner: CaptionerOption = "auto",
    decoder: DecoderOption = "auto",
    option: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME=VALUE", help="An option of the optimizer, such as trials=30, or gepa.passes=8."
        ),
    ] = None,
    preset: Annotated[str, typer.Option(help=f"How much it tries: {', '.join(PRESETS)}.")] = "light",
    setting: Annotated[
        list[str] | None,
        typer.Option("--setting", metavar="NAME=VALUE", help="A setting of the method, such as rounds=1."),
    ] = None,
    ablate: Annotated[str, typer.Option(help="Parts to do without: hypotheses,clue,status,refinement,frames.")] = "",
    roles: Annotated[str, typer.Option(help="Change these agents or families only, by commas: judge,verifier.")] = "",
    metric: Annotated[
        str, typer.Option(help="What is to become better: accuracy, consistent, frugal, grounding.")
    ] = "accuracy",
    train: Annotated[int | None, typer.Option(min=1, help="At most so many questions to learn from.")] = None,
    dev: Annotated[int | None, typer.Option(min=1, help="At most so many questions to choose by.")] = None,
    test: Annotated[int | None, typer.Option(min=1, help="At most so many held-out questions.")] = None,
    seed: SeedOption = 0,
    concurrency: Annotated[int | None, typer.Option(min=1, max=1024, help="Questions, and LM calls, at once.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Stop at so many US dollars.")] = None,
    max_calls: Annotated[int | None, typer.Option(min=1, help="Stop at so many LM calls.")] = None,
    max_tokens_total: Annotated[int | None, typer.Option(min=1, help="Stop at so many tokens.")] = None,
    max_failures: Annotated[
        float, typer.Option(min=0, max=1, help="Stop when more than this share of questions fails.")
    ] = 0.5,
    yes: Annotated[bool, typer.Option("--yes", help="Begin without asking whether the price is agreed to.")] = False,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse a benchmark with rows that are wrong.")] = False,
    verbose: VerboseOption = False,
    mlflow: MlflowOption = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print what came of it as one JSON object.")] = False,
) -> int:
    """Compile a program's prompts for a benchmark and prove it on held-out questions.

    The same command goes on where it stopped. Exit code 0: the program is better, or as good; 4: it is worse, and was
    kept under another name; 1: stopped; 2: nothing was done; 130: interrupted.
    """
    # DSPy's optimizers take a while to import, and no other command needs them.
    from videohv.optimize.compile import compile_program
    from videohv.optimize.guard import CompileStopped, Reason

    tries = next((known for known in PRESETS if known == preset), None)
    if tries is None:
        raise InputError(f"no preset is called {preset!r}; there are: {', '.join(PRESETS)}")
    dataset = load_questions(benchmark, data_root=data_root, hub=hub, strict=strict)
    optimizers, options = listed(optimizer), pairs(option, "--set")
    settings: dict[str, Any] = {**pairs(setting, "--setting")}
    _in_place(method, optimizers, settings, options)
    if ablate:
        settings["without"] = listed(ablate)
    started = make_method(method, captioner=captioner, **{**settings, "seed": seed})
    if program:
        load_program(program, into=started)
    models = name_models(lm, vision_lm, role or (), profile)
    writer = (Named(setting=_WRITER, spec=parse_spec(prompt_lm), origin="--prompt-lm"),) if prompt_lm else ()
    concurrency = at_once((*models, *writer), concurrency)
    team = make_team((*models, *writer), seed)
    pace.limit(concurrency)
    shown = Compiling(ERRORS)
    at_work = Team({name: one for name, one in team.lms.items() if name != _WRITER}, team.origins).at_work()
    with at_work, verbosely(verbose), ExitStack() as tracked:
        used = assignments(steps_of(started))
        for name, text in told(used):
            say(name, text)
        _tell(dataset, out)
        check_ready(used)
        keeps(f"what was learnt and scored is in {work_folder(out)}")
        tracker = tracked.enter_context(tracking(mlflow, work_folder(out), f"compile {out.stem}", complain))
        trials = Trials(tracker)
        what = {
            "benchmark": dataset.name,
            "optimizer": optimizer,
            "preset": preset,
            "method": method,
            "program": program,
            "metric": metric,
            "seed": seed,
            **{f"option.{name}": value for name, value in options.items()},
        }

        def progressed(progress: Progress) -> None:
            shown(progress)
            if progress.phase is not Phase.PREFLIGHT:
                # Agreed to, and sure not to be another's work folder.
                tracker.begin(what)
            trials(progress)

        try:
            made = compile_program(
                started,
                dataset,
                out,
                optimizer=optimizers,
                options=options,
                preset=tries,
                roles=listed(roles),
                metric=metric,
                captions=captions,
                videos=videos,
                decoder=decoder,
                stride=stride,
                sizes=Sizes(train=train, dev=dev, test=test),
                threads=concurrency,
                prompt_lm=team.lms.get(_WRITER),
                start=program,
                limits=Limits(calls=max_calls, tokens=max_tokens_total, cost=max_cost),
                failures=max_failures,
                confirm=lambda expected: _agreed(expected, shown, yes=yes),
                on_progress=progressed,
            )
        except CompileStopped as error:
            if error.reason is not Reason.INTERRUPTED:
                raise
            raise KeyboardInterrupt from error
        finally:
            shown.close()
        tracker.begin(what)
        end_compile(tracker, made)
    return _report(made, as_json=as_json)


def _in_place(method: str, optimizers: Sequence[str], settings: Mapping[str, Any], options: Mapping[str, Any]) -> None:
    """Say so where a setting of the method was given as an option of the optimizer, or the other way round."""
    of_method = make_method(method).settings_type.model_fields
    of_optimizers = {name for one in optimizers for name in optimizer_options(one).model_fields}
    for name in options:
        if name in of_method and name.rpartition(".")[2] not in of_optimizers:
            raise InputError(
                f"--set {name}: {name} is a setting of the method {method!r}, not an option of "
                f"{','.join(optimizers)}: use --setting {name}=…"
            )
    for name in settings:
        if name not in of_method and name.rpartition(".")[2] in of_optimizers:
            raise InputError(
                f"--setting {name}: {name} is an option of {','.join(optimizers)}, not a setting of the method "
                f"{method!r}: use --set {name}=…"
            )


def _tell(dataset: Dataset, out: Path) -> None:
    say("questions", f"{len(dataset.questions)} of {dataset.name}, {dataset.labelled} with a known answer")
    if dataset.problems:
        say("left out", f"{len(dataset.problems)} rows, such as {dataset.problems[0]}")
    say("artifact", str(out))


def _agreed(expected: Forecast, shown: Compiling, *, yes: bool) -> bool:
    """Show what the compile will take and have it agreed to."""
    shown.close()
    for name, text in foretold(expected):
        say(name, text)
    if yes:
        return True
    if not sys.stdin.isatty():
        raise InputError("nothing was compiled: somebody must agree to the price, on a terminal or by --yes")
    return typer.confirm("Begin?", err=True)


def _report(made: Compiled, *, as_json: bool) -> int:
    proof = made.proof
    if as_json:
        OUT.out(json.dumps({"artifact": str(made.artifact), **proof.model_dump(mode="json")}, ensure_ascii=True))
    else:
        for name, text in verdict(proof):
            OUT.out(f"{name:<14}{text}")
    changed = ", ".join(agent.removesuffix(".predict") for agent in made.learnt.changed) or "nothing"
    say("changed", changed)
    price = f", ${made.spent.cost:,.2f}" if made.spent.cost else ""
    say("spent", f"{made.spent.calls:,.0f} calls, {made.spent.tokens:,.0f} tokens{price}")
    say("runs", f"videohv compare {made.seed_run} {made.compiled_run}")
    if proof.is_worse:
        ERRORS.print("the compiled program is worse than the seed on the held-out questions", style="bold red")
    elif proof.is_equal:
        ERRORS.print("the compiled program is no better than the seed on the held-out questions", style="bold yellow")
    say("artifact", str(made.artifact))
    return WORSE if proof.is_worse else 0
