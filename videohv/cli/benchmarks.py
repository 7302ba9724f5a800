"""The options by which every command finds the questions of a benchmark and what they are answered from."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

DataRootOption = Annotated[
    Path | None, typer.Option(help="Folder with the files that the benchmark's authors publish.")
]
HubOption = Annotated[bool, typer.Option("--hub", help="Take the questions from the Hub (needs the extra 'hub').")]
CaptionsOption = Annotated[Path | None, typer.Option(help="Published captions: a file by video, or a folder.")]
StrideOption = Annotated[int, typer.Option(min=1, help="Use every n-th published caption.")]
VideosOption = Annotated[Path | None, typer.Option(help="Folder of the video files.")]
