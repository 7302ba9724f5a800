"""What the page, the HTTP API and the MCP server have in common: the videos, the models and the questions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from pydantic import Field

from videohv.app.job import Asked, Job
from videohv.app.jobs import Jobs
from videohv.app.kept import Ended, Kept, Runs, as_ended
from videohv.app.places import Found, Places
from videohv.captioners.registry import captioner_names
from videohv.compiled import load_program, shipped
from videohv.data.subtitle_files import subtitles_beside
from videohv.errors import InputError
from videohv.modules.inputs import as_question, open_video
from videohv.modules.methods import make_method, method_names
from videohv.modules.speech import Speech, find_speech
from videohv.modules.videohv import VideoHV
from videohv.types import FrameLimits, Trace, Value
from videohv.video import Video

LONGEST_QUESTION = 4_000
"""Characters of a question or an option."""

_LIMITS = FrameLimits(short_side=480, frame_bytes=400_000)


class Ask(Value):
    """A question as it comes in.

    Args:
        video: Id of the video.
        question: The text.
        options: 2 to 26 answer texts; None for a question without.
        method: Who answers.
        program: Name of a shipped compiled program, or empty.
        captioner: How captions are made when none are there.
        abstain: Whether the answer may be declined.
        settings: Of the method, by name, such as `rounds`.
        client: Who asks; when that page is closed its questions are stopped. Empty for nobody in particular.
    """

    video: str
    question: str = Field(max_length=LONGEST_QUESTION)
    options: tuple[str, ...] | None = None
    method: str = VideoHV.method
    program: str = ""
    captioner: str = "auto"
    abstain: bool = False
    settings: Mapping[str, Any] = Field(default_factory=dict)
    client: str = Field(default="", max_length=100)


class Seen(Value):
    """A video as it was opened.

    Args:
        id: Names it.
        name: File name.
        duration: Seconds.
        width: Pixels, after rotation.
        height: Pixels.
        fps: Frames a second, on average.
        warnings: What a user should know about the file.
        playable: Whether browsers commonly play such files.
    """

    id: str
    name: str
    duration: float
    width: int
    height: int
    fps: float
    warnings: tuple[str, ...] = ()
    playable: bool = False


class Desk:
    """Takes questions about the videos of `places`, with the models that are configured where it is made.

    Args:
        places: What may be read.
        jobs: Who works on them.
        kept: Where ended questions are kept; None keeps none.
        runs: Benchmark runs that can be looked at.
        models: Which model each step asks, to be shown.
        decoder: Who decodes the videos.
        seed: For sampling.
    """

    def __init__(
        self,
        places: Places,
        jobs: Jobs,
        kept: Kept | None = None,
        runs: Runs | None = None,
        models: Sequence[tuple[str, str]] = (),
        decoder: str = "auto",
        seed: int = 0,
    ) -> None:
        self.places, self.jobs, self.kept = places, jobs, kept
        self.runs = runs or Runs(None)
        self.models = tuple(models)
        self._decoder, self._seed = decoder, seed

    def ask(self, ask: Ask) -> Job:
        """Have a question worked on.

        Raises:
            InputError: If something in it cannot be used; the message names it.
            Refused: If too much is waiting already.
        """
        path = self.places.path_of(ask.video)
        found = self.places.add(path)
        for i, option in enumerate(ask.options or ()):
            if len(option) > LONGEST_QUESTION:
                raise InputError(f"options[{i}] has {len(option):,} characters; {LONGEST_QUESTION:,} are possible")
        question = as_question(ask.question, ask.options).model_copy(update={"video": path.name})
        settings = {"seed": self._seed, "may_abstain": ask.abstain, **ask.settings}
        its = make_method(ask.method).settings_type.model_fields
        # Only settings: what else a method is made with, such as the file of its store, is not for a page to choose.
        for name in settings:
            if name not in its:
                raise InputError(
                    f"settings.{name}: method {ask.method!r} has no such setting; it has: {', '.join(its)}"
                )
        program = make_method(ask.method, captioner=ask.captioner, **settings)
        if ask.program:
            if ask.program not in shipped():
                known = ", ".join(shipped()) or "none are shipped"
                raise InputError(f"no shipped program is called {ask.program!r}; known: {known}")
            load_program(ask.program, into=program)

        def work() -> Trace:
            # Looked at anew: it may have waited for long.
            file = self.places.path_of(ask.video)
            speech = self._speech(file) if program.reads_captions else Speech()
            made = program(question=question, video=open_video(file, self._decoder), speech=speech)
            assert isinstance(made.trace, Trace)
            return made.trace

        asked = Asked(
            question=ask.question.strip(),
            options=tuple(option.strip() for option in ask.options or ()),
            video=found.id,
            name=found.name,
            method=ask.method,
        )
        return self.jobs.submit(asked, work, ask.client)

    def _speech(self, path: Path) -> Speech:
        """What is said in a video; a subtitle file that is a link to another place is not followed."""
        try:
            for file in subtitles_beside(path):
                self.places.resolve(str(file))
        except InputError:
            return Speech(notes=("subtitles: left out, because the file beside the video may not be read",))
        return find_speech(path)

    def open(self, path: Path) -> Seen:
        """A video that `places` gave.

        Raises:
            VideoError: It cannot be read.
        """
        return self.seen(self.places.add(path), path)

    def seen(self, found: Found, path: Path) -> Seen:
        """A listed video as it is when opened; raises as `open`."""
        video = Video(path, decoder=self._decoder)
        info = video.info
        return Seen(
            id=found.id,
            name=found.name,
            duration=info.duration,
            width=info.width,
            height=info.height,
            fps=info.fps,
            warnings=tuple(text.replace(str(path), found.name) for text in video.warnings),
            playable=path.suffix.lower() in (".mp4", ".m4v", ".webm", ".mov", ".ogv"),
        )

    def picture(self, name: str, at: float) -> bytes:
        """The frame that is shown at a time, as JPEG.

        Args:
            name: Id of the video.
            at: Seconds from the first shown frame.

        Raises:
            InputError: There is no such video, or nothing is shown then.
            VideoError: It cannot be read.
        """
        frames = Video(self.places.path_of(name), decoder=self._decoder, short_side=480).frames_at([at])
        if not frames:
            raise InputError(f"nothing is shown at {at:g} s")
        return frames[0].within(_LIMITS)

    def ended(self, name: str) -> Ended | None:
        """The question of a job that has ended, in this process or an earlier one."""
        job = self.jobs.get(name)
        if job is not None and job.state.is_end:
            return as_ended(job)
        return self.kept.get(name) if self.kept is not None and job is None else None


@cache
def choices() -> dict[str, Any]:
    """What may be chosen for a question, with the settings of each method and what they are if nothing is said."""
    defaults = {name: make_method(name).settings.model_dump(mode="json") for name in method_names()}
    return {
        "methods": list(method_names()),
        "captioners": ["auto", "lm", *captioner_names()],
        "programs": list(shipped()),
        "settings": {name: list(given) for name, given in defaults.items()},
        "defaults": defaults,
    }
