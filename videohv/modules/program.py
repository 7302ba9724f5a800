"""What every method is: a DSPy module that answers questions about videos and records how."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, ClassVar

import dspy

from videohv.captioners.registry import captioner_names
from videohv.data import merge
from videohv.errors import InputError, MissingExtra, VideoError
from videohv.lm.adapter import json_adapter
from videohv.lm.team import found_models
from videohv.modules import streaming
from videohv.modules.ask import StepFailed
from videohv.modules.captioner import Captioner
from videohv.modules.captions import caption_info, captions_of
from videohv.modules.inputs import as_captions, as_question, as_speech, as_video, duplicate_warning
from videohv.modules.proposer import propose
from videohv.modules.recorder import Event, EventKind, Progress, Recorder, listeners, recording
from videohv.modules.settings import MethodSettings
from videohv.modules.speech import Speech
from videohv.modules.timeline import Timeline
from videohv.types import Answer, Caption, CaptionInfo, Outcome, Question, Trace
from videohv.video import Video


class VideoProgram(dspy.Module):
    """Answers a multiple-choice question about a video.

    It is an ordinary DSPy module: every agent is one of its `named_predictors()`, and `save`, `load`, `set_lm`,
    `dspy.Evaluate` and the teleprompters work on it. A subclass says in `reason` how it gets to an answer, and is
    found by name when it is registered with `videohv.modules.methods.method`.

    Args:
        settings: How far it goes: of the class `settings_type`, or of one that this builds on. Single settings may be
            given by name as well, such as `seed=1`.
        captioner: How captions are made when none are given: `auto` (the vision LM if there is one, else detectors),
            `lm`, `tags`, or another registered name.
        store: SQLite file in which captions are kept; None is the one in the user's cache.

    Attributes:
        method: The name under which it is registered, or the name of its class.
        settings_type: The class of its settings.
        reads_captions: Whether it works on frame captions. A program that does not is given an empty timeline, and
            has no captioner.
        takes_default_lm: Whether the embedded default model is of use to it where no other is named.

    Raises:
        InputError: If there is no such captioner, or the settings are those of another method.
        pydantic.ValidationError: If a setting is unknown or out of its range.
    """

    method: ClassVar[str] = "VideoProgram"
    settings_type: ClassVar[type[MethodSettings]] = MethodSettings
    reads_captions: ClassVar[bool] = True
    takes_default_lm: ClassVar[bool] = True

    settings: MethodSettings

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls.method = cls.__name__

    def __init__(
        self,
        settings: MethodSettings | None = None,
        *,
        captioner: str = "auto",
        store: Path | None = None,
        **changes: Any,
    ) -> None:
        super().__init__()
        if captioner not in (known := ("auto", "lm", *captioner_names())):
            raise InputError(f"no captioner is called {captioner!r}; known: {', '.join(known)}")
        if settings is not None and not issubclass(self.settings_type, type(settings)):
            raise InputError(
                f"method {self.method!r} takes {self.settings_type.__name__}; these are {type(settings).__name__}"
            )
        given = settings.model_dump(exclude_unset=True) if settings is not None else {}
        self.settings = self.settings_type.model_validate({**given, **changes})
        self.captioner_name = captioner
        self.store = store
        if self.reads_captions:
            self.captioner = Captioner()

    def reason(self, recorder: Recorder, timeline: Timeline, video: Video | None) -> Answer:
        """Get from the captions and frames of a video to an answer. What subclasses are for.

        Args:
            recorder: Of this question; rounds, looks, evidence and what had to be gone without are recorded there.
            timeline: The frame captions; empty for a program that reads none.
            video: None when there are only captions.

        Raises:
            StepFailed: If the question ends without an answer. Its outcome becomes that of the question.
            VideoError, MissingExtra: The same, as missing input.
        """
        raise NotImplementedError

    def forward(
        self,
        question: str | Question,
        options: Sequence[str] | None = None,
        video: str | Path | Video | None = None,
        captions: Sequence[Caption | str] | None = None,
        speech: Speech | Sequence[Caption] = (),
    ) -> dspy.Prediction:
        """Answer one question.

        Args:
            question: The text, or a `Question` that carries its options.
            options: 2 to 26 answer texts. Without them 3 to 5 are proposed from the captions, and since none of them
                need be right, the answer may then always be declined.
            video: A file. May be left out when captions are given.
            captions: Made before; a plain list of texts has one a second. May be left out when a video is given.
            speech: What is said in the video, as `find_speech` or `read_subtitles` gives it; shown among the captions.

        Returns:
            `answer` (the option's text, None without an answer), `answer_index` (from 0), `outcome`, `confidence` (0
            to 1 or None), `evidence`, `status`, `error` and the full `trace`. A failure is an outcome, never a guess.

        Raises:
            InputError: If question, options or captions are unusable, or neither video nor captions are given.
            Cancelled: If a listener stopped it.
        """
        return self._answer(question, options, video, captions, speech)

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
            InputError: If this method works on no captions.
            VideoError: If the file can't be read.
            MissingExtra: If the captioner's packages are not installed.
            StepFailed: If the vision LM fails for good.
        """
        if not self.reads_captions:
            raise InputError(f"the method {self.method!r} works on no captions")
        with self._ready():
            return self._captions(as_video(video), on_progress)

    def _answer(
        self,
        question: str | Question,
        options: Sequence[str] | None = None,
        video: str | Path | Video | None = None,
        captions: Sequence[Caption | str] | None = None,
        speech: Speech | Sequence[Caption] = (),
    ) -> dspy.Prediction:
        asked = as_question(question, options)
        said = as_speech(speech)
        answerer = self._willing(asked) if asked.proposed else self
        return answerer._asked(asked, video, captions, said)

    def _asked(
        self, asked: Question, video: str | Path | Video | None, captions: Sequence[Caption | str] | None, said: Speech
    ) -> dspy.Prediction:
        if video is None and captions is None and not said.captions and self.reads_captions:
            raise InputError("give a video, captions, or both")
        given = as_captions(captions) if captions is not None else None
        recorder = Recorder(asked, self.settings, listeners(), method=self.method)
        with self._ready(), recording(recorder):
            try:
                trace = self._run(recorder, video, given, said)
            except StepFailed as failure:
                trace = recorder.trace(failure.outcome, error=str(failure))
            except (VideoError, MissingExtra) as failure:
                trace = recorder.trace(Outcome.MISSING_INPUT, error=str(failure))
        return _prediction(trace)

    def _willing(self, asked: Question) -> VideoProgram:
        """The same program for a question without options: none that is proposed need be right, so it may decline."""
        if not asked.options and not self.reads_captions:
            raise InputError(f"the method {self.method!r} works on no captions, from which options could be proposed")
        willing = copy.copy(self)
        willing.settings = self.settings.model_copy(update={"may_abstain": True})
        return willing

    @contextmanager
    def _ready(self) -> Iterator[None]:
        """A model to ask, an adapter that sends each signature's schema, and no warning that prints whole frames."""
        adapter = dspy.settings.adapter or json_adapter()
        with (
            found_models(default=self.takes_default_lm) if self._homeless() else nullcontext(),
            dspy.context(adapter=adapter, warn_on_type_mismatch=False),
        ):
            yield

    def _homeless(self) -> bool:
        """Whether an agent would have no model to ask as things are configured."""
        return dspy.settings.lm is None and any(predictor.lm is None for predictor in self.predictors())

    def _captions(
        self, video: Video, on_progress: Callable[[int, int], None] | None
    ) -> tuple[tuple[Caption, ...], CaptionInfo]:
        return captions_of(video, self.captioner_name, self.captioner, self.settings, self.store, on_progress)

    def _run(
        self,
        recorder: Recorder,
        source: str | Path | Video | None,
        given: tuple[Caption, ...] | None,
        speech: Speech,
    ) -> Trace:
        if warning := duplicate_warning(recorder.question):
            recorder.warn(warning)
        video = self._open(recorder, source, dispensable=self.reads_captions and given is not None)
        if self.reads_captions:
            timeline = self._timeline(recorder, video, given, speech)
        else:
            timeline = Timeline((), video.info.duration if video is not None else 0.0)
        if not recorder.question.options:
            propose(recorder, timeline, self.settings, self)
        answer = self.reason(recorder, timeline, video)
        recorder.emit(EventKind.ANSWER, answer)
        outcome = Outcome.ABSTAINED if answer.option_index is None else Outcome.ANSWERED
        return recorder.trace(outcome, answer)

    def _open(self, recorder: Recorder, source: str | Path | Video | None, *, dispensable: bool) -> Video | None:
        if source is None:
            return None
        try:
            video = as_video(source)
        except VideoError as failure:
            if not dispensable:
                raise
            recorder.degrade("video", f"captions alone are used: {failure}")
            return None
        recorder.watch(video)
        return video

    def _timeline(
        self, recorder: Recorder, video: Video | None, given: tuple[Caption, ...] | None, speech: Speech
    ) -> Timeline:
        self._hear(recorder, speech)
        captions: tuple[Caption, ...] = given or ()
        if given is not None or video is None:
            recorder.captions = CaptionInfo(captioner="given", count=len(captions))
            way_out = (
                "there is no video file to make them from" if video is None else "leave them out to have them made"
            )
            why = f"the captions that were given are empty; {way_out}"
        else:
            captions, recorder.captions = self._captions(
                video,
                lambda done, total: recorder.emit(
                    EventKind.PROGRESS, Progress(step="captions", done=done, total=total)
                ),
            )
            why = f"the captioner {recorder.captions.captioner} could make none of {video.info.path}"
        captions = merge(captions, speech.captions)
        if not captions:
            raise StepFailed("captions", Outcome.MISSING_INPUT, f"there is no caption to reason from: {why}")
        recorder.emit(EventKind.CAPTIONS, recorder.captions)
        return Timeline(captions, video.info.duration if video is not None else captions[-1].time + 1.0)

    def _hear(self, recorder: Recorder, speech: Speech) -> None:
        for note in speech.notes:
            recorder.warn(note)
        if speech.captions:
            recorder.speech = caption_info(speech.origin or "given", speech.captions)
            recorder.emit(EventKind.SPEECH, recorder.speech)


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
