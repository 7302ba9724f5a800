"""What a model that writes prompts is shown of examples and calls: text alone, and no more of it than it can read.

Frames are never sent to it: it may not see any, and a reflection over three questions would carry dozens. Text from
videos stays data: DSPy's markers in it are broken up.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import dspy
from pydantic import BaseModel

from videohv.lm.about import context_tokens
from videohv.lm.budget import CHARS_A_TOKEN
from videohv.modules.ask import plain
from videohv.types import Question, Trace, letter

T = TypeVar("T")

_SHARE = 0.5
_USUAL_CONTEXT = 16_000
_SHORTEST = 80
_ITEMS = 30


def room(lm: dspy.BaseLM) -> int:
    """Characters of examples that one prompt may hold: half of what the model can read, at most 8,000 tokens."""
    return int(min(context_tokens(lm) or _USUAL_CONTEXT, _USUAL_CONTEXT) * _SHARE * CHARS_A_TOKEN)


def fitted(value: T, characters: int) -> T:
    """The same as plain data, its longest texts cut so far that all of it has about so many characters.

    Args:
        value: Anything that DSPy keeps of a call: texts, numbers, shapes, images, in lists and dicts.
        characters: In all. No text is cut below 80.
    """
    simple = _plainly(value)
    lengths: list[int] = []
    _measure(simple, lengths)
    made: T = _cut(simple, max(_SHORTEST, _level(lengths, characters)))
    return made


def example_shown(example: dspy.Example) -> dspy.Example:
    """A question as text, with its right option as the label; neither captions nor videos."""
    question = example.question
    assert isinstance(question, Question)
    options = [f"{letter(i)}. {plain(option)}" for i, option in enumerate(question.options)]
    right = options[question.answer_index] if question.answer_index is not None else "unknown"
    return dspy.Example(question=plain(question.text), options=options, right_option=right).with_inputs(
        "question", "options"
    )


def prediction_shown(prediction: Any) -> dspy.Prediction:
    """How a question ended, without its trace."""
    trace = prediction.get("trace") if prediction is not None else None
    if not isinstance(trace, Trace):
        return dspy.Prediction(answer="none", outcome="the question could not be asked")
    index = trace.answer.option_index if trace.answer is not None else None
    answer = f"{letter(index)}. {plain(trace.question.options[index])}" if index is not None else "none"
    return dspy.Prediction(answer=answer, outcome=trace.outcome.value, status=trace.status or "unknown")


def _plainly(value: Any) -> Any:
    if isinstance(value, dspy.Image):
        return "(an image)"
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, BaseModel):
        return _plainly(value.model_dump(mode="json"))
    if isinstance(value, Mapping | dspy.Example):
        return {str(key): _plainly(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        if value and all(isinstance(item, dspy.Image) for item in value):
            return f"({len(value)} images)"
        return [_plainly(item) for item in value[:_ITEMS]]
    return value if isinstance(value, bool | int | float | None) else plain(str(value))


def _measure(value: Any, into: list[int]) -> None:
    if isinstance(value, str):
        into.append(len(value))
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            _measure(item, into)


def _level(lengths: list[int], characters: int) -> int:
    """The longest that texts may be so that all together are within the characters: what short ones leave is shared."""
    left = characters
    for place, length in enumerate(sorted(lengths)):
        share = left // (len(lengths) - place)
        if length > share:
            return share
        left -= length
    return max(lengths, default=0)


def _cut(value: Any, most: int) -> Any:
    if isinstance(value, str):
        return value if len(value) <= most else f"{value[: most - 2]} …"
    if isinstance(value, dict):
        return {key: _cut(item, most) for key, item in value.items()}
    return [_cut(item, most) for item in value] if isinstance(value, list) else value
