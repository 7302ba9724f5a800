"""Retrieve what seems relevant until sure, in the way of VideoAgent (arXiv 2403.10517)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, NamedTuple

import dspy
from pydantic import Field

from videohv import signatures
from videohv.lm.roles import declare_role
from videohv.modules.answer import read_choice
from videohv.modules.ask import Unusable, ask
from videohv.modules.attempt import attempt
from videohv.modules.looking import look_at, spread, usable_windows
from videohv.modules.methods import method
from videohv.modules.program import VideoProgram
from videohv.modules.recorder import Recorder
from videohv.modules.render import Line, options_text, seen, tidy
from videohv.modules.settings import MAX_FRAMES_A_LOOK, MethodSettings
from videohv.modules.timeline import Timeline
from videohv.signatures.retrieval import MOST_CERTAIN
from videohv.types import Answer, Clue, Draft, Evidence, Mode, Observation, Question, Source, Window, letter
from videohv.video import Video

ANSWER, SEEK = declare_role("retrieval.answer"), declare_role("retrieval.seek")
LOOK = declare_role("retrieval.look", looks=True)


class RetrievalSettings(MethodSettings):
    """Settings of `Retrieval`.

    Args:
        rounds: Answers at most; between two of them more is retrieved (3 in the paper).
        first: Captions at even distances that the first answer is made from (5 in the paper for three minutes).
        windows: Windows retrieved in a round at most; they are looked at side by side.
        frames: Frames a window, at most 5.
    """

    rounds: int = Field(default=3, ge=1, le=20)
    first: int = Field(default=5, ge=1, le=100)
    windows: int = Field(default=3, ge=1, le=20)
    frames: int = Field(default=MAX_FRAMES_A_LOOK, ge=1, le=MAX_FRAMES_A_LOOK)


class Guess(NamedTuple):
    """An answer from what was seen so far; certainty is 1 to 3, or 0 if the model's was unreadable."""

    answer: Answer
    certainty: int


class Sought(NamedTuple):
    """What is missing, and where it could be seen, best first."""

    missing: Clue
    windows: tuple[Window, ...]


class Retriever(dspy.Module):
    """Answers, says what is missing, and looks; each of the three is a predictor of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.answer = dspy.Predict(signatures.AnswerFromMoments)
        self.seek = dspy.Predict(signatures.Seek)
        self.look = dspy.Predict(signatures.Look)

    def guess(
        self, question: Question, evidence: Sequence[Evidence], duration: float, may_abstain: bool = False
    ) -> Guess:
        """Answer from what was seen so far.

        Args:
            question: With its options.
            evidence: All that was seen.
            duration: Of the video, in seconds.
            may_abstain: Whether declining is a permitted answer.

        Returns:
            The answer, its confidence being the certainty over 3.

        Raises:
            StepFailed: If no reply named an option.
        """

        def read(prediction: dspy.Prediction) -> Guess:
            certainty = int(prediction.certainty)
            answer = Answer(
                option_index=read_choice(prediction.answer, question, may_abstain),
                confidence=round(certainty / MOST_CERTAIN, 3) if certainty else None,
                reasoning=tidy(prediction.reasoning),
            )
            return Guess(answer, certainty)

        return ask(
            ANSWER,
            self.answer,
            read,
            question=question.text,
            options=options_text(question),
            seen=moments_text(evidence),
            video_seconds=round(duration, 1),
            may_abstain=may_abstain,
        )

    def sought(
        self, question: Question, evidence: Sequence[Evidence], guess: Guess, duration: float, limit: int
    ) -> Sought:
        """What is missing and where to look for it.

        Args:
            question: With its options.
            evidence: All that was seen.
            guess: What was made of it.
            duration: Of the video, in seconds.
            limit: Windows at most.

        Raises:
            StepFailed: If nothing was named.
        """

        def read(prediction: dspy.Prediction) -> Sought:
            if not (missing := tidy(prediction.missing)):
                raise Unusable("what is missing is empty")
            windows = usable_windows(SEEK, prediction.windows, duration, limit)
            return Sought(Clue(observation=missing), windows)

        return ask(
            SEEK,
            self.seek,
            read,
            question=question.text,
            options=options_text(question),
            seen=moments_text(evidence),
            video_seconds=round(duration, 1),
            thought=guess.answer.reasoning or "none",
        )


@method("retrieval")
class Retrieval(VideoProgram):
    """Answers from a few captions, and retrieves more of what seems relevant while it is not sure.

    Of each further round, the trace holds in its draft what was missing (as the clue) and what had been answered
    before (as the critique), then the look and its evidence; there is no check and so no status. When looking for more
    fails, or nothing new is wanted, the answer made before stands. Its settings are `RetrievalSettings`.

    The paper retrieves frames by the similarity of CLIP embeddings within a segment. Here windows are named by their
    seconds and seen by the same means as in `VideoHV`, so that a comparison is one of the methods.
    """

    settings_type: ClassVar[type[MethodSettings]] = RetrievalSettings

    settings: RetrievalSettings

    def __init__(self, settings: MethodSettings | None = None, **options: Any) -> None:
        super().__init__(settings, **options)
        self.retrieval = Retriever()

    def reason(self, recorder: Recorder, timeline: Timeline, video: Video | None) -> Answer:
        """Answer, and while that is not sure: seek, look, answer again."""
        question, settings = recorder.question, self.settings

        def guess() -> Guess:
            return self.retrieval.guess(question, recorder.evidence, timeline.duration, settings.may_abstain)

        recorder.begin_round()
        recorder.begin_look((Window(start=0.0, end=timeline.duration),))
        recorder.add_evidence((first_captions(timeline, settings.first),))
        standing = guess()
        while standing.certainty < MOST_CERTAIN and len(recorder.rounds) < settings.rounds:
            if not self._retrieve(standing, recorder, timeline, video):
                break
            again = attempt(recorder, guess)
            if again is None:
                break
            standing = again
        return standing.answer

    def _retrieve(self, standing: Guess, recorder: Recorder, timeline: Timeline, video: Video | None) -> bool:
        """Open a round with more evidence; False if nothing new is wanted."""
        settings, end = self.settings, timeline.duration
        question, evidence = recorder.question, recorder.evidence
        sought = attempt(recorder, lambda: self.retrieval.sought(question, evidence, standing, end, settings.windows))
        windows = _unseen(sought.windows, recorder) if sought is not None else ()
        if sought is None or not windows:
            return False
        recorder.begin_round()
        recorder.add_draft(Draft(mode=Mode.INITIAL, hypotheses=(), clue=sought.missing, critique=_told(standing)))
        recorder.begin_look(windows)
        found = look_at(
            LOOK,
            self.retrieval.look,
            windows,
            sought.missing,
            timeline,
            video,
            frames=settings.frames,
            workers=settings.workers,
        )
        recorder.add_evidence(found)
        return True


def first_captions(timeline: Timeline, count: int) -> Evidence:
    """So many captions at even distances, as evidence of the whole video."""
    captions = {c.time: c for c in (timeline.nearest(time) for time in spread(timeline.duration, count))}
    return Evidence(
        window=Window(start=0.0, end=timeline.duration),
        times=tuple(captions),
        observations=tuple(Observation(time=c.time, text=c.text) for c in captions.values()),
        source=Source.CAPTIONS,
    )


def moments_text(evidence: Sequence[Evidence]) -> str:
    """All that was seen, one line a moment in the order of time, whenever it was retrieved."""
    moments = dict.fromkeys((o.time, o.text) for item in evidence for o in item.observations)
    return "\n".join(Line.of(time, time, text).text for time, text in sorted(moments))


def _unseen(windows: Sequence[Window], recorder: Recorder) -> tuple[Window, ...]:
    """The windows that no round has retrieved before; the first one saw the whole video, but only moments of it."""
    retrieved = [e.window for round_ in recorder.rounds[1:] for look in round_.looks for e in look.evidence]
    return tuple(w for w in windows if not any(seen(w, earlier) for earlier in retrieved))


def _told(guess: Guess) -> str:
    index = guess.answer.option_index
    sure = f"certainty {guess.certainty} of {MOST_CERTAIN}" if guess.certainty else "certainty unknown"
    return f"{letter(index) if index is not None else 'no answer'} so far, {sure}: {guess.answer.reasoning}"
