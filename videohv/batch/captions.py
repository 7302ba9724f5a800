"""Frame captions as a batch job: the requests of the live captioner, and its reader for the replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import count, islice
from pathlib import Path

import dspy
import numpy as np

from videohv.batch.wire import Wire
from videohv.batch.work import Ending, Line, Reading, Request, Taken, Whole
from videohv.data.store import CaptionStore, Key, ticks
from videohv.errors import ModelError, VideoError
from videohv.modules.ask import StepFailed
from videohv.modules.captioner import Captioner, LMCaptioner
from videohv.modules.inputs import open_video
from videohv.modules.settings import MAX_FRAMES_A_LOOK
from videohv.types import Caption, Seconds, Value, clock
from videohv.video import Frame, Video
from videohv.video.identity import check_file

_BLANK = np.zeros((8, 8, 3), np.uint8)


class Moments(Value):
    """The note of a line: where the video lies, its frames as (time wanted, time of the frame), and their pixels."""

    path: str
    frames: tuple[tuple[Seconds, Seconds], ...]
    width: int
    height: int


class CaptionJob:
    """Captions every moment of some videos that the store does not hold yet.

    Args:
        videos: Paths of video files, taken one by one.
        module: Whose prompt and demonstrations to use.
        lm: The vision LM.
        fps: Sampled moments a second.
        store: Where captions are kept; None is the one in the user's cache.
        decoder: Who decodes the videos.

    Raises:
        InputError: The LM is not one that a batch can be made for.
    """

    def __init__(
        self,
        videos: Iterable[Path],
        module: Captioner,
        lm: dspy.LM,
        fps: float = 1.0,
        store: CaptionStore | None = None,
        decoder: str = "auto",
    ) -> None:
        self.videos, self.fps, self.decoder = videos, fps, decoder
        self.kept = store if store is not None else CaptionStore()
        self.captioner = LMCaptioner(module, lm).identity
        self.problems: list[str] = []
        self.wire = Wire(lm)
        self.identity = f"captions {self.captioner} by {lm.model} at {fps!r} fps from {self.wire.connection().base_url}"
        self._module = module.deepcopy()
        self._module.set_lm(self.wire.lm)
        self._open: Video | None = None
        self._named: set[str] = set()

    def fresh(self, taken: Taken) -> Iterator[Request | Whole]:
        """Requests of up to five frames, in the order of the videos and of time. Each video is decoded as a stream."""
        for path in self.videos:
            try:
                yield from self._video(path, taken)
            except VideoError as error:
                self._complain(str(error))

    def missing(self, path: Path, taken: Taken) -> tuple[Video, frozenset[int]] | None:
        """A video with the moments (in microseconds) that need no request, or None if it needs nothing at all.

        Raises:
            VideoError: It cannot be read.
        """
        group = taken.planned(source_of(path))
        if group is not None and (self.kept.complete(self._key(group)) or taken.taken(group)):
            self._named.add(group)
            return None
        video = open_video(path, self.decoder)
        key = self._key(video.info.content_hash)
        self._named.add(key.content_hash)
        if self.kept.complete(key):
            return None
        stored = {ticks(time) for time in self.kept.times(key)}
        return video, frozenset(stored | {int(item) for item in taken.taken(key.content_hash)})

    def again(self, line: Line) -> Request | None:
        """The same frames once more."""
        memo = Moments.model_validate_json(line.memo)
        try:
            video = self._video_at(memo.path)
            if video.info.content_hash != line.group:
                self._complain(f"{memo.path}: is another file now, so {self.label(line)} cannot be sent again")
                return None
            frames = video.frames_at([wanted for wanted, _ in memo.frames])
        except VideoError as error:
            self._complain(str(error))
            return None
        return self._request(line, frames)

    def read(self, line: Line, replies: Sequence[str]) -> Reading:
        """Read a reply as the live captioner does and put what it says into the caption store."""
        # A reply is read by the times of the frames; what they show is the server's business.
        frames = [Frame(wanted, time, _BLANK) for wanted, time in Moments.model_validate_json(line.memo).frames]
        captions, why = self._ask(frames, replies)
        if captions is None:
            return Reading(Ending.AGAIN if self.wire.sent else Ending.LOST, why)
        self.kept.write(self._key(line.group), (caption for caption in captions if caption.text))
        return Reading(Ending.STORED)

    def finish(self, group: str, size: int) -> None:
        """Mark a video as complete if every moment of it has a caption."""
        key = self._key(group)
        if not self.kept.complete(key) and len(self.kept.times(key)) >= size:
            self.kept.mark_complete(key)

    def done(self, line: Line) -> bool:
        """Whether all of its moments have captions."""
        return {int(item) for item in line.items} <= {ticks(t) for t in self.kept.times(self._key(line.group))}

    def concerns(self, line: Line) -> bool:
        """Whether it is about one of the videos that `fresh` went through; a state may know of others."""
        return line.group in self._named

    def label(self, line: Line) -> str:
        """The video and the times of the first and the last frame."""
        memo = Moments.model_validate_json(line.memo)
        return f"{memo.path} at {clock(memo.frames[0][0])}–{clock(memo.frames[-1][0])}"

    def first_request(self, video: Video, done: frozenset[int]) -> Request | None:
        """The first request that a video needs."""
        return next((made for made in self._requests(video, done)), None)

    def _video(self, path: Path, taken: Taken) -> Iterator[Request | Whole]:
        found = self.missing(path, taken)
        if found is None:
            return
        video, done = found
        made = 0
        for request in self._requests(video, done):
            made += len(request.line.items)
            yield request
        yield Whole(video.info.content_hash, source_of(path), len(done) + made)

    def _requests(self, video: Video, done: frozenset[int]) -> Iterator[Request]:
        first = next(i for i in count() if ticks(i / self.fps) not in done)
        missing = (f for f in video.sample(self.fps, start=first / self.fps) if ticks(f.wanted) not in done)
        while frames := list(islice(missing, MAX_FRAMES_A_LOOK)):
            memo = Moments(
                path=str(Path(video.info.path).absolute()),
                frames=tuple((frame.wanted, frame.time) for frame in frames),
                width=frames[0].width,
                height=frames[0].height,
            )
            items = tuple(str(ticks(frame.wanted)) for frame in frames)
            line = Line(group=video.info.content_hash, items=items, memo=memo.model_dump_json())
            yield self._request(line, frames)

    def _request(self, line: Line, frames: Sequence[Frame]) -> Request:
        # Replies that lead nowhere, such as those to an earlier version of the prompt, are as good as none.
        for replies in (line.replies, ()):
            _, why = self._ask(frames, replies)
            if self.wire.sent:
                return Request(line, self.wire.sent[0].body)
        raise ModelError(f"no request can be made for {self.label(line)}: {why}")

    def _ask(self, frames: Sequence[Frame], replies: Sequence[str]) -> tuple[tuple[Caption, ...] | None, str]:
        """The captions, or None and why there are none; with `wire.sent` when one more reply is needed."""
        waiting = iter(replies)
        with self.wire.replying(lambda body: next(waiting, None)):
            try:
                return self._module(list(frames)), ""
            except StepFailed as failure:
                return None, "the reply could not be used" if self.wire.sent else failure.why

    def _video_at(self, path: str) -> Video:
        if self._open is None or self._open.info.path != path:
            self._open = open_video(path, self.decoder)
        return self._open

    def _complain(self, problem: str) -> None:
        if problem not in self.problems:
            self.problems.append(problem)

    def _key(self, content_hash: str) -> Key:
        return Key(content_hash, self.captioner, self.fps)


def source_of(path: Path) -> str:
    """Names a file for as long as nobody writes to it.

    Raises:
        NotVideo: It is not there, or no file.
    """
    return "\n".join(str(part) for part in check_file(path))
