"""What a question of a benchmark is asked with: captions that somebody published, and the video file."""

from __future__ import annotations

import copy
import threading
from pathlib import Path
from typing import NamedTuple

from videohv.data.library import CaptionLibrary, captions_digest
from videohv.data.videos import VideoFolder
from videohv.evaluate.jobs import Job
from videohv.modules.inputs import open_video
from videohv.types import Caption, Question
from videohv.video import Video, get_decoder


class Given(NamedTuple):
    """Captions and video of a question, as far as there are any."""

    captions: tuple[Caption, ...] | None
    video: Video | None


class Inputs:
    """Finds what there is for a question. The captions are indexed when `ready` is called or the first is wanted.

    Args:
        captions: A published captions file or folder, or None.
        videos: The folder that holds the video files, or None.
        decoder: Who decodes them.
        stride: Of the published captions of a video every n-th one is given, from the first one on.

    Raises:
        InputError: If one of them is not there or cannot be read, or no decoder has that name.
        MissingExtra: If the decoder's package is not installed.
    """

    def __init__(self, captions: Path | None, videos: Path | None, decoder: str = "auto", stride: int = 1) -> None:
        self.captions, self.stride = captions, stride
        self.captions_hash = captions_digest(captions) if captions is not None else ""
        self._library: CaptionLibrary | None = None
        self._opening = threading.Lock()
        self.videos = VideoFolder(videos) if videos is not None else None
        if videos is not None:
            # A decoder that is not there would fail every question.
            get_decoder(decoder)
        self._decoder = decoder

    def ready(self) -> CaptionLibrary | None:
        """The published captions, indexed; None if there are none.

        Raises:
            InputError: If they have another form than captions are published in.
        """
        with self._opening:
            if self._library is None and self.captions is not None:
                self._library = CaptionLibrary.open(self.captions)
            return self._library

    def strided(self, stride: int) -> Inputs:
        """The same with another stride; what was indexed is shared."""
        self.ready()
        made = copy.copy(self)
        made.stride = stride
        return made

    def of(self, job: Job) -> Given:
        """What there is for a question.

        Raises:
            InputError: If its captions can't be read, or several files could be its video.
            VideoError: If its video file is there and can't be read.
        """
        names = (job.question.video, *job.names)
        captions, library = None, self.ready()
        if library is not None:
            captions = next((c for name in names if (c := library.captions(name)) is not None), None)
            captions = captions[:: self.stride] if captions is not None else None
        path = self.videos.find(*names) if self.videos is not None else None
        return Given(captions, open_video(path, self._decoder) if path is not None else None)

    def why_nothing(self, question: Question) -> str:
        """Why `of` gives neither captions nor a video, for the trace of the question."""
        looked = [
            f"{what} {'has nothing of it' if there is not None else 'was not given'}"
            for what, there in (("--captions", self.captions), ("--videos", self.videos))
        ]
        return f"there is nothing to answer from: of the video {question.video!r}, {' and '.join(looked)}"
