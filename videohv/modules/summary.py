"""Summary: captions condensed to what the question needs, piece by piece when they do not fit one prompt."""

from __future__ import annotations

import math
from collections.abc import Sequence

import dspy

from videohv import signatures
from videohv.modules.ask import Unusable, ask
from videohv.modules.pieces import caption_tokens, each_piece, in_pieces
from videohv.modules.settings import LoopSettings
from videohv.modules.timeline import Timeline
from videohv.signatures.summary import Passage
from videohv.types import Question, Segment, Window

STEP = "summary"


class Summary(dspy.Module):
    """Makes the question-conditioned summary P_s from the frame captions P_f, by map and reduce.

    Captions that fit the context go into one call. Otherwise they are cut into pieces that are summarised side by
    side, and the passages are summarised again until they fit.
    """

    def __init__(self) -> None:
        super().__init__()
        self.predict = dspy.Predict(signatures.Summarize)

    def forward(self, timeline: Timeline, question: Question, settings: LoopSettings) -> tuple[Segment, ...]:
        """Summarise.

        Args:
            timeline: The captions.
            question: What the summary is for; its options are not shown.
            settings: For the budget, the workers and the seed.

        Returns:
            Passages in the order of time, inside the span of the captions.

        Raises:
            StepFailed: If no piece could be summarised. Single failed pieces are recorded as degraded.
        """
        end = timeline.duration

        def condense(piece: str) -> tuple[Segment, ...]:
            return ask(STEP, self.predict, lambda p: _read(p.passages, end), captions=piece, question=question.text)

        lines: Sequence[str] = timeline.lines
        budget = caption_tokens(self.predict, settings)
        while True:
            pieces = in_pieces(lines, budget)
            segments = tuple(s for found in each_piece(condense, pieces, settings.workers) for s in found)
            if len(pieces) == 1:
                return segments
            lines = [f"[{s.window.start:g}-{s.window.end:g}s] {s.text}" for s in segments]
            if len(in_pieces(lines, budget)) >= len(pieces):
                # A model that does not condense would keep this going for ever.
                return segments


def _read(passages: Sequence[Passage], end: float) -> tuple[Segment, ...]:
    segments = []
    for passage in passages:
        if not passage.text.strip() or not (math.isfinite(passage.start) and math.isfinite(passage.end)):
            continue
        low, high = sorted((min(max(passage.start, 0.0), end), min(max(passage.end, 0.0), end)))
        segments.append(Segment(window=Window(start=low, end=high), text=" ".join(passage.text.split())))
    if not segments:
        raise Unusable("no passage with times and text")
    return tuple(sorted(segments, key=lambda s: (s.window.start, s.window.end)))
