"""Summary: captions condensed to what the question needs, one stretch of the video at a time."""

from __future__ import annotations

import math
from collections.abc import Sequence

import dspy

from videohv import signatures
from videohv.modules.ask import Unusable, ask
from videohv.modules.pieces import caption_tokens, each_piece, in_pieces, text_of
from videohv.modules.render import Line, tidy
from videohv.modules.settings import SummarySettings
from videohv.modules.timeline import Timeline
from videohv.types import Question, Segment, Window

STEP = "summary"

LINES_A_STRETCH = 10
"""Captions that are worth a stretch of their own."""

SECONDS_A_STRETCH = 300.0
"""The longest stretch that three sentences can stand for."""


class Summary(dspy.Module):
    """Makes the question-conditioned summary P_s from the frame captions P_f.

    The captions are cut into stretches that are summarised side by side, each by a call of its own: a model that is
    given a long list tends to tell its beginning, and a stretch has a known window, which a model need not invent.
    Only when the summaries do not fit one prompt are they summarised again.
    """

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(signatures.Summarize)

    def forward(self, timeline: Timeline, question: Question, settings: SummarySettings) -> tuple[Segment, ...]:
        """Summarise.

        Args:
            timeline: The captions.
            question: What the summary is for; its options are not shown.
            settings: For the number of stretches, the budget and the workers.

        Returns:
            A passage for each stretch, in the order of time.

        Raises:
            StepFailed: If no stretch could be summarised. Single failed ones are recorded as degraded.
        """
        lines: Sequence[Line] = timeline.lines
        budget = caption_tokens(STEP, self.predict, settings)
        longest = math.ceil((lines[-1].end - lines[0].start) / SECONDS_A_STRETCH)
        wanted = min(max(settings.stretches, longest), len(lines) // LINES_A_STRETCH)
        stretches = in_pieces(lines, budget, wanted)

        def condense(stretch: Sequence[Line]) -> Segment:
            window = Window(start=stretch[0].start, end=stretch[-1].end)
            return ask(
                STEP, self.predict, lambda p: _read(p, window), captions=text_of(stretch), question=question.text
            )

        while True:
            segments = tuple(each_piece(condense, stretches, settings.workers))
            lines = [Line.of(s.window.start, s.window.end, s.text) for s in segments]
            fewer = in_pieces(lines, budget)
            # A model that does not condense would keep this going for ever.
            if len(fewer) == 1 or len(fewer) >= len(stretches):
                return segments
            stretches = fewer


def _read(prediction: dspy.Prediction, window: Window) -> Segment:
    text = tidy(prediction.summary)
    if not text:
        raise Unusable("the summary is empty")
    return Segment(window=window, text=text)
