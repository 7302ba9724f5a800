"""Captions that do not fit one prompt: how much does, where to cut, and one call for each piece."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

import dspy

from videohv.lm import context_tokens
from videohv.lm.roles import lm_for
from videohv.modules.failures import StepFailed, TooLong
from videohv.modules.parallel import side_by_side
from videohv.modules.recorder import current
from videohv.modules.render import Line
from videohv.modules.settings import MethodSettings

T = TypeVar("T")

CHARS_A_TOKEN = 3.0
"""Characters a token, taken low: measured 3.6 to 4.6 on English captions with the tokenisers of current models."""

UNKNOWN_CONTEXT = 32_768
"""Tokens assumed for a model that does not tell its context length."""

RESERVED = 3_000
"""Tokens kept for instructions, demonstrations, the question and the reply."""

SHORTEST_LINE = 100
"""Characters below which a line is not cut."""


def caption_tokens(step: str, predictor: dspy.Predict, settings: MethodSettings) -> int:
    """Tokens of captions that one prompt of this step, made by this predictor, may hold."""
    if settings.caption_tokens is not None:
        return settings.caption_tokens
    lm = lm_for(step, predictor.lm)
    context = (context_tokens(lm) if lm is not None else None) or UNKNOWN_CONTEXT
    demos = sum(len(str(demo)) for demo in predictor.demos) / CHARS_A_TOKEN
    return max(500, int(context - RESERVED - demos))


def in_pieces(lines: Sequence[Line], tokens: int, at_least: int = 1) -> list[list[Line]]:
    """The lines in pieces of about equal length, each within the tokens; a line is never cut in two.

    Args:
        lines: At least one.
        tokens: That one piece may hold.
        at_least: Pieces that are wanted even if fewer would do. There are never more than lines.
    """
    limit = tokens * CHARS_A_TOKEN
    total = sum(len(line.text) + 1 for line in lines)
    goal = total / max(1, at_least, -(-total // int(limit)))
    pieces: list[list[Line]] = [[]]
    size = 0.0
    for line in lines:
        if pieces[-1] and (size + len(line.text) + 1 > limit or size >= goal):
            pieces.append([])
            size = 0.0
        pieces[-1].append(line)
        size += len(line.text) + 1
    return pieces


def text_of(piece: Sequence[Line]) -> str:
    """A piece as a prompt shows it."""
    return "\n".join(line.text for line in piece)


def each_piece(call: Callable[[Sequence[Line]], T], pieces: Sequence[Sequence[Line]], workers: int) -> list[T]:
    """Call for every piece side by side and return what came, in order; a failed piece is recorded as degraded.

    A piece that turns out to be too long for the model is called in halves, so there may be more results than pieces.

    Raises:
        StepFailed: If every piece failed, or no later call could succeed either.
    """

    def attempt(piece: Sequence[Line]) -> list[T | StepFailed]:
        try:
            return [call(piece)]
        except TooLong as failure:
            halves = _halves(piece)
            if not halves:
                return [failure]
            if recorder := current():
                recorder.warn(f"{failure.step}: captions did not fit the model and were given in smaller pieces")
            return [result for half in halves for result in attempt(half)]
        except StepFailed as failure:
            if failure.hopeless:
                raise
            return [failure]

    results = [result for results in side_by_side(attempt, pieces, workers) for result in results]
    failures = [result for result in results if isinstance(result, StepFailed)]
    if len(failures) == len(results):
        raise failures[0]
    if recorder := current():
        for failure in failures:
            recorder.degrade(failure.step, f"one of {len(results)} pieces of the captions is missing: {failure.why}")
    return [result for result in results if not isinstance(result, StepFailed)]


def _halves(piece: Sequence[Line]) -> list[list[Line]]:
    """The piece in two, a single line cut short instead; nothing if it is as short as can be."""
    if len(piece) > 1:
        middle = len(piece) // 2
        return [list(piece[:middle]), list(piece[middle:])]
    (line,) = piece
    return [[line._replace(text=line.text[: len(line.text) // 2])]] if len(line.text) > 2 * SHORTEST_LINE else []
