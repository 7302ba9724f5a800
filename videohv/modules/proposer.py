"""Proposer: options for a question that came without, made from what is known of the video before anybody looks.

Not of the paper, which takes the options as given. The proposer is no agent of a program: a program that was compiled
keeps its agents whether its questions have options or not.
"""

from __future__ import annotations

from collections.abc import Iterable

import dspy

from videohv import signatures
from videohv.lm.roles import declare_role, lm_for
from videohv.modules.ask import Unusable, ask
from videohv.modules.pieces import caption_tokens, in_pieces, text_of
from videohv.modules.recorder import EventKind, Recorder
from videohv.modules.render import summary_text, tidy
from videohv.modules.settings import MethodSettings
from videohv.modules.thinker import STEP as THINKER
from videohv.modules.timeline import Timeline
from videohv.types import Question

STEP = declare_role("options")
MOST, LEAST = 5, 2
LONGEST = 300
"""Characters of a proposed option; what is longer tells a story and is cut."""


class Proposer(dspy.Module):
    """Proposes the options of an open question.

    Args:
        like: The agent whose model is asked where none is chosen for the role `options`, with its role; None is the
            general one.
    """

    def __init__(self, like: tuple[str, dspy.Predict] | None = None) -> None:
        super().__init__()
        self.predict = dspy.Predict(signatures.ProposeOptions)
        self._like = like

    def forward(self, question: Question, known: str) -> Question:
        """Propose.

        Args:
            question: Without options.
            known: Of the video: captions or their summary, one line a moment or stretch.

        Returns:
            The same question with 2 to 5 options, marked as proposed.

        Raises:
            StepFailed: If no reply had two different options.
        """
        role, predictor = self._like or (STEP, self.predict)
        options = ask(
            STEP,
            self.predict,
            lambda p: _read(p.options),
            lm=lm_for(role, predictor.lm),
            captions=known,
            question=question.text,
        )
        return question.model_copy(update={"options": options})


def _read(proposed: Iterable[str]) -> tuple[str, ...]:
    different: dict[str, str] = {}
    for one in proposed:
        text = tidy(str(one))[:LONGEST].strip()
        if text:
            different.setdefault(text.casefold(), text)
    if len(different) < LEAST:
        raise Unusable(f"{len(different)} different options were proposed; at least {LEAST} are needed")
    return tuple(different.values())[:MOST]


def propose(recorder: Recorder, timeline: Timeline, settings: MethodSettings, agents: dspy.Module) -> None:
    """Give the open question of a recorder its options.

    Args:
        recorder: Of the question. A summary that is made on the way is recorded, for the program to go on with.
        timeline: The captions.
        settings: Of the program.
        agents: The program. If it has a Thinker, that one's model is asked, and the options come from the summary,
            which is all that it reasons from; else from the captions as far as they fit.

    Raises:
        StepFailed: If summary or options failed for good.
    """
    thinker, summary = getattr(agents, "thinker", None), getattr(agents, "summary", None)
    proposer = Proposer((THINKER, thinker.predict) if thinker is not None else None)
    pieces = in_pieces(timeline.lines, caption_tokens(STEP, proposer.predict, settings))
    if summary is not None and (thinker is not None or len(pieces) > 1):
        recorder.summary = summary(timeline, recorder.question, settings)
        recorder.emit(EventKind.SUMMARY, recorder.summary)
        known = summary_text(recorder.summary)
    else:
        # Where nothing makes a summary, what fits is taken from the whole length.
        known = text_of(timeline.lines[:: len(pieces)])
    recorder.question = proposer(recorder.question, known)
    recorder.emit(EventKind.OPTIONS, recorder.question)
