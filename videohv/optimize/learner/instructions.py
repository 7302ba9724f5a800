"""Which instructions are fit to be tried: what models write when they are asked for one is not always one."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from videohv.modules.ask import plain
from videohv.modules.program import VideoProgram
from videohv.optimize.learner.student import Student

LEAST, MOST = 20, 6_000
"""Characters of an instruction."""

_FEWEST_WORDS = 4
_LETTERS = 0.5
_DISTINCT = 0.15
_LONG = 80
_WORD = re.compile(r"[^\W\d_]+")
_FENCE = re.compile(r"\A```\w*\n(.*)\n```\Z", re.DOTALL)


def cleaned(text: str) -> str:
    """A proposal without the quotes or the fence that a model put around it."""
    text = text.strip()
    fenced = _FENCE.match(text)
    return (fenced.group(1) if fenced else text).strip().strip('"').strip()


def usable(text: str) -> bool:
    """Whether a text can be an instruction at all.

    It is 20 to 6,000 characters long; holds none of DSPy's markers, which would break up a prompt; is of words, at
    least four different ones, and half of it of letters; and does not say the same few words over and over.
    """
    words = [word.casefold() for word in _WORD.findall(text)]
    letters = sum(map(len, words))
    seen = sum(not c.isspace() for c in text)
    return (
        LEAST <= len(text) <= MOST
        and " ".join(plain(text).split()) == " ".join(text.split())
        and len(set(words)) >= _FEWEST_WORDS
        and letters >= _LETTERS * seen
        and (len(words) < _LONG or len(set(words)) >= _DISTINCT * len(words))
    )


def or_old(proposed: object, old: str) -> str:
    """The proposal, cleaned; the old instruction where it can be none."""
    text = cleaned(proposed) if isinstance(proposed, str) else ""
    return text if usable(text) else old


def instructions_of(program: Any) -> dict[str, str]:
    """The instruction of each agent, by its name."""
    return {name: predictor.signature.instructions for name, predictor in program.named_predictors()}


def given_back(student: Student, seed: VideoProgram, roles: Iterable[str]) -> VideoProgram:
    """The student's program, in which nothing but instructions and demonstrations of the roles is new.

    Args:
        student: As an optimizer left it.
        seed: What it began with. An instruction that cannot be one is its own again, and so is all else that a
            signature says (COPRO changes the name of the last field).
        roles: Agents that may be changed.
    """
    made = student.give_back()
    before = dict(seed.named_predictors())
    for name, predictor in made.named_predictors():
        signature = before[name].signature
        told = predictor.signature.instructions if name in set(roles) else signature.instructions
        # An instruction that was there before is not for this module to judge.
        told = told if told == signature.instructions else or_old(told, signature.instructions)
        predictor.signature = signature.with_instructions(told)
    return made
