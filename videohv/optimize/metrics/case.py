"""One answered question beside what is known to be right: what metrics and feedback are made from."""

from __future__ import annotations

from typing import NamedTuple

from videohv.errors import InputError
from videohv.modules.ask import plain
from videohv.types import Check, Hypothesis, Outcome, Question, Support, Trace, letter

SHOWN = 160
"""Characters of an option, a reason or a critique that feedback repeats."""


class Case(NamedTuple):
    """A trace with its right options.

    Args:
        question: With the right option and the annotated spans.
        trace: How it was answered; its question may show the options in another order.
        right: Places of the right option, and of those with the same text, as the trace shows them.
    """

    question: Question
    trace: Trace
    right: frozenset[int]

    @classmethod
    def of(cls, question: Question, trace: Trace) -> Case:
        """Find the right options by their text.

        Raises:
            InputError: The question has no right option, or the trace is of another question.
        """
        if question.answer_index is None:
            raise InputError(f"question {question.id!r}: its right option is not known, so nothing can be scored")
        wanted = _folded(question.options[question.answer_index])
        right = frozenset(i for i, option in enumerate(trace.question.options) if _folded(option) == wanted)
        if not right:
            raise InputError(
                f"question {question.id!r}: the trace is of another question; its options lack the right one"
            )
        return cls(question, trace, right)

    @property
    def chosen(self) -> int | None:
        """The answered option as it was shown; None without an answer."""
        answer = self.trace.answer
        return answer.option_index if answer is not None and self.trace.outcome is Outcome.ANSWERED else None

    @property
    def is_right(self) -> bool:
        """Whether it was answered, and rightly."""
        return self.chosen in self.right

    @property
    def failed(self) -> bool:
        """Whether it ended neither in an answer nor in declining one."""
        return self.trace.outcome not in (Outcome.ANSWERED, Outcome.ABSTAINED)

    @property
    def hypotheses(self) -> tuple[Hypothesis, ...]:
        """Those that were tested last."""
        return self.trace.rounds[-1].hypotheses if self.trace.rounds else ()

    @property
    def check(self) -> Check | None:
        """The last one."""
        checks = [look.check for round_ in self.trace.rounds for look in round_.looks if look.check is not None]
        return checks[-1] if checks else None

    def same(self, index: int) -> frozenset[int]:
        """The places of an option and of those with the same text."""
        options = self.trace.question.options
        return frozenset(i for i, option in enumerate(options) if _folded(option) == _folded(options[index]))

    def named(self, index: int) -> str:
        """An option with its letter, as feedback speaks of it."""
        return f'{letter(index)} ("{brief(self.trace.question.options[index])}")'

    @property
    def answer(self) -> str:
        """The right option, likewise."""
        return self.named(min(self.right))


def support(check: Check | None, options: frozenset[int]) -> Support | None:
    """How a check stands to an option (and those with the same text); None where it has no verdict on it.

    Supported if any of them is, else refuted if any of them is.
    """
    found = {v.support for v in check.verdicts if v.option_index in options} if check is not None else set()
    return next((kind for kind in (Support.SUPPORTED, Support.REFUTED, Support.UNCLEAR) if kind in found), None)


def supported(check: Check | None) -> frozenset[int]:
    """The options that a check supports."""
    if check is None:
        return frozenset()
    return frozenset(v.option_index for v in check.verdicts if v.support is Support.SUPPORTED)


def brief(text: str, most: int = SHOWN) -> str:
    """Text on one line, cut at a word, in which nothing can pose as an image or a field of a prompt."""
    line = " ".join(plain(text).split())
    return line if len(line) <= most else f"{line[:most].rsplit(' ', 1)[0]} …"


def _folded(text: str) -> str:
    # As `Question.duplicates` compares options.
    return " ".join(text.lower().split())
