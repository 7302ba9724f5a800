"""Answer from captions, in the way of LLoVi (arXiv 2312.17235): one prompt with all that was captioned."""

from __future__ import annotations

from typing import Any, ClassVar

import dspy

from videohv import signatures
from videohv.lm.roles import declare_role
from videohv.modules.answer import read_decision
from videohv.modules.ask import TooLong, ask
from videohv.modules.methods import method
from videohv.modules.pieces import caption_tokens, in_pieces, text_of
from videohv.modules.program import VideoProgram
from videohv.modules.recorder import EventKind, Recorder
from videohv.modules.render import options_text, summary_text
from videohv.modules.settings import MethodSettings, SummarySettings
from videohv.modules.summary import Summary
from videohv.modules.timeline import Timeline
from videohv.types import Answer, Question
from videohv.video import Video

STEP = declare_role("captions.answer")


class CaptionsSettings(SummarySettings):
    """Settings of `Captions`.

    Args:
        summarize: Answer from the question-conditioned summary even if all captions fit one prompt.
    """

    summarize: bool = False


class CaptionsAnswer(dspy.Module):
    """Answers from captions or their summary, in one call."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = dspy.Predict(signatures.AnswerFromCaptions)

    def forward(self, question: Question, captions: str, may_abstain: bool = False) -> Answer:
        """Answer.

        Args:
            question: With its options.
            captions: One line a moment or stretch.
            may_abstain: Whether declining is a permitted answer.

        Raises:
            StepFailed: If no reply named an option.
        """
        return ask(
            STEP,
            self.answer,
            lambda p: read_decision(p, question, may_abstain),
            captions=captions,
            question=question.text,
            options=options_text(question),
            may_abstain=may_abstain,
        )


@method("captions")
class Captions(VideoProgram):
    """Answers from all captions in one prompt, or from their question-conditioned summary where they do not fit.

    The summary is made as for `VideoHV`. No frame is looked at, and the trace has no rounds and no evidence: what the
    answer relied on is said in its reasoning. Its settings are `CaptionsSettings`.
    """

    settings_type: ClassVar[type[MethodSettings]] = CaptionsSettings

    settings: CaptionsSettings

    def __init__(self, settings: MethodSettings | None = None, **options: Any) -> None:
        super().__init__(settings, **options)
        self.summary = Summary()
        self.captions = CaptionsAnswer()

    def reason(self, recorder: Recorder, timeline: Timeline, video: Video | None) -> Answer:
        """One call, after those of the summary where there is one."""
        pieces = in_pieces(timeline.lines, caption_tokens(STEP, self.captions.answer, self.settings))
        if len(pieces) == 1 and not self.settings.summarize:
            try:
                return self._answer_from(text_of(pieces[0]), recorder.question)
            except TooLong as failure:
                # How much a model reads is an estimate where it does not tell.
                recorder.warn(f"the summary is used, since the captions do not fit after all: {failure}")
        if not recorder.summary:
            recorder.summary = self.summary(timeline, recorder.question, self.settings)
            recorder.emit(EventKind.SUMMARY, recorder.summary)
        return self._answer_from(summary_text(recorder.summary), recorder.question)

    def _answer_from(self, shown: str, question: Question) -> Answer:
        answer: Answer = self.captions(question, shown, self.settings.may_abstain)
        return answer
