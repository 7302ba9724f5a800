"""What the models say of the sample clip in the pictures of `docs.screenshots`: written here, true to what it shows."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable
from typing import Any

from tests.support.benchmark import seen
from tests.support.engine import Seen, letters
from tests.support.server import Request

QUESTION = "What does the bunny do first after it has come out of its burrow?"
OPTIONS = (
    "It runs after a butterfly",
    "It stretches its arms and yawns",
    "It eats an apple",
    "It turns around and goes back to sleep",
)
HYPOTHESES = (
    "Outside the burrow the bunny moves across the meadow behind a butterfly.",
    "The bunny stands upright before the burrow with both arms spread and its mouth wide open.",
    "The bunny holds an apple to its mouth in front of the burrow.",
    "After a look outside, the bunny is in the dark of the burrow again with its head down.",
)
PREDICTIONS = ("running, arms swinging", "spread wide, empty", "holding an apple", "tucked in, inside the burrow")
SHOWN = (
    (0, "a black screen"),
    (1, "pink clouds over a green meadow with trees"),
    (4, "a meadow; the words “The Blender Foundation and Peach Project presents”"),
    (6, "a meadow with the title “Big Buck Bunny”"),
    (10, "a black screen"),
    (11, "a plump bird stands on a branch; the words “An unlucky bird”"),
    (14, "a black screen"),
    (15, "the bunny sleeps curled up in the dark of its burrow"),
    (17, "the bunny begins to stir in its burrow; the words “A (slightly overweight) bunny”"),
    (21, "the bunny lifts its head in the burrow, eyes half closed"),
    (23, "the bunny looks out of its burrow"),
    (24, "the bunny sits in the opening of the burrow, wide awake, ears up"),
    (25, "the bunny squeezes out of the burrow on its hands, head down"),
    (26, "the bunny is out of the burrow and pushes itself up"),
    (27, "the bunny stands upright, both arms stretched up and out, eyes closed"),
    (28, "the bunny stands with both arms spread wide and its mouth wide open: it yawns"),
    (29, "the bunny lowers one arm and lifts the other hand to its head"),
    (30, "the bunny rubs its eyes with one hand, its hands are empty"),
    (31, "the bunny stands before the burrow, arms down, and smiles"),
    (32, "a black screen"),
    (33, "three rodents beside a tree, one close to the camera; the words “And three rodent pests”"),
    (36, "a meadow with two trees"),
    (37, "the bunny walks across the meadow"),
    (38, "the bunny leans against a tree and holds its head"),
    (42, "three rodents stand under a tree, far away"),
    (44, "the bunny turns and stares into the camera"),
    (47, "the picture fades to brown"),
    (48, "the bunny's face close up, eyes narrowed; the words “Revenge is coming…”"),
    (52, "a black screen"),
    (53, "the words “Made with MoviePy”"),
)
SUMMARIES = (
    (0, "A meadow and, at 6 s, the title; a bird on a branch at 11 s. The bunny sleeps at 15 s and looks out at 23 s."),
    (24, "The bunny leaves its burrow at 25 s and is in front of it from 26 s to 31 s."),
    (32, "Three rodents by a tree at 33 s, the bunny at a tree from 38 s, “Revenge is coming…” at 48 s."),
)
"""By the second from which they hold."""


class Film:
    """The models: what they would say of the clip, held up at a step if that is wanted."""

    def __init__(self) -> None:
        self.hold = ""
        self.go_on = threading.Event()

    def __call__(self, request: Request) -> str:
        """The reply to a request."""
        what = seen(request)
        if what.role == self.hold:
            self.go_on.wait(60)
        return json.dumps(_REPLIES[what.role](what))


def _sights(what: Seen, name: str) -> dict[str, Any]:
    times = [float(part.strip().removesuffix("s").strip()) for part in what.inputs["times"].split(",")]
    shown = [max((at, text) for at, text in SHOWN if at <= time + 0.02)[1] for time in times]
    return {name: [{"time": time, "seen": text} for time, text in zip(times, shown, strict=True)]}


def _summary(what: Seen) -> dict[str, Any]:
    first = float(re.findall(r"\[([\d.]+)", what.inputs["captions"])[0])
    return {"summary": max((at, text) for at, text in SUMMARIES if at <= first)[1]}


def _pairs(what: Seen, name: str, texts: tuple[str, ...], **more: Any) -> list[dict[str, Any]]:
    return [{"option": letter, name: text, **more} for letter, text in zip("ABCD", texts, strict=True)]


def _verdicts(*said: tuple[str, str]) -> list[dict[str, str]]:
    return [{"option": letter, "why": why, "support": how} for letter, (how, why) in zip("ABCD", said, strict=True)]


def _check(what: Seen) -> dict[str, Any]:
    if "yawns" not in what.inputs["evidence"]:
        return {
            "rationale": "From 15 s to 24 s the bunny sleeps, wakes and looks out, but it is still inside the burrow. "
            "What it does with its arms outside is not seen yet.",
            "verdicts": _verdicts(
                *[("unclear", "nothing outside the burrow was seen")] * 3,
                ("refuted", "at 24 s it is awake and on its way out"),
            ),
            "status": "PARTIAL",
            "wanted": [{"start": 25, "end": 31}],
        }
    return {
        "rationale": "At 27 s the bunny stands before the burrow with both arms stretched, at 28 s its mouth is wide "
        "open, and at 30 s it rubs its eyes. No butterfly and no apple are in any frame from 25 s to 31 s.",
        "verdicts": _verdicts(
            ("refuted", "it stays in front of the burrow, and no butterfly is seen"),
            ("supported", "both arms are spread at 27 s and 28 s, the mouth is wide open at 28 s"),
            ("refuted", "its hands are empty at 28 s and 30 s"),
            ("refuted", "at 31 s it still stands outside, awake"),
        ),
        "status": "VERIFIED",
        "wanted": [],
    }


_REPLIES: dict[str, Callable[[Seen], dict[str, Any]]] = {
    "captioner": lambda what: _sights(what, "captions"),
    "look": lambda what: _sights(what, "sights"),
    "summary": _summary,
    "thinker": lambda what: {"hypotheses": _pairs(what, "statement", HYPOTHESES, plausibility=0.4)},
    "judge": lambda what: {
        "comparison": "All of them show the bunny near its burrow; they differ in what its arms and hands do.",
        "clue": "What the bunny's arms and hands do in the first seconds in front of the burrow",
        "predictions": _pairs(what, "expectation", PREDICTIONS),
        "quality": "DISTINCT",
    },
    "locate": lambda what: {"windows": [{"start": 15, "end": 24}]},
    "check": _check,
    "answer": lambda what: {
        "verdicts": [
            {"option": o, "why": "as checked", "support": "supported" if o == "B" else "refuted"} for o in letters(what)
        ],
        "conflicts": [],
        "reasoning": "The bunny gets up in front of the burrow, spreads both arms at 27 s and yawns at 28 s, before it "
        "does anything else.",
        "answer": "B",
        "confidence": 0.93,
    },
}
