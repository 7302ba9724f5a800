"""MIPROv2: instructions that a model proposes from the data, and demonstrations, searched together with Optuna.

Opsahl-Ong et al., "Optimizing Instructions and Demonstrations for Multi-Stage Language Model Programs", EMNLP 2024
(arXiv 2406.11695), as DSPy has it. What is adapted for programs of many agents: demonstrations come from the
`Teacher`, for agents that read text only; the proposing model sees questions and calls as text that fits it; a proposal
that fails or is none becomes the old instruction, and does not end the search.
"""

from __future__ import annotations

import importlib.util
import math
from collections.abc import Mapping
from typing import Any, ClassVar

import dspy
from dspy.propose import GroundedProposer
from dspy.teleprompt import MIPROv2
from dspy.utils.exceptions import AdapterParseError, LMError
from pydantic import Field

from videohv.errors import MissingExtra
from videohv.modules.program import VideoProgram
from videohv.optimize.learner.border import Border, border
from videohv.optimize.learner.demos import longest_demo
from videohv.optimize.learner.instructions import given_back, or_old
from videohv.optimize.learner.shown import example_shown, fitted, room
from videohv.optimize.learner.teacher import Teacher
from videohv.optimize.registry import Options, Plan, Preset, optimizer
from videohv.optimize.task import Task

_QUESTIONS_AT_ONCE = 10
"""Questions of the train part in one prompt that describes the data."""

_FULL_EVERY = 5
"""Trials on a few examples after which the best is scored on all."""

_GROUNDING_DEMOS = 3


class MiproOptions(Options):
    """Options of `mipro`.

    Args:
        trials: Combinations that are scored.
        candidates: Instructions for each agent, the old one among them, and sets of demonstrations.
        demos: Demonstrations of an agent at most; 0 is instructions alone.
        minibatch: Examples of the dev part that a trial is scored on; the best so far is scored on all of them after
            every fifth. None scores every trial on all.
        temperature: At which instructions are proposed.
    """

    presets: ClassVar[Mapping[Preset, Mapping[str, Any]]] = {
        "light": {"trials": 8, "candidates": 4},
        "medium": {"trials": 20, "candidates": 6},
        "heavy": {"trials": 40, "candidates": 10},
    }

    trials: int = Field(default=8, ge=1, le=1_000)
    candidates: int = Field(default=4, ge=2, le=100)
    demos: int = Field(default=2, ge=0, le=16)
    minibatch: int | None = Field(default=None, ge=1)
    temperature: float = Field(default=1.0, gt=0.0, le=2.0)


@optimizer("mipro")
class Mipro:
    """See the module.

    Args:
        options: What its user chose.

    Raises:
        MissingExtra: Optuna is not installed.
    """

    options_type: ClassVar[type[Options]] = MiproOptions
    uses_demos: ClassVar[bool] = True

    def __init__(self, options: MiproOptions) -> None:
        if importlib.util.find_spec("optuna") is None:
            raise MissingExtra("optuna", "optuna", "the optimizer 'mipro'")
        self.options = options

    def plan(self, task: Task) -> Plan:
        """See `Optimizer`."""
        options, dev = self.options, len(task.dev)
        small = self._minibatch(task)
        trials = options.trials * (small or dev) + (options.trials // _FULL_EVERY + 2) * dev * bool(small)
        prompts = min(10, math.ceil(len(task.train) / _QUESTIONS_AT_ONCE)) + 1 + options.candidates * len(task.roles)
        return Plan(len(task.train) + dev + trials, prompts)

    def improve(self, task: Task) -> VideoProgram:
        """See `Optimizer`.

        Raises:
            CompileStopped: The guard tripped; carries the best so far.
            OptimizerFailed: MIPROv2 itself failed.
        """
        options, small = self.options, self._minibatch(task)
        of = 1 + options.trials + (options.trials // _FULL_EVERY + 1 if small else 0)
        with border(task, of=of) as there:
            longest = longest_demo(options.demos or _GROUNDING_DEMOS)
            teacher = Teacher(task.program, task.roles, there.guard, seed=task.seed, longest=longest)
            # The lessons are learnt here, several at once: DSPy would have them one by one.
            teacher.lessons(task.train, task.threads)
            made = _Mipro(there, options, task.seed).compile(
                there.student(),
                teacher=teacher,
                trainset=list(task.train),
                valset=list(task.dev),
                num_trials=options.trials,
                minibatch=small is not None,
                minibatch_size=small or len(task.dev),
                minibatch_full_eval_steps=_FULL_EVERY,
                view_data_batch_size=_QUESTIONS_AT_ONCE,
                program_aware_proposer=False,
            )
            there.guard.check()
            return given_back(made, task.program, task.roles)

    def _minibatch(self, task: Task) -> int | None:
        chosen = self.options.minibatch
        return chosen if chosen is not None and chosen < len(task.dev) else None


class _Mipro(MIPROv2):
    """MIPROv2 with a proposer that is at home here."""

    def __init__(self, there: Border, options: MiproOptions, seed: int) -> None:
        lm = there.prompt_lm
        super().__init__(
            metric=there.metric,
            prompt_model=lm,
            # Replaced below: it wants one where the models of the roles may be all there is.
            task_model=lm,
            max_bootstrapped_demos=options.demos,
            max_labeled_demos=0,
            auto=None,
            num_candidates=options.candidates,
            num_threads=there.task.threads,
            seed=seed,
            init_temperature=options.temperature,
            track_stats=False,
        )
        self.task_model = dspy.settings.lm

    def _propose_instructions(
        self,
        program: Any,
        trainset: list[dspy.Example],
        demo_candidates: Any,
        view_data_batch_size: int,
        program_aware_proposer: bool,
        data_aware_proposer: bool,
        tip_aware_proposer: bool,
        fewshot_aware_proposer: bool,
        num_instruct_candidates: int,
    ) -> dict[int, list[str]]:
        characters = room(self.prompt_model)
        examples = [example_shown(example) for example in trainset]
        shown = {
            agent: [[dspy.Example(**demo) for demo in fitted(list(demos), characters)] for demos in sets]
            for agent, sets in (demo_candidates or {}).items()
        }
        proposer = _Proposer(
            prompt_model=self.prompt_model,
            program=program,
            trainset=fitted_examples(examples, characters, view_data_batch_size),
            view_data_batch_size=view_data_batch_size,
            use_dataset_summary=data_aware_proposer,
            program_aware=program_aware_proposer,
            use_task_demos=fewshot_aware_proposer,
            num_demos_in_context=_GROUNDING_DEMOS,
            use_instruct_history=False,
            use_tip=tip_aware_proposer,
            set_tip_randomly=tip_aware_proposer,
            set_history_randomly=False,
            rng=self.rng,
            init_temperature=self.init_temperature,
        )
        made: dict[int, list[str]] = proposer.propose_instructions_for_program(
            trainset=examples, program=program, demo_candidates=shown, N=num_instruct_candidates, trial_logs={}
        )
        for place, predictor in enumerate(program.predictors()):
            made[place][0] = predictor.signature.instructions
        return made


class _Proposer(GroundedProposer):
    """Proposes the old instruction where no other could be had."""

    def propose_instruction_for_predictor(self, program: Any, predictor: Any, **given: Any) -> str:
        """One instruction."""
        old: str = predictor.signature.instructions
        try:
            return or_old(super().propose_instruction_for_predictor(program=program, predictor=predictor, **given), old)
        except (AdapterParseError, LMError):
            return old


def fitted_examples(examples: list[dspy.Example], characters: int, at_once: int) -> list[dspy.Example]:
    """Questions cut so that so many of them at once have about so many characters."""
    made: list[dspy.Example] = []
    for start in range(0, len(examples), at_once):
        for item in fitted([dict(example) for example in examples[start : start + at_once]], characters):
            made.append(dspy.Example(**item).with_inputs("question", "options"))
    return made
