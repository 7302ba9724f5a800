"""Show a vision model frames of the whole video and ask: what no agent at all achieves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import dspy
from pydantic import Field

from videohv import signatures
from videohv.lm.roles import declare_role, eyes
from videohv.modules.answer import read_decision
from videohv.modules.ask import StepFailed, ask
from videohv.modules.looking import spread
from videohv.modules.methods import method
from videohv.modules.observe import frame_inputs
from videohv.modules.program import VideoProgram
from videohv.modules.recorder import Recorder
from videohv.modules.render import options_text
from videohv.modules.settings import MethodSettings
from videohv.modules.timeline import Timeline
from videohv.types import Answer, Evidence, Outcome, Question, Source, Window
from videohv.video import Frame, Video

STEP = declare_role("direct.answer", looks=True)


class DirectSettings(MethodSettings):
    """Settings of `Direct`.

    Args:
        frames: Frames in the one call. How many images a model takes at once is for the user to know; a model that
            takes fewer refuses, and the question fails with what it says.
    """

    frames: int = Field(default=8, ge=1, le=256)


class DirectAnswer(dspy.Module):
    """Answers from frames, in one call."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = dspy.Predict(signatures.AnswerFromFrames)

    def forward(
        self, question: Question, frames: Sequence[Frame], lm: dspy.BaseLM, may_abstain: bool = False
    ) -> Answer:
        """Answer.

        Args:
            question: With its options.
            frames: In the order of time.
            lm: The vision LM.
            may_abstain: Whether declining is a permitted answer.

        Raises:
            StepFailed: If no reply named an option.
        """
        # One picture is about a megabyte in DSPy's history.
        with dspy.context(disable_history=True):
            return ask(
                STEP,
                self.answer,
                lambda p: read_decision(p, question, may_abstain),
                lm=lm,
                **frame_inputs(frames, lm, most=len(frames)),
                question=question.text,
                options=options_text(question),
                may_abstain=may_abstain,
            )


@method("direct")
class Direct(VideoProgram):
    """Answers from frames at even distances in one call to a vision model, without captions and without agents.

    It needs the video and a model that sees images: without one of them the outcome is `missing_input`. The trace has
    one look, at the whole video, with the times of the frames that were shown. Its settings are `DirectSettings`.
    """

    settings_type: ClassVar[type[MethodSettings]] = DirectSettings
    reads_captions: ClassVar[bool] = False
    takes_default_lm: ClassVar[bool] = False

    settings: DirectSettings

    def __init__(self, settings: MethodSettings | None = None, **options: Any) -> None:
        super().__init__(settings, **options)
        self.direct = DirectAnswer()

    def reason(self, recorder: Recorder, timeline: Timeline, video: Video | None) -> Answer:
        """One call."""
        if video is None:
            why = "this method looks at frames and needs the video file (--videos), which was not given"
            raise StepFailed(STEP, Outcome.MISSING_INPUT, why)
        lm = eyes(self.direct.answer.lm, STEP)
        if lm is None:
            why = "this method needs a model that sees images: give --vision-lm, or videohv.configure(vision_lm=…)"
            raise StepFailed(STEP, Outcome.MISSING_INPUT, why)
        frames = {frame.time: frame for frame in video.frames_at(spread(timeline.duration, self.settings.frames))}
        if not frames:
            raise StepFailed(STEP, Outcome.MISSING_INPUT, f"no frame of {video.info.path} could be had")
        times = tuple(sorted(frames))
        window = Window(start=0.0, end=timeline.duration)
        recorder.begin_round()
        recorder.begin_look((window,))
        recorder.add_evidence((Evidence(window=window, times=times, observations=(), source=Source.FRAMES),))
        answer: Answer = self.direct(recorder.question, [frames[t] for t in times], lm, self.settings.may_abstain)
        return answer

    def _homeless(self) -> bool:
        """Only a model that sees counts."""
        return dspy.settings.lm is None and eyes(self.direct.answer.lm, STEP) is None
