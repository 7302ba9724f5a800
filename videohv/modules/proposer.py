"""Proposer: options for a question that came without, made from what is known of the video before anybody looks.

Not of the paper, which takes the options as given. The proposer is no agent of a program: a program that was compiled
keeps its agents whether its questions have options or not.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import islice
from typing import TypeVar

import dspy

from videohv import signatures
from videohv.lm.roles import declare_role, lm_for, looks
from videohv.modules.ask import TooLong, Unusable, ask
from videohv.modules.pieces import caption_tokens, in_pieces, text_of
from videohv.modules.recorder import EventKind, Recorder
from videohv.modules.render import MOST_ITEMS, summary_text, tidy
from videohv.modules.settings import MethodSettings
from videohv.modules.summary import Summary
from videohv.modules.thinker import STEP as THINKER
from videohv.modules.thinker import Thinker
from videohv.modules.timeline import Timeline
from videohv.types import MAX_OPTIONS, Question, letter

Part = TypeVar("Part", bound=dspy.Module)

STEP = declare_role("options")
MOST, LEAST = 5, 2
LONGEST = 300
"""Characters of a proposed option; what is longer tells a story and is cut."""

_MARK = re.compile(r"\(?([A-Za-z]|\d{1,2})[.):]+ (?=\S)", re.ASCII)


class Proposer(dspy.Module):
    """Proposes the options of an open question.

    Args:
        lm: The model that is asked; None is the one for the role `options`, or else the general one.
    """

    def __init__(self, lm: dspy.BaseLM | None = None) -> None:
        super().__init__()
        self.predict = dspy.Predict(signatures.ProposeOptions)
        self.predict.lm = lm

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
        options = ask(STEP, self.predict, lambda p: _read(p.options), captions=known, question=question.text)
        return question.model_copy(update={"options": options, "proposed": True})


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
    thinker, summary = _part(agents, "thinker", Thinker), _part(agents, "summary", Summary)
    proposer = Proposer(lm_for(STEP, given=_model_of(agents, thinker)))
    pieces = in_pieces(timeline.lines, caption_tokens(STEP, proposer.predict, settings))
    asked = recorder.question
    if summary is None:
        # What fits is taken from the whole length.
        recorder.question = proposer(asked, text_of(timeline.lines[:: len(pieces)]))
    elif thinker is None and len(pieces) == 1:
        try:
            recorder.question = proposer(asked, text_of(pieces[0]))
        except TooLong as failure:
            recorder.warn(f"options are proposed from the summary, since the captions do not fit after all: {failure}")
    if summary is not None and recorder.question is asked:
        recorder.summary = summary(timeline, asked, settings)
        recorder.emit(EventKind.SUMMARY, recorder.summary)
        recorder.question = proposer(asked, summary_text(recorder.summary))
    recorder.emit(EventKind.OPTIONS, recorder.question)


def _part(agents: dspy.Module, name: str, kind: type[Part]) -> Part | None:
    part = getattr(agents, name, None)
    return part if isinstance(part, kind) else None


def _model_of(agents: dspy.Module, thinker: Thinker | None) -> dspy.BaseLM | None:
    """The Thinker's model, or else the general one; where there is none, that of the first agent that reads."""
    if thinker is not None:
        return lm_for(THINKER, thinker.predict.lm)
    own = (predictor.lm for name, predictor in agents.named_predictors() if not looks(name.removesuffix(".predict")))
    return dspy.settings.lm or next((lm for lm in own if lm is not None), None)


def _read(proposed: Iterable[str]) -> tuple[str, ...]:
    texts = [text for one in islice(proposed, MOST_ITEMS) if (text := tidy(str(one)))]
    different: dict[str, str] = {}
    for text in (text[:LONGEST].strip() for text in _unmarked(texts)):
        different.setdefault(text.casefold().strip(" ."), text)
    different.pop("", None)
    if len(different) < LEAST:
        raise Unusable(f"{len(different)} different options were proposed; at least {LEAST} are needed")
    return tuple(different.values())[:MOST]


def _unmarked(texts: list[str]) -> list[str]:
    """The texts without the letters or numbers that they were not to have, if they have them in order."""
    found = [match for text in texts if (match := _MARK.match(text))]
    marks = [match[1].upper() for match in found]
    if len(found) != len(texts) or len(texts) > MAX_OPTIONS:
        return texts
    if marks not in ([letter(i) for i in range(len(texts))], [str(i + 1) for i in range(len(texts))]):
        return texts
    return [text[match.end() :] for text, match in zip(texts, found, strict=True)]
