"""SIMBA: rules that a model draws from comparing good and bad runs of the same question, added to instructions.

"Stochastic Introspective Mini-Batch Ascent", as DSPy has it. What is adapted: runs are sampled by each agent's own
model (SIMBA would bind one model to all); rules alone are learnt, since its demonstrations would hold frames; a rule
that is none is left out; and of its candidates the one is taken that does best on the dev part, which SIMBA itself
never sees.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import dspy
from dspy.teleprompt import SIMBA
from dspy.teleprompt.simba_utils import append_a_rule
from pydantic import Field

from videohv.modules.program import VideoProgram
from videohv.optimize.learner.border import Border, border
from videohv.optimize.learner.instructions import given_back, instructions_of, or_old
from videohv.optimize.learner.shown import example_shown, fitted, prediction_shown, room
from videohv.optimize.learner.student import Student
from videohv.optimize.registry import Options, Plan, Preset, optimizer
from videohv.optimize.task import Task


class SimbaOptions(Options):
    """Options of `simba`.

    Args:
        steps: Rounds of sampling and learning.
        candidates: Runs of each question in a round, and new programs at most.
        batch: Questions of the train part in a round.
    """

    presets: ClassVar[Mapping[Preset, Mapping[str, Any]]] = {
        "light": {"steps": 2, "candidates": 3, "batch": 6},
        "medium": {"steps": 4, "candidates": 4, "batch": 12},
        "heavy": {"steps": 8, "candidates": 6, "batch": 32},
    }

    steps: int = Field(default=2, ge=1, le=100)
    candidates: int = Field(default=3, ge=2, le=50)
    batch: int = Field(default=6, ge=1, le=1_000)


@optimizer("simba")
class Simba:
    """See the module.

    Args:
        options: What its user chose.
    """

    options_type: ClassVar[type[Options]] = SimbaOptions
    uses_demos: ClassVar[bool] = False

    def __init__(self, options: SimbaOptions) -> None:
        self.options = options

    def plan(self, task: Task) -> Plan:
        """See `Optimizer`."""
        options, batch = self.options, self._batch(task)
        new = min(options.candidates + 1, batch)
        finalists = min(options.steps, options.candidates) + 1
        runs = options.steps * batch * (options.candidates + new) + finalists * (len(task.train) + len(task.dev))
        return Plan(runs, options.steps * new)

    def improve(self, task: Task) -> VideoProgram:
        """See `Optimizer`.

        Raises:
            CompileStopped: The guard tripped; carries the best so far.
            OptimizerFailed: SIMBA itself failed.
        """
        options = self.options
        with border(task) as there:
            search = SIMBA(
                metric=_metric(there),
                bsize=self._batch(task),
                num_candidates=options.candidates,
                max_steps=options.steps,
                max_demos=0,
                prompt_model=there.prompt_lm,
                num_threads=task.threads,
            )
            student = _Sampled(task.program, task.roles, there.guard)
            search.strategies = [_rule(student, room(there.prompt_lm))]
            made = search.compile(student, trainset=list(task.train), seed=task.seed)
            there.guard.check()
            return given_back(_best_on_dev(there, student, made), task.program, task.roles)

    def _batch(self, task: Task) -> int:
        return min(self.options.batch, len(task.train))


def _best_on_dev(there: Border, student: Student, made: Any) -> Student:
    """The best of the seed and SIMBA's candidates; the seed where none is better."""
    told: dict[tuple[str, ...], Student] = {}
    for program in (student, *(candidate["program"] for candidate in made.candidate_programs)):
        told.setdefault(tuple(instructions_of(program).values()), program)
    finalists = list(told.values())
    there.trials.of = len(finalists)
    scorer = dspy.Evaluate(devset=list(there.task.dev), metric=there.metric, num_threads=there.task.threads)
    scores = [scorer(program).score for program in finalists]
    return finalists[scores.index(max(scores))]


def _metric(there: Border) -> Any:
    """The score, and what the metric says of it, which the model that draws rules is shown."""

    def metric(example: Any, prediction: Any) -> Any:
        score = there.metric.score(example, prediction if prediction is not None else dspy.Prediction())
        return dspy.Prediction(score=score.value, feedback=score.feedback)

    return metric


def _rule(seed: Student, characters: int) -> Any:
    """SIMBA's own way to add a rule, shown text alone; a rule that is none leaves the instruction as it was."""
    demos = {name: list(predictor.demos) for name, predictor in seed.named_predictors()}

    def append_a_usable_rule(bucket: list[dict[str, Any]], system: Any, **context: Any) -> bool:
        before = instructions_of(system)
        for name, predictor in system.named_predictors():
            # SIMBA has thrown some away to make room for others, which it does not make here.
            predictor.demos = list(demos[name])
        # It changes what it is given, and looks at the first and the last alone.
        shown = [_shown(run, characters // 2) for run in (bucket[0], bucket[-1])]
        added: bool = append_a_rule(shown, system, **context)
        for name, predictor in system.named_predictors():
            told = predictor.signature.instructions
            if told != before[name]:
                predictor.signature = predictor.signature.with_instructions(or_old(told, before[name]))
        return added

    return append_a_usable_rule


def _shown(run: dict[str, Any], characters: int) -> dict[str, Any]:
    texts = fitted([[dict(asked), dict(replied)] for _, asked, replied in run["trace"]], characters)
    trace = [(step[0], asked, replied) for step, (asked, replied) in zip(run["trace"], texts, strict=True)]
    return {
        **run,
        "trace": trace,
        "example": example_shown(run["example"]),
        "prediction": prediction_shown(run["prediction"]),
    }


class _Sample:
    """Stands for the model that SIMBA copies to have other samples: it says which, and no more."""

    def __init__(self, **sampling: Any) -> None:
        self.kwargs = sampling

    def copy(self, **sampling: Any) -> _Sample:
        """Another sample."""
        return _Sample(**{**self.kwargs, **sampling})


# The model that draws rules is shown this class as the code of the program.
class _Sampled(Student):
    """Answers a multiple-choice question about a video by asking several agents, one after the other.

    Each agent has an instruction of its own and sees only what its input fields hold; what it replies is handed to the
    agents after it. The last one answers.
    """

    def get_lm(self) -> Any:
        return _Sample()
