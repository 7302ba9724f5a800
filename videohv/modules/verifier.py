"""Verifier: where the clue could be seen, what is seen there, and what that makes of the hypotheses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import dspy

from videohv import signatures
from videohv.errors import MissingExtra, VideoError
from videohv.lm.roles import eyes
from videohv.modules.answer import read_verdicts
from videohv.modules.ask import StepFailed, Unusable, ask
from videohv.modules.observe import Sighting, captions_in, seen_in_frames, tags_in
from videohv.modules.parallel import side_by_side
from videohv.modules.pieces import caption_tokens, each_piece, in_pieces, text_of
from videohv.modules.recorder import current
from videohv.modules.render import (
    Line,
    captions_lines,
    clue_text,
    evidence_text,
    hypotheses_text,
    read_windows,
    seen,
    tidy,
)
from videohv.modules.settings import LoopSettings
from videohv.modules.timeline import Timeline
from videohv.signatures.fields import Span
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
            return _windows(prediction.windows, timeline.duration, settings.windows, "verifier.locate")

        def search(piece: Sequence[Line]) -> tuple[Window, ...]:
            return ask("verifier.locate", self.locate, read, captions=text_of(piece), clue=clue_text(clue))

        budget = caption_tokens(self.locate, settings)
        pieces = in_pieces(timeline.lines, budget)
        while True:
            found = each_piece(search, pieces, settings.workers)
            if len(pieces) == 1:
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
        """Look at the windows side by side.

        Frames go to the vision LM when there is one, at most five a call; without one, objects, text and light are
        detected in the same frames; without a video, or where its frames cannot be had, the captions of the window
        have to do, and the recorder says so.

        Args:
            windows: Where to look.
            clue: What to look for. What the hypotheses predict is kept from the looking model: it shall not find
                what it was told to expect.
            timeline: The captions of the video.
            video: None when there are only captions.
            settings: For the number of frames and workers.

        Returns:
            One piece of evidence for every window that showed anything.
        """
        lm = eyes(self.look.lm) if video is not None else None
        recorder = current()
        round_, number = recorder.position if recorder else (1, 1)

        def observe(window: Window) -> Sighting:
            try:
                if video is not None and lm is not None:
                    return seen_in_frames(self.look, lm, clue, video.window(window, settings.frames))
                if video is not None:
                    return tags_in(video.window(window, settings.frames))
            except StepFailed as failure:
                if failure.hopeless:
                    raise
                if recorder:
                    recorder.degrade(failure.step, f"captions of {window} used instead of frames: {failure.why}")
            except (VideoError, MissingExtra) as failure:
                if recorder:
                    recorder.degrade("verifier.look", f"captions of {window} used instead of frames: {failure}")
            return captions_in(window, timeline)

        if video is None and recorder:
            recorder.warn("no frames: the evidence consists of the captions of the windows")
        elif lm is None and recorder:
            recorder.warn("no vision model: the evidence consists of objects, text and light detected in the frames")
        # Captions are at hand; threads would only cost.
        looked = side_by_side(observe, windows, settings.workers if video is not None else 1)
        return tuple(
            Evidence(
                window=window,
                times=sighting.times,
                observations=sighting.observations,
                source=sighting.source,
                round=max(1, round_),
                look=max(1, number),
            )
            for window, sighting in zip(windows, looked, strict=True)
            if sighting.observations
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
                spans = _windows(prediction.wanted, duration, settings.windows, "verifier.check")
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


def _windows(spans: Iterable[Span], duration: float, limit: int, step: str) -> tuple[Window, ...]:
    spans = list(spans)
    windows = read_windows(spans, duration, limit)
    if spans and not windows and (recorder := current()):
        recorder.warn(f"{step}: none of the windows {[(s.start, s.end) for s in spans[:5]]} lies in the video")
    return windows
