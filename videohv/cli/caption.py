"""`videohv caption`: make (or show) the captions of a video and write them to a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from videohv.cli.console import ERRORS, OUT, clean
from videohv.cli.lms import CaptionerOption, DecoderOption, LMOption, SeedOption, VisionLMOption, choose_lms
from videohv.cli.progress import counting
from videohv.data.captions import write_captions
from videohv.modules.videohv import VideoHV
from videohv.types import clock, whole
from videohv.video import Video


def caption(
    video: Annotated[Path, typer.Argument(help="A video file.")],
    out: Annotated[
        Path | None, typer.Option(help="Write the captions to this JSON file; `ask --captions` reads it.")
    ] = None,
    lm: LMOption = None,
    vision_lm: VisionLMOption = None,
    captioner: CaptionerOption = "auto",
    decoder: DecoderOption = "auto",
    fps: Annotated[float, typer.Option(min=0.01, max=60, help="Captions a second.")] = 1.0,
    seed: SeedOption = 0,
) -> int:
    """Caption a video, one short text a second. What is already in the store is not made again."""
    program = VideoHV(captioner=captioner, fps=fps, seed=seed)
    opened = Video(video, decoder=decoder)
    with choose_lms(lm, vision_lm, seed), counting("captions") as progress:
        captions, info = program.caption(opened, progress)
    ERRORS.print(f"captions      {info.count} from {clean(info.captioner)}", markup=False)
    if out is not None:
        write_captions(out, captions, video=whole(video.stem))
        return 0
    for item in captions:
        OUT.out(f"{clock(item.time):>7}  {clean(item.text)}")
    return 0
