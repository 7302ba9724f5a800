"""Question-conditioned summaries as a batch job: the replies go into DSPy's response cache, where the loop finds them.

The Summary step of each question is run as the loop runs it, on a wire: what the cache does not hold is sent. A reply
is kept by running the step again with it, so that DSPy itself stores it under the key of the live request. A program
that is asked the question afterwards, with the same model, settings and captions, gets its summary without a call. What
depends on other replies is left to that program: the fresh sample after a reply that could not be used, and the summary
of summaries of a video too long for one prompt.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress

import dspy

from videohv.batch.wire import Outgoing, Replies, Wire
from videohv.batch.work import Ending, Line, Reading, Request, Taken, Whole
from videohv.errors import Cancelled, InputError
from videohv.modules.ask import StepFailed
from videohv.modules.recorder import Event, EventKind, Recorder, recording
from videohv.modules.settings import SummarySettings
from videohv.modules.summary import Summary
from videohv.modules.timeline import Timeline
from videohv.types import Caption, Question

CaptionsOf = Callable[[Question], Sequence[Caption]]


class SummaryJob:
    """Summarises the captions of videos for questions.

    Args:
        questions: Taken one by one.
        captions_of: The captions of a question's video, in the order of time; the same ones whenever it is asked.
        module: Whose prompt and demonstrations to use.
        lm: The LM that the program will use for this step.
        settings: Of the program.

    Raises:
        InputError: The LM is not one that a batch can be made for, or its replies are not kept in a cache on disk.
    """

    def __init__(
        self,
        questions: Iterable[Question],
        captions_of: CaptionsOf,
        module: Summary,
        lm: dspy.LM,
        settings: SummarySettings | None = None,
    ) -> None:
        if not (lm.cache and dspy.cache.enable_disk_cache):
            raise InputError("summaries from a batch are kept in DSPy's response cache: it, or that of the LM, is off")
        self._questions, self._captions_of = questions, captions_of
        self._settings = settings or SummarySettings()
        self.problems: list[str] = []
        self.wire = Wire(lm, cache=True)
        self._module = module.deepcopy()
        self._module.set_lm(self.wire.lm)
        self.identity = f"summaries by {lm.model} from {self.wire.connection().base_url}"

    def fresh(self, taken: Taken) -> Iterator[Request | Whole]:
        """The requests of every question that the cache does not hold."""
        for question in self._questions:
            memo = question.model_dump_json()
            group = hashlib.sha256(memo.encode()).hexdigest()
            busy = taken.taken(group)
            for outgoing in self._unanswered(memo):
                if (item := _name(outgoing.body)) not in busy:
                    yield Request(Line(group=group, items=(item,), memo=memo), outgoing.body)

    def again(self, line: Line) -> Request | None:
        """The same request once more."""
        found = (outgoing.body for outgoing in self._unanswered(line.memo) if _name(outgoing.body) in line.items)
        body = next(found, None)
        return Request(line, body) if body is not None else None

    def read(self, line: Line, replies: Sequence[str]) -> Reading:
        """Put a reply into DSPy's cache."""
        self._unanswered(line.memo, lambda body: replies[-1] if _name(body) in line.items else None)
        return (
            Reading(Ending.STORED) if self.done(line) else Reading(Ending.LOST, "DSPy's cache did not keep the reply")
        )

    def finish(self, group: str, size: int) -> None:
        """Nothing is noted about whole questions."""

    def done(self, line: Line) -> bool:
        """Whether the cache holds the reply, or the request is not made any more because the captions are others."""
        return not any(_name(outgoing.body) in line.items for outgoing in self._unanswered(line.memo))

    def label(self, line: Line) -> str:
        """The question."""
        question = Question.model_validate_json(line.memo)
        return f"summary for {question.id or question.text}"

    def _unanswered(self, memo: str, replies: Replies = lambda body: None) -> list[Outgoing]:
        """Run the step for a question and return the requests for which neither the cache nor `replies` has a reply."""
        question = Question.model_validate_json(memo)
        captions = tuple(caption for caption in self._captions_of(question) if caption.text)
        if not captions:
            return []
        recorder = Recorder(question, self._settings, (_stop_where_a_piece_is_missing,))
        with self.wire.replying(replies), recording(recorder), suppress(StepFailed, Cancelled):
            self._module(Timeline(captions, captions[-1].time + 1.0), question, self._settings)
        return self.wire.sent


def _stop_where_a_piece_is_missing(event: Event) -> None:
    # What would be made of the others is not what will be made of all of them.
    if event.kind is EventKind.DEGRADED:
        raise Cancelled("a piece of the summary is missing")


def _name(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()
