"""VideoHV: the hypothesis–verification program ("Think, Then Verify", arXiv 2603.04977) as a DSPy module."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dspy

from videohv.captioners.registry import captioner_names
from videohv.errors import InputError, MissingExtra, VideoError
from videohv.lm import default_lm
from videohv.modules import streaming
from videohv.modules.answer import Answer
from videohv.modules.ask import StepFailed
from videohv.modules.captioner import Captioner
from videohv.modules.captions import captions_of
from videohv.modules.inputs import as_captions, as_question, as_video, duplicate_warning
from videohv.modules.judge import Judge
from videohv.modules.loop import Loop
from videohv.modules.recorder import Event, EventKind, Progress, Recorder, listeners, recording
from videohv.modules.settings import LoopSettings
from videohv.modules.summary import Summary
from videohv.modules.thinker import Thinker
from videohv.modules.timeline import Timeline
from videohv.modules.verifier import Verifier
from videohv.types import Caption, CaptionInfo, Outcome, Question, Trace
from videohv.video import Video


class VideoHV(dspy.Module):
    """Answers a multiple-choice question about a video, with the evidence.

    First it thinks what would have to be visible for each option to hold, then it looks exactly there and checks;
    VERIFIED, PARTIAL and NOT_VERIFIED decide whether it answers, looks again or thinks again. It is an ordinary DSPy
    module: every agent is one of its `named_predictors()`, and `save`, `load`, `set_lm`, `dspy.Evaluate` and the
    teleprompters work on it.

    Args:
        settings: How far the loop goes. Single settings may be given by name as well: `VideoHV(rounds=1)`.
        captioner: How captions are made when none are given: `auto` (the vision LM if there is one, else detectors),
            `lm`, `tags`, or another registered name.
        store: SQLite file in which captions are kept; None is the one in the user's cache.

    Raises:
        InputError: If there is no such captioner.
        pydantic.ValidationError: If a setting is unknown or out of its range.
    """

    def __init__(
        self,
        settings: LoopSettings | None = None,
        *,
        captioner: str = "auto",
        store: Path | None = None,
        **changes: Any,
    ) -> None:
        super().__init__()
        if captioner not in (known := ("auto", "lm", *captioner_names())):
            raise InputError(f"no captioner is called {captioner!r}; known: {', '.join(known)}")
        self.settings = LoopSettings.model_validate({**(settings or LoopSettings()).model_dump(), **changes})
        self.captioner_name = captioner
        self.store = store
        self.captioner = Captioner()
        self.summary = Summary()
        self.thinker = Thinker()
        self.judge = Judge()
        self.verifier = Verifier()
        self.answer = Answer()

    def forward(
        self,
        question: str | Question,
        options: Sequence[str] | None = None,
        video: str | Path | Video | None = None,
        captions: Sequence[Caption | str] | None = None,
    ) -> dspy.Prediction:
        """Answer one question.

        Args:
            question: The text, or a `Question` that carries its options.
            options: 2 to 26 answer texts.
            video: A file. May be left out when captions are given.
            captions: Made before; a plain list of texts has one a second. May be left out when a video is given.

        Returns:
            `answer` (the option's text, None without an answer), `answer_index` (from 0), `outcome`, `confidence` (0
            to 1 or None), `evidence`, `status`, `error` and the full `trace`. A failure is an outcome, never a guess.

        Raises:
            InputError: If question, options or captions are unusable, or neither video nor captions are given.
            Cancelled: If a listener stopped it.
        """
        return self._answer(question, options, video, captions)

    async def aforward(self, **inputs: Any) -> dspy.Prediction:
        """The same as `forward`, in a thread of its own; cancelling the task stops the question at its next step."""
        return await streaming.in_thread(self._answer, inputs)

    def stream(self, **inputs: Any) -> Iterator[Event | dspy.Prediction]:
        """Yield an `Event` for each step as it ends, last the prediction. Closing the iterator stops the question."""
        return streaming.stream(self, inputs)

    def astream(self, **inputs: Any) -> AsyncIterator[Event | dspy.Prediction]:
        """The same as `stream`, for asyncio."""
        return streaming.astream(self, inputs)

    def caption(
        self, video: str | Path | Video, on_progress: Callable[[int, int], None] | None = None
    ) -> tuple[tuple[Caption, ...], CaptionInfo]:
        """The captions that `forward` would work on, made now (or taken from the store).

        Args:
            video: A file.
            on_progress: Called with moments done and moments in all.

        Raises:
            VideoError: If the file can't be read.
            MissingExtra: If the captioner's packages are not installed.
            StepFailed: If the vision LM fails for good.
        """
        with self._ready():
            return self._captions(as_video(video), on_progress)

    def _answer(
        self,
        question: str | Question,
        options: Sequence[str] | None = None,
        video: str | Path | Video | None = None,
        captions: Sequence[Caption | str] | None = None,
    ) -> dspy.Prediction:
        asked = as_question(question, options)
        if video is None and captions is None:
            raise InputError("give a video, captions, or both")
        given = as_captions(captions) if captions is not None else None
        recorder = Recorder(asked, self.settings, listeners())
        with self._ready(), recording(recorder):
            try:
                trace = self._run(recorder, video, given)
            except StepFailed as failure:
                trace = recorder.trace(failure.outcome, error=str(failure))
            except (VideoError, MissingExtra) as failure:
                trace = recorder.trace(Outcome.MISSING_INPUT, error=str(failure))
        return _prediction(trace)

    @contextmanager
    def _ready(self) -> Iterator[None]:
        """A model to ask, an adapter that sends each signature's schema, and no warning that prints whole frames."""
        homeless = dspy.settings.lm is None and any(predictor.lm is None for predictor in self.predictors())
        adapter = dspy.settings.adapter or dspy.JSONAdapter()
        default = default_lm() if homeless else dspy.settings.lm
        with dspy.context(lm=default, adapter=adapter, warn_on_type_mismatch=False):
            yield

    def _captions(
        self, video: Video, on_progress: Callable[[int, int], None] | None
    ) -> tuple[tuple[Caption, ...], CaptionInfo]:
        return captions_of(video, self.captioner_name, self.captioner, self.settings, self.store, on_progress)

    def _run(self, recorder: Recorder, source: str | Path | Video | None, given: tuple[Caption, ...] | None) -> Trace:
        if warning := duplicate_warning(recorder.question):
            recorder.warn(warning)
        video = self._open(recorder, source, captions_given=given is not None)
        if given is not None:
            captions, recorder.captions = given, CaptionInfo(captioner="given", count=len(given))
        elif video is not None:
            captions, recorder.captions = self._captions(
                video,
                lambda done, total: recorder.emit(
                    EventKind.PROGRESS, Progress(step="captions", done=done, total=total)
                ),
            )
        if recorder.captions is None or not captions:
            return recorder.trace(Outcome.MISSING_INPUT, error="there is no caption to reason from")
        recorder.emit(EventKind.CAPTIONS, recorder.captions)
        duration = video.info.duration if video is not None else captions[-1].time + 1.0
        answer = Loop(self, recorder, Timeline(captions, duration), video).run()
        outcome = Outcome.ABSTAINED if answer.option_index is None else Outcome.ANSWERED
        return recorder.trace(outcome, answer)

    def _open(self, recorder: Recorder, source: str | Path | Video | None, *, captions_given: bool) -> Video | None:
        if source is None:
            return None
        try:
            video = as_video(source)
        except VideoError as failure:
            if not captions_given:
                raise
            recorder.degrade("video", f"captions alone are used: {failure}")
            return None
        recorder.video = video.info
        for warning in video.info.warnings:
            recorder.warn(warning)
        return video


def _prediction(trace: Trace) -> dspy.Prediction:
    index = trace.answer.option_index if trace.answer else None
    return dspy.Prediction(
        answer=trace.question.options[index] if index is not None else None,
        answer_index=index,
        outcome=trace.outcome,
        confidence=trace.answer.confidence if trace.answer else None,
        evidence=trace.evidence,
        status=trace.status,
        error=trace.error,
        trace=trace,
    )
