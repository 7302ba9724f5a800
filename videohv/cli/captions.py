"""`videohv captions`: published captions into the store, and out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from videohv.cli.console import ERRORS, OUT, clean
from videohv.data.exchange import export_captions, import_captions
from videohv.data.library import CaptionLibrary
from videohv.data.store import CaptionStore
from videohv.data.videos import VideoFolder
from videohv.video import content_hash

captions = typer.Typer(help="Captions that somebody else made.", no_args_is_help=True, rich_markup_mode=None)

_SHOWN = 5

CaptionerName = Annotated[
    str,
    typer.Option("--captioner", metavar="NAME", help="Who wrote them, such as lavila; the store has them under it."),
]
FpsOption = Annotated[float, typer.Option(min=0.01, max=60, help="Captions a second.")]
VideosOption = Annotated[
    Path | None,
    typer.Option(help="Folder of the video files: captions belong to their content. Without it, to the video's name."),
]
StoreOption = Annotated[Path | None, typer.Option(help="The store; by default the one in the user's cache.")]


@captions.command("import")
def import_(
    path: Annotated[Path, typer.Argument(help="A captions file that names its videos, or a folder, a file a video.")],
    captioner: CaptionerName,
    videos: VideosOption = None,
    fps: FpsOption = 1.0,
    store: StoreOption = None,
) -> None:
    """Put published captions into the caption store. Importing twice adds nothing."""
    folder = VideoFolder(videos) if videos is not None else None
    done = import_captions(
        CaptionStore(store),
        CaptionLibrary.open(path),
        captioner=captioner,
        fps=fps,
        videos=folder,
        content_hash=content_hash,
    )
    if done.missing:
        names = ", ".join(done.missing[:_SHOWN]) + (", …" if len(done.missing) > _SHOWN else "")
        ERRORS.print(clean(f"left out: {len(done.missing)} videos that have no file ({names})"), markup=False)
    OUT.out(f"{done.captions} new captions of {done.videos} videos, as {clean(captioner)}")


@captions.command("export")
def export(
    path: Annotated[Path, typer.Argument(help="The file to write, or with --form folder the folder.")],
    captioner: CaptionerName,
    form: Annotated[
        Literal["list", "seconds", "folder"],
        typer.Option(help="A list a video, an object by second a video, or a file a video."),
    ] = "list",
    videos: VideosOption = None,
    fps: FpsOption = 1.0,
    plain: Annotated[
        bool, typer.Option("--plain", help="Write the texts as they are used, not as they were published.")
    ] = False,
    store: StoreOption = None,
) -> None:
    """Write the captions of one captioner in a form in which they are published."""
    folder = VideoFolder(videos) if videos is not None else None
    done = export_captions(
        CaptionStore(store),
        path,
        captioner=captioner,
        form=form,
        fps=fps,
        videos=folder,
        content_hash=content_hash,
        plain=plain,
    )
    OUT.out(f"{done.captions} captions of {done.videos} videos")


@captions.command("list")
def list_captions(store: StoreOption = None) -> None:
    """Show whose captions the store has, and of how many videos."""
    counts: dict[tuple[str, float], int] = {}
    for key in CaptionStore(store).tracks():
        counts[key.captioner, key.fps] = counts.get((key.captioner, key.fps), 0) + 1
    for (captioner, fps), count in sorted(counts.items()):
        OUT.out(f"{clean(captioner)}\t{fps:g} fps\t{count} videos")
