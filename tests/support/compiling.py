"""What compiles are tested with: a model that can be taught, and optimizers that are easy to foresee."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any, ClassVar

import dspy

from tests.support.engine import FakeEngine, Seen, answer_reply, check_reply, default_reply, letters, seen_in
from tests.support.server import Request
from videohv.modules.program import VideoProgram
from videohv.optimize.registry import Options, Plan, optimizer
from videohv.optimize.task import Task, Trial

RULE = "Trust what moves."
"""Whoever is told this answers every question rightly."""

TRAP = "Trust nothing."
"""Whoever is told this answers every question wrongly."""

_PERSON = re.compile(r"person number (\d+)")
_CHAT = re.compile(r"starting with the field `\[\[ ## (\w+) ## \]\]`(.*?)and then ending with the marker", re.DOTALL)


def teachable(request: Request) -> str:
    """By role and question alone: two of three answers are right, with the rule every one, and with the trap none.

    Whatever a model that writes prompts is asked for is answered with the rule.
    """
    # Demonstrations stand before the prompt, as messages of their own.
    system = str(request.body["messages"][0]["content"])
    what = seen_in(request.prompt, request.images, None, request.schema is not None, system)
    if what.role == "unknown":
        return written(request)
    found = _PERSON.search(request.prompt)
    number = int(found.group(1)) if found else None
    if what.role == "answer" and number is not None:
        shown = letters(what)
        return json.dumps(answer_reply(shown[_taught(number, what.system)], shown))
    if what.role == "check" and number is not None:
        return json.dumps(check_reply(("VERIFIED", "NOT_VERIFIED")[number % 2]))
    return json.dumps(default_reply(what))


def written(request: Request) -> str:
    """A reply to whoever wants something written: every field that is asked for says the rule."""
    text = request.text
    if fields := request.outputs:
        return json.dumps({name: f"{RULE} ({name})" for name in fields})
    if found := _CHAT.search(text):
        names = [found.group(1), *re.findall(r"`\[\[ ## (\w+) ## \]\]`", found.group(2))]
        return "\n\n".join(f"[[ ## {name} ## ]]\n{RULE}" for name in names) + "\n\n[[ ## completed ## ]]"
    return f"```\n{RULE}\n```"


class PlannedOptions(Options):
    """Args:
    says: What is written at the end of the instructions.
    passes: How often the train part is gone through.
    trials: Only counted.
    leaks: Whether a question of the dev part becomes a demonstration.
    """

    presets: ClassVar[Any] = {"heavy": {"passes": 3}}

    says: str = RULE
    passes: int = 1
    trials: int = 1
    leaks: bool = False


@optimizer("planned")
class Planned:
    """Goes through the examples, and then says what it was told to say."""

    options_type: ClassVar[type[Options]] = PlannedOptions
    uses_demos: ClassVar[bool] = False

    def __init__(self, options: PlannedOptions) -> None:
        self.options = options

    def plan(self, task: Task) -> Plan:
        return Plan(len(task.train) * self.options.passes, 0)

    def improve(self, task: Task) -> VideoProgram:
        made: VideoProgram = task.program.deepcopy()
        best = 0.0
        for number in range(1, self.options.passes + 1):
            right = []
            for example in task.train:
                trace = made(**example.inputs()).trace
                right.append(task.metric(example.question, trace).value)
            score = sum(right) / len(right)
            best = max(best, score)
            trial = Trial(number=number, of=self.options.passes, score=score, best=best, examples=len(right))
            task.on_trial(trial)
        answer = made.answer.predict
        answer.signature = answer.signature.with_instructions(f"{answer.signature.instructions}\n{self.options.says}")
        if self.options.leaks:
            leaked = task.dev[0].question
            answer.demos = [{"question": leaked.text, "reasoning": "known", "source_question": leaked.id}]
        return made


def taught_lm(answer: Callable[[Seen], dict[str, Any]] | None = None) -> tuple[dspy.LM, FakeEngine]:
    """A cached in-process LM that can be taught as `teachable` can, and its engine.

    Args:
        answer: Replies of the Answer agent; None is by what it was told.
    """

    def taught(what: Seen) -> dict[str, Any]:
        shown, found = letters(what), _PERSON.search(what.inputs["question"])
        assert found is not None
        return answer_reply(shown[_taught(int(found.group(1)), what.system)], shown)

    engine = TaughtEngine({"answer": answer or taught})
    return dspy.LM("fake/model", engine=engine, cache=True, num_retries=0), engine


class TaughtEngine(FakeEngine):
    """A fake engine that writes the rule wherever a role is none of the program's."""

    def _reply(self, seen: Seen) -> Any:
        return json.dumps({"reply": RULE}) if seen.role == "unknown" else super()._reply(seen)


def _taught(number: int, told: str) -> int:
    """The place of the option that is answered: of three questions two are right if nothing is told."""
    right = RULE in told or (TRAP not in told and number % 3 != 0)
    return (number + (not right)) % 5


def bodies(requests: list[Request]) -> list[str]:
    """What was sent, a text each, to count what was sent twice."""
    return [json.dumps(request.body, sort_keys=True) for request in requests]
