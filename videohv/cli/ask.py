"""`videohv ask` and `videohv demo`: one question about one video, shown step by step."""

from __future__ import annotations

import json
import os
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated, Any

import typer

from videohv import samples
from videohv.cli.console import ERRORS, OUT
from videohv.cli.frame_size import ShortSideOption
from videohv.cli.interrupt import keeps
from videohv.cli.listed import listed
from videohv.cli.lms import (
    CaptionerOption,
    DecoderOption,
    LMOption,
    ProfileOption,
    RoleOption,
    SeedOption,
    VisionLMOption,
    choose_lms,
    steps_of,
)
from videohv.cli.steps import Steps, print_result
from videohv.cli.verbose import VerboseOption, verbosely
from videohv.compiled import load_program
from videohv.data.captions import read_captions
from videohv.errors import InputError
from videohv.evaluate.limits import Limits
from videohv.lm.budget import spending
from videohv.lm.frames import limiting
from videohv.lm.overheard import overhearing
from videohv.lm.roles import assignments
from videohv.modules.inputs import as_question, open_video
from videohv.modules.methods import make_method, method_names
from videohv.modules.program import VideoProgram
from videohv.modules.proposer import STEP as PROPOSER
from videohv.modules.recorder import listening
from videohv.modules.settings import Part
from videohv.modules.speech import Speech, find_speech, speech_in
from videohv.modules.videohv import VideoHV
from videohv.types import Caption, Outcome, Question, Trace, letter
from videohv.video import Video

EXIT = {Outcome.ANSWERED: 0, Outcome.ABSTAINED: 3}
FAILED = 1

JSONOption = Annotated[bool, typer.Option("--json", help="Print one JSON object to stdout and no steps.")]
RoundsOption = Annotated[
    int | None, typer.Option(min=1, max=20, help="Rounds of hypothesis and verification at most.", show_default="3")
]
LooksOption = Annotated[
    int | None, typer.Option(min=1, max=20, help="Evidence collections a round at most.", show_default="2")
]
FpsOption = Annotated[float, typer.Option(min=0.01, max=60, help="Caption sampling, frames a second.")]


def ask(
    video: Annotated[
        str,
        typer.Argument(help="A video file. With --captions it may be just the video's name in that file."),
    ],
    question: Annotated[str, typer.Option("--question", "-q", help="What to ask.")],
    option: Annotated[
        list[str] | None,
        typer.Option("--option", "-o", help="An answer option; give 2 to 26, or none to have some proposed."),
    ] = None,
    captions: Annotated[
        Path | None, typer.Option(help="Captions made before: JSON, JSONL, or what `videohv caption` wrote.")
    ] = None,
    subtitles: Annotated[
        Path | None,
        typer.Option(
            help="What is said in the video: .srt, .vtt, .ass or .ssa. By default a file beside the video "
            "(party.srt, party.en.srt), or else the subtitles inside it.",
            metavar="FILE",
        ),
    ] = None,
    no_subtitles: Annotated[bool, typer.Option("--no-subtitles", help="Do without subtitles.")] = False,
    method: Annotated[str, typer.Option(help=f"Who answers: {', '.join(method_names())}.", metavar="NAME")] = "videohv",
    ablate: Annotated[
        str, typer.Option(help=f"Parts of videohv to do without: {','.join(Part)}.", metavar="PARTS")
    ] = "",
    program: Annotated[str | None, typer.Option(help="A compiled program: a name or a file.")] = None,
    lm: LMOption = None,
    vision_lm: VisionLMOption = None,
    role: RoleOption = None,
    profile: ProfileOption = None,
    captioner: CaptionerOption = "auto",
    decoder: DecoderOption = "auto",
    short_side: ShortSideOption = None,
    rounds: RoundsOption = None,
    looks: LooksOption = None,
    fps: FpsOption = 1.0,
    seed: SeedOption = 0,
    abstain: Annotated[bool, typer.Option("--abstain", help="Allow the answer to be declined (exit code 3).")] = False,
    limits: Annotated[
        str, typer.Option(metavar="LIMITS", help="At most: calls=40,tokens=60000,cost=0.05 (US dollars), or some.")
    ] = "",
    trace: Annotated[Path | None, typer.Option(help="Write the full trace to this JSON file.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write the answer with its evidence to this HTML file.", metavar="FILE")
    ] = None,
    verbose: VerboseOption = False,
    as_json: JSONOption = False,
) -> int:
    """Ask one question about a video, with options or without."""
    for name, file in (("--trace", trace), ("--report", report)):
        if file is not None and not os.access(file.absolute().parent, os.W_OK):
            raise InputError(f"{name} {file}: its folder is not there or cannot be written to")
    budget = Limits.parse(limits).budget()
    asked = as_question(question, option or None).model_copy(update={"video": Path(video).name})
    if no_subtitles and subtitles is not None:
        raise InputError("--subtitles and --no-subtitles: give one or the other")
    given = read_captions(captions, video) if captions is not None else None
    speech = speech_in(subtitles) if subtitles is not None else Speech()
    source = Path(video)
    # What was not asked for is left to the method, which may not know it.
    without = listed(ablate)
    asked_for = {"rounds": rounds, "looks": looks, "without": without or None}
    chosen: dict[str, Any] = {name: value for name, value in asked_for.items() if value is not None}
    answerer = make_method(method, captioner=captioner, fps=fps, seed=seed, may_abstain=abstain, **chosen)
    if program is not None:
        load_program(program, into=answerer)
    # Not Path.exists: that one raises for names that no file can have.
    is_there = os.path.exists(source)  # noqa: PTH110
    with limiting(short_side), verbosely(verbose):
        opened = None if given is not None and not is_there else open_video(source, decoder)
        if opened is not None and answerer.reads_captions and subtitles is None and not no_subtitles:
            speech = find_speech(source)
        steps = (*steps_of(answerer), *((PROPOSER,) if asked.proposed else ()))
        models = choose_lms(lm, vision_lm, seed, roles=role, profile=profile, steps=steps, quiet=as_json)
        with models, spending(budget):
            budget.require_prices([one.lm for one in assignments(steps) if one.lm is not None])
            result = run_question(answerer, asked, opened, given, speech, quiet=as_json)
    if as_json:
        OUT.out(as_result(result))
    else:
        print_result(OUT, result)
    if trace is not None:
        # Last, so that a full disk costs the file and not the answer.
        trace.write_text(result.model_dump_json(indent=2), encoding="utf-8")
    if report is not None:
        from videohv.report import report_answer

        report_answer(result, report, source if opened is not None else None)
    return EXIT.get(result.outcome, FAILED)


def demo(
    lm: LMOption = None,
    vision_lm: VisionLMOption = None,
    role: RoleOption = None,
    profile: ProfileOption = None,
    seed: SeedOption = 0,
    verbose: VerboseOption = False,
) -> int:
    """Ask two questions about the sample clip (cut from Big Buck Bunny, © 2008 Blender Foundation, CC BY 3.0)."""
    hv = VideoHV(seed=seed, rounds=2)
    code = 0
    models = choose_lms(lm, vision_lm, seed, roles=role, profile=profile, steps=steps_of(hv))
    with models, verbosely(verbose):
        for question in samples.QUESTIONS:
            OUT.print(f"\nQ: {question.text}", style="bold", markup=False)
            for i, text in enumerate(question.options):
                OUT.print(f"   {letter(i)}. {text}", markup=False)
            result = run_question(hv, question, Video(samples.CLIP), None)
            print_result(OUT, result)
            code = code or EXIT.get(result.outcome, FAILED)
    return code


def run_question(
    program: VideoProgram,
    question: Question,
    video: Video | None,
    captions: tuple[Caption, ...] | None,
    speech: Speech = Speech(),  # noqa: B008  It is frozen.
    *,
    quiet: bool = False,
) -> Trace:
    """Run the program on one question, with its steps on stderr unless quiet."""
    keeps("captions and model replies so far are kept")
    steps = Steps(ERRORS)
    with ExitStack() as stack:
        if not quiet:
            stack.callback(steps.close)
            stack.enter_context(listening(steps))
            stack.enter_context(overhearing(steps.now))
            steps.now.begin("video")
        prediction = program(question=question, video=video, captions=captions, speech=speech)
    trace = prediction.trace
    assert isinstance(trace, Trace)
    return trace


def as_result(trace: Trace) -> str:
    """The result as one JSON object: the answer first, then the whole trace."""
    whole = trace.model_dump(mode="json")
    index = trace.answer.option_index if trace.answer else None
    head = {
        "answer": trace.question.options[index] if index is not None else None,
        "answer_index": index,
        "outcome": whole["outcome"],
        "confidence": trace.answer.confidence if trace.answer else None,
        "status": whole["status"],
        "error": trace.error,
        "evidence": [e.model_dump(mode="json") for e in trace.evidence],
    }
    as_it_is = (sys.stdout.encoding or "").lower().startswith("utf")
    return json.dumps({**head, "trace": whole}, ensure_ascii=not as_it_is)
