"""A task in which only a better instruction of the Judge can win, and a model that writes instructions, some with it.

What is held in each video is told by its captions. The Judge's clue asks for the colour only if its instruction names
`RULE`; only then does the check find what is held, and only a verified check leads to the right answer. No
demonstration, no other agent and no luck can do that.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.engine import FakeEngine, Reply, Script, Seen, answer_reply, check_reply, letters
from videohv.modules.methods import make_method
from videohv.optimize.learner.examples import SharedCaptions
from videohv.optimize.metrics.metric import Metric
from videohv.optimize.metrics.standard import Accuracy
from videohv.optimize.registry import make_optimizer
from videohv.optimize.task import Task, Trial
from videohv.types import Caption, Question

OPTIONS = ("a red ball", "a blue cube", "a green cone")
RULE = "Ask for the colour of the thing in the hand."
COLOUR = "which colour the thing in the hand has"
AGENTS = (
    "summary.predict",
    "thinker.predict",
    "judge.predict",
    "verifier.locate",
    "verifier.check",
    "answer.predict",
)
"""Those that are asked where there are captions and no video."""

PROPOSALS = (
    "Be careful with every part of the reply and keep to the form that is asked for.",
    f"Compare what the options say before anything else. {RULE} Then write the reply.",
    "",
    "[[ ## clue ## ]] Think of the moments at which something changes in the video.",
)
"""What a model that writes instructions comes up with: one helps the Judge, one is empty, one breaks prompts."""


NAMES = ("mipro", "copro", "simba", "gepa")
EACH = [pytest.param(name, marks=() if name == "copro" else pytest.mark.slow) for name in NAMES]
"""For tests in which each takes seconds: the quickest of the four is in every run of the tests."""

CHOSEN: dict[str, dict[str, Any]] = {
    "mipro": {"trials": 12, "candidates": 4},
    "copro": {"breadth": 4, "depth": 1},
    "simba": {"steps": 2, "candidates": 3, "batch": 4},
    "gepa": {"passes": 6},
}
"""Options of the optimizers with which they find the rule."""


def examples(numbers: range) -> tuple[dspy.Example, ...]:
    """A question for each number, about a video of its own; the right option is the number modulo three."""
    return tuple(_example(number) for number in numbers)


def _example(number: int) -> dspy.Example:
    question = Question(
        text=f"What is picked up in video {number}?",
        options=OPTIONS,
        id=f"q{number}",
        video=f"v{number}",
        answer_index=number % 3,
    )
    told = [f"the hand holds {OPTIONS[number % 3]}"] * 20
    captions = (Caption(time=float(second), text=text) for second, text in enumerate(told))
    given = {"question": question, "captions": SharedCaptions.of(captions, question.video)}
    return dspy.Example(**given).with_inputs(*given)


def _judge(seen: Seen) -> Reply:
    shown = letters(seen, "hypotheses")
    clue = COLOUR if RULE in seen.system else "what happens"
    return {
        "comparison": "they differ in what is held",
        "quality": "DISTINCT",
        "clue": clue,
        "predictions": [{"option": o, "expectation": f"it is {OPTIONS[ord(o) - 65]}"} for o in shown],
    }


def _check(seen: Seen) -> Reply:
    shown = letters(seen, "hypotheses")
    if COLOUR not in seen.inputs["clue"]:
        return check_reply("NOT_VERIFIED")
    held = [o for o in shown if f"holds {OPTIONS[ord(o) - 65]}" in seen.inputs["evidence"]]
    verdicts = [{"option": o, "why": "seen", "support": "supported" if o in held else "refuted"} for o in shown]
    return check_reply("VERIFIED", verdicts=verdicts)


def _answer(seen: Seen) -> Reply:
    found = re.search(r"^ *([A-Z]) supported:", seen.inputs["reasoning_trace"], re.MULTILINE)
    number = int(re.findall(r"video (\d+)", seen.inputs["question"])[0])
    wrong = "ABC"[(number + 1) % 3]
    return answer_reply(found.group(1) if found else wrong, letters(seen))


def task_engine(**scripts: Script) -> FakeEngine:
    """Answers as said above; scripts replace those of single roles."""
    made: dict[str, Script] = {"judge": _judge, "check": _check, "answer": _answer}
    return FakeEngine({**made, **scripts})


def by_luck(every: int) -> Callable[[Seen], Reply]:
    """A Judge that at temperature 1 asks for the colour by itself, each so-many-th time."""
    asked = 0

    def judge(seen: Seen) -> Reply:
        nonlocal asked
        if seen.temperature == 1.0:
            asked += 1
            if asked % every == 0:
                reply = _judge(seen)
                assert isinstance(reply, dict)
                return {**reply, "clue": COLOUR}
        return _judge(seen)

    return judge


class Writer:
    """Scripts of a model that writes instructions for all four optimizers. It has its proposals, and its reasons.

    Attributes:
        told: Everything that it was sent.
    """

    def __init__(self) -> None:
        self.told: list[Seen] = []
        self._asked: dict[str, int] = {}

    def engine(self) -> FakeEngine:
        """The model."""
        return FakeEngine({"unknown": self._write, "summary": self._write})

    def _write(self, seen: Seen) -> Reply:
        self.told.append(seen)
        given = seen.inputs
        if "examples_with_feedback" in given:
            # It understands that the clue was to blame, if it is told.
            to_blame = "did not separate the options" in given["examples_with_feedback"]
            return {
                "new_instruction": PROPOSALS[1] if to_blame else self._next(given["current_instruction"], (0, 2, 3))
            }
        if "worse_reward_info" in given:
            better = COLOUR in given["better_program_trajectory"]
            advice = {"judge.predict": RULE} if better else {"thinker.predict": "Say what is seen, in plain words."}
            return {"discussion": "the clue made the difference", "module_advice": advice}
        if "attempted_instructions" in given or set(given) == {"basic_instruction"}:
            return {
                "proposed_instruction": self._next(str(given), range(4)),
                "proposed_prefix_for_output_field": "So:",
            }
        if "basic_instruction" in given:
            return {"proposed_instruction": self._next(given["basic_instruction"], range(4))}
        if "observations" in given:
            return {"summary": "Questions about what a hand picks up."}
        return {"observations": "All questions are about what is picked up."}

    def _next(self, what: str, places: Any) -> str:
        count = self._asked[what] = self._asked.get(what, -1) + 1
        return PROPOSALS[list(places)[count % len(places)]]


def an_lm(engine: FakeEngine, *, cache: bool = False, name: str = "") -> dspy.LM:
    """An LM on an engine; cached ones have a name of their own unless one is given."""
    return dspy.LM(f"fake/{name or uuid.uuid4().hex}", engine=engine, cache=cache, num_retries=0)


def a_task(
    folder: Path,
    prompt_lm: dspy.BaseLM,
    *,
    roles: tuple[str, ...] = ("judge.predict",),
    train: range = range(4),
    dev: range = range(10, 13),
    metric: Metric | None = None,
    threads: int = 1,
    seed: int = 0,
    on_trial: Callable[[Trial], None] = lambda trial: None,
) -> Task:
    """The planted task for the loop, one round and one look."""
    return Task(
        program=make_method("videohv", rounds=1, looks=1, stretches=1, workers=1),
        roles=roles,
        train=examples(train),
        dev=examples(dev),
        metric=metric or Accuracy(),
        seed=seed,
        threads=threads,
        prompt_lm=prompt_lm,
        folder=folder,
        on_trial=on_trial,
    )


def accuracy(program: Any, asked: tuple[dspy.Example, ...]) -> float:
    """The share of questions that a program answers rightly."""
    right = [example.question.is_right(program(**example.inputs()).answer_index) for example in asked]
    return sum(map(bool, right)) / len(right)


def engine_for(name: str) -> FakeEngine:
    """SIMBA learns from runs that go well by luck; the others need none."""
    return task_engine(judge=by_luck(3)) if name == "simba" else task_engine()


def improved(name: str, folder: Path, engine: FakeEngine, writer: FakeEngine, **changes: Any) -> Any:
    options = {**CHOSEN[name], **changes.pop("options", {})}
    with dspy.context(lm=an_lm(engine)):
        return make_optimizer(name, options).improve(a_task(folder, an_lm(writer), **changes))
