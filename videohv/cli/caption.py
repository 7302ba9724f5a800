"""`videohv caption`: make (or show) the captions of videos, now or through a batch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated

import typer

from videohv.cli.batch import Batching, caption_in_batches
from videohv.cli.console import ERRORS, OUT, clean
from videohv.cli.frame_size import ShortSideOption
from videohv.cli.interrupt import keeps
from videohv.cli.lms import (
    CaptionerOption,
    DecoderOption,
    LMOption,
    ProfileOption,
    RoleOption,
    SeedOption,
    VisionLMOption,
    choose_lms,
)
from videohv.cli.progress import counting
from videohv.cli.verbose import VerboseOption, verbosely
from videohv.data.captions import write_captions
from videohv.data.videos import VideoFolder
from videohv.errors import InputError, VideoError
from videohv.lm.frames import limiting
from videohv.modules.inputs import open_video
from videohv.modules.videohv import VideoHV
from videohv.types import clock, whole
from videohv.video import Video

FAILED = 1


def caption(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="VIDEO...", help="Video files, or folders with some.", show_default=False),
    ] = None,
    videos: Annotated[Path | None, typer.Option(help="A folder of videos.", metavar="DIR")] = None,
    out: Annotated[
        Path | None, typer.Option(help="Write the captions to this JSON file; `ask --captions` reads it.")
    ] = None,
    lm: LMOption = None,
    vision_lm: VisionLMOption = None,
    role: RoleOption = None,
    profile: ProfileOption = None,
    captioner: CaptionerOption = "auto",
    decoder: DecoderOption = "auto",
    short_side: ShortSideOption = None,
    fps: Annotated[float, typer.Option(min=0.01, max=60, help="Captions a second.")] = 1.0,
    seed: SeedOption = 0,
    batch: Annotated[
        bool, typer.Option("--batch", help="Through the server's Batch API: half the price, within a day.")
    ] = False,
    wait: Annotated[bool, typer.Option("--wait", help="With --batch: stay until nothing is in flight.")] = False,
    estimate: Annotated[
        bool, typer.Option("--estimate", help="With --batch: say what would be sent and what it costs, then ask.")
    ] = False,
    yes: Annotated[bool, typer.Option("--yes", help="With --estimate: send without asking.")] = False,
    state: Annotated[
        Path | None,
        typer.Option(help="With --batch: where it is noted what was sent. Default: in the cache.", metavar="DIR"),
    ] = None,
    poll: Annotated[float, typer.Option(min=0.01, help="With --wait: seconds between two looks.")] = 60.0,
    batch_requests: Annotated[
        int, typer.Option(min=1, max=50_000, help="With --batch: requests in one batch at most.")
    ] = 50_000,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="With --batch: send once more what failed for good.")
    ] = False,
    verbose: VerboseOption = False,
) -> int:
    """Caption videos, one short text a second. What is already in the store is not made again."""
    wanted = Videos(paths or (), videos)
    if batch:
        if out is not None:
            raise InputError(
                "--out and --batch: captions go to the store first; when they are there, leave out --batch"
            )
        options = Batching(wait, estimate, yes, state, poll, batch_requests, retry_failed)
        with limiting(short_side):
            return caption_in_batches(
                wanted, options, (lm, vision_lm, role or (), profile), captioner, decoder=decoder, fps=fps, seed=seed
            )
    if any((wait, estimate, yes, state is not None, retry_failed)):
        raise InputError("--wait, --estimate, --yes, --state and --retry-failed belong to --batch")
    if out is not None and not wanted.single:
        raise InputError("--out takes the captions of one video; name one")
    program = VideoHV(captioner=captioner, fps=fps, seed=seed)
    # Before a model is fetched for it.
    with limiting(short_side):
        first = open_video(wanted.single, decoder) if wanted.single else None
    failed = False
    models = choose_lms(lm, vision_lm, seed, roles=role, profile=profile, steps=("captioner",))
    with limiting(short_side), models, verbosely(verbose):
        keeps("the captions so far are in the store")
        for number, path in enumerate(wanted, start=1):
            try:
                video = first or open_video(path, decoder)
                of = "" if wanted.single else f" of video {number} of {len(wanted)}"
                _caption(program, video, path, out, of)
            except VideoError as error:
                if wanted.single:
                    raise
                failed = True
                ERRORS.print(f"error: {clean(str(error))}", style="bold red", markup=False, soft_wrap=True)
    return FAILED if failed else 0


class Videos:
    """Video files, in the order of naming, those of a folder by name. May be gone through more than once.

    Args:
        paths: Files and folders.
        folder: One more folder.

    Raises:
        InputError: Nothing is named, a folder cannot be read, or there is no video in it.
    """

    def __init__(self, paths: Sequence[Path], folder: Path | None) -> None:
        named = [*paths, *([folder] if folder is not None else [])]
        if not named:
            raise InputError("no video is named: give files, folders, or --videos DIR")
        self._found = [VideoFolder(path) if path.is_dir() or path == folder else path for path in named]
        for found in self._found:
            if isinstance(found, VideoFolder) and not len(found):
                raise InputError(f"there is no video in {found.path}")

    @property
    def single(self) -> Path | None:
        """The file, if one file was named and nothing else."""
        only = self._found[0] if len(self._found) == 1 else None
        return only if isinstance(only, Path) else None

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __iter__(self) -> Iterator[Path]:
        for found in self._found:
            if isinstance(found, VideoFolder):
                yield from found
            else:
                yield found


def _caption(program: VideoHV, video: Video, path: Path, out: Path | None, of: str) -> None:
    """Caption one video; `of` says which of several it is."""
    with counting(f"captions{of}") as progress:
        captions, info = program.caption(video, progress)
    ERRORS.print(f"captions      {info.count} from {clean(info.captioner)}", markup=False)
    if out is not None:
        write_captions(out, captions, video=whole(path.stem))
        return
    if of:
        OUT.out(f"# {clean(str(path))}")
    for item in captions:
        OUT.out(f"{clock(item.time):>7}  {clean(item.text)}")
