"""Verifier: where the clue could be seen, what is seen there, and what that makes of the hypotheses."""

from __future__ import annotations

from collections.abc import Sequence

import dspy

from videohv import signatures
from videohv.modules.answer import read_verdicts
from videohv.modules.ask import Unusable, ask
from videohv.modules.looking import look_at, usable_windows
from videohv.modules.pieces import caption_tokens, each_piece, in_pieces, text_of
from videohv.modules.render import (
    Line,
    captions_lines,
    clue_text,
    evidence_text,
    hypotheses_text,
    seen,
    tidy,
)
from videohv.modules.settings import LoopSettings
from videohv.modules.timeline import Timeline
from videohv.types import Check as Checked
from videohv.types import Clue, Evidence, Hypothesis, Question, Status, Window
from videohv.video import Video


class Verifier(dspy.Module):
    """Locates, looks and checks; each of the three is a predictor of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.locate = dspy.Predict(signatures.Locate)
        self.look = dspy.Predict(signatures.Look)
        self.check = dspy.Predict(signatures.Check)

    def windows(self, clue: Clue, timeline: Timeline, settings: LoopSettings) -> tuple[Window, ...]:
        """Where in the video the clue could be seen, best first, judged from the captions.

        Captions that do not fit one prompt are searched piece by piece, side by side; then the captions of the
        windows found are searched once more together, so that pieces compete with each other.

        Args:
            clue: What to look for.
            timeline: All captions; windows are cut to its duration.
            settings: For the budget and the number of windows.

        Returns:
            At most `settings.windows` windows; none if the captions hold nothing of use.

        Raises:
            StepFailed: If no piece could be searched.
        """

        def read(prediction: dspy.Prediction) -> tuple[Window, ...]:
            return usable_windows("verifier.locate", prediction.windows, timeline.duration, settings.windows)

        def search(piece: Sequence[Line]) -> tuple[Window, ...]:
            return ask("verifier.locate", self.locate, read, captions=text_of(piece), clue=clue_text(clue))

        budget = caption_tokens("verifier.locate", self.locate, settings)
        pieces = in_pieces(timeline.lines, budget)
        while True:
            found = each_piece(search, pieces, settings.workers)
            if len(pieces) == len(found) == 1:
                return found[0]
            candidates = [window for windows in found for window in windows]
            inside = [c for c in timeline.captions if any(w.start <= c.time <= w.end for w in candidates)]
            smaller = in_pieces(captions_lines(inside), budget)
            if not inside or len(smaller) >= len(pieces):
                # Best of each piece in turn: every part of the video gets its say before any gets a second one.
                ranked = [w for rank in range(settings.windows) for ws in found for w in ws[rank : rank + 1]]
                return tuple(ranked[: settings.windows])
            pieces = smaller

    def collect(
        self,
        windows: Sequence[Window],
        clue: Clue,
        timeline: Timeline,
        video: Video | None,
        settings: LoopSettings,
    ) -> tuple[Evidence, ...]:
        """Look at the windows side by side; see `look_at`.

        Args:
            windows: Where to look.
            clue: What to look for.
            timeline: The captions of the video.
            video: None when there are only captions.
            settings: For the number of frames and workers.

        Returns:
            One piece of evidence for every window that showed anything.
        """
        return look_at(
            "verifier.look",
            self.look,
            windows,
            clue,
            timeline,
            video,
            frames=settings.frames,
            workers=settings.workers,
        )

    def verify(
        self,
        question: Question,
        clue: Clue,
        hypotheses: Sequence[Hypothesis],
        evidence: Sequence[Evidence],
        duration: float,
        settings: LoopSettings,
    ) -> Checked:
        """Check the hypotheses against all evidence so far.

        Returns:
            Status, rationale, a verdict for each hypothesis, and with PARTIAL the windows that are still wanted:
            those that a look would show something new in.

        Raises:
            StepFailed: If no usable check came.
        """
        tested = {h.option_index for h in hypotheses}
        looked = [e.window for e in evidence]

        def read(prediction: dspy.Prediction) -> Checked:
            rationale = tidy(prediction.rationale)
            if not rationale:
                raise Unusable("the rationale is empty")
            status = Status(prediction.status)
            wanted: tuple[Window, ...] = ()
            if status is Status.PARTIAL:
                spans = usable_windows("verifier.check", prediction.wanted, duration, settings.windows)
                wanted = tuple(w for w in spans if not any(seen(w, earlier) for earlier in looked))
            verdicts = read_verdicts(prediction.verdicts, question)
            return Checked(
                status=status,
                rationale=rationale,
                verdicts=tuple(v for v in verdicts if v.option_index in tested),
                wanted=wanted,
            )

        return ask(
            "verifier.check",
            self.check,
            read,
            clue=clue_text(clue),
            hypotheses=hypotheses_text(hypotheses, question),
            evidence=evidence_text(evidence),
            video_seconds=round(duration, 1),
        )
