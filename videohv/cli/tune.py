"""`videohv tune`: a method's settings searched for the best accuracy at the fewest tokens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from videohv.cli.benchmarks import CaptionsOption, DataRootOption, HubOption, VideosOption
from videohv.cli.console import ERRORS, OUT, clean, say
from videohv.cli.interrupt import keeps
from videohv.cli.listed import pairs
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
from videohv.cli.running import Searching
from videohv.cli.verbose import VerboseOption, verbosely
from videohv.data.registry import load_questions
from videohv.errors import InputError
from videohv.evaluate.answerer import Answerer
from videohv.evaluate.columns import number, share
from videohv.evaluate.setup import Setup
from videohv.lm.budget import Budget
from videohv.lm.naming import name_models
from videohv.lm.ready import check_ready
from videohv.lm.roles import assignments
from videohv.optimize.tune import PICTURE
from videohv.optimize.tune import tune as search
from videohv.optimize.tuning.front import Tried, front_text, pareto
from videohv.optimize.tuning.space import STRIDE, check_settings, make_space, scalar


def tune(
    benchmark: Annotated[
        str, typer.Argument(help="BENCHMARK[:SPLIT][/dev|/train], or custom:FILE. Without a part it is dev.")
    ],
    out: Annotated[Path, typer.Option(help="The directory of the search; run again with it to go on.")],
    data_root: DataRootOption = None,
    hub: HubOption = False,
    captions: CaptionsOption = None,
    videos: VideosOption = None,
    method: Annotated[str, typer.Option(help="Whose settings: videohv, or a rival.")] = "videohv",
    program: Annotated[str, typer.Option(help="A compiled program: a name or a file.")] = "",
    trials: Annotated[int, typer.Option(min=1, help="So many different settings, earlier sittings included.")] = 20,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first so many questions.")] = None,
    space: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUES", help="What is searched: rounds=1..4, prune_below=0..0.3/0.1, stride=1,2."),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Fix a setting, such as rounds=1, instead of searching it."),
    ] = None,
    lm: LMOption = None,
    vision_lm: VisionLMOption = None,
    role: RoleOption = None,
    profile: ProfileOption = None,
    captioner: CaptionerOption = "auto",
    decoder: DecoderOption = "auto",
    seed: SeedOption = 0,
    concurrency: Annotated[int | None, typer.Option(min=1, max=1024, help="Questions, and LM calls, at once.")] = None,
    max_cost: Annotated[float | None, typer.Option(min=0, help="Stop at so many US dollars.")] = None,
    max_tokens_total: Annotated[int | None, typer.Option(min=1, help="Stop at so many tokens.")] = None,
    verbose: VerboseOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print everything as one JSON object.")] = False,
) -> int:
    """Search a method's settings: accuracy up, tokens a question down. The same command goes on where it stopped."""
    name, part = _part(benchmark)
    dataset = load_questions(name, data_root=data_root, hub=hub, part=part)
    questions = tuple(q for q in dataset.questions if q.answer_index is not None)[:limit]
    fixed = {name: scalar(value) for name, value in pairs(setting, "--set").items()}
    check_settings(method, fixed)
    searched = make_space(method, space or (), fixed, captions=captions is not None, videos=videos is not None)
    models = name_models(lm, vision_lm, role or (), profile)
    concurrency = at_once(models, concurrency)
    stride = int(fixed.pop(STRIDE, 1))
    setup = Setup(
        models=models,
        method=method,
        settings={"workers": max(1, min(4, concurrency // max(1, len(questions)))), **fixed},
        captioner=captioner,
        program=program,
        captions=captions,
        videos=videos,
        decoder=decoder,
        stride=stride,
        seed=seed,
        concurrency=concurrency,
        budget=Budget("tune", max_tokens=max_tokens_total, max_cost=max_cost),
    )
    say("questions", f"{len(questions)} of {dataset.name}; tune never looks at the test part")
    say("searched", " ".join(map(str, searched)))
    say("search", str(out))
    keeps(f"finished trials, and the questions of the one under way, are in {out}")
    running, tried = Searching(ERRORS, trials), list[Tried]()

    def ended(one: Tried) -> None:
        running.ended()
        tried.append(one)
        _say_trial(one, trials)

    try:
        with verbosely(verbose):
            search(
                setup,
                dataset,
                questions,
                out,
                space=searched,
                trials=trials,
                threads=concurrency,
                on_begin=_ready,
                on_trial=ended,
                on_progress=running,
            )
    finally:
        running.close()
        if tried:
            _print(tried, [dimension.name for dimension in searched], out / PICTURE, as_json=as_json)
    if len(tried) < trials:
        say("", f"{len(tried)} of {trials} trials: nothing else was left to try")
    return 0 if pareto(tried) else 1


def _part(benchmark: str) -> tuple[str, str]:
    """The benchmark's name without a part, and the part that is tuned on."""
    before, slash, last = benchmark.rpartition("/")
    if slash and last == "test":
        raise InputError(f"{benchmark}: the test part is for reporting; tune on dev (the default) or train")
    return (before, last) if slash and last in ("dev", "train") else (benchmark, "dev")


def _ready(answerer: Answerer) -> None:
    used = assignments(steps_of(answerer.program))
    for name, text in told(used):
        say(name, text)
    answerer.inputs.ready()
    check_ready(used)


def _say_trial(one: Tried, trials: int) -> None:
    settings = " ".join(f"{name}={value}" for name, value in one.settings.items())
    came = f"failed: {one.why}" if one.why else f"{share(one.accuracy)}, {number(one.tokens)} tokens a question"
    say(f"trial {one.number}/{max(trials, one.number)}", f"{settings}: {came}")


def _print(tried: list[Tried], names: list[str], picture: Path, *, as_json: bool) -> None:
    if as_json:
        value = {
            "tried": [one.model_dump(mode="json") for one in tried],
            "front": [one.number for one in pareto(tried)],
            "picture": str(picture),
        }
        OUT.out(json.dumps(value, indent=1))
    else:
        OUT.out(clean(front_text(tried, names)))
    say("picture", str(picture))
