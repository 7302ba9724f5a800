"""What is to be compiled, with which models, from which questions: everything that a compile is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import dspy

from videohv.data.dataset import Dataset
from videohv.evaluate.answerer import Answerer
from videohv.evaluate.describe import manifest_of, model_of
from videohv.evaluate.inputs import Inputs
from videohv.evaluate.jobs import Job
from videohv.lm.roles import Assigned, assignments
from videohv.lm.usage import highest_price
from videohv.modules.program import VideoProgram
from videohv.optimize.learner.examples import examples_of
from videohv.optimize.metrics.metric import Metric
from videohv.optimize.run.split import Parts
from videohv.optimize.run.state import Compilation
from videohv.optimize.run.steps import Steps
from videohv.optimize.task import Task, Trial
from videohv.types import Question

PROMPT_MODEL = "prompts"


@dataclass
class Order:
    """An order for a compile.

    Args:
        program: The seed; never changed.
        dataset: Of the questions.
        parts: Its questions by part.
        inputs: Where captions and videos are found.
        steps: The optimizers.
        roles: Agents that may be changed.
        metric: What is to become better.
        threads: Questions at once.
        prompt_lm: Writes instructions; None if no model is configured.
        start: What the seed was loaded from; empty for none.
        out: The artifact.
        failures: Share of questions that may fail for want of a model.
        folder: For the optimizers' own files.
        on_trial: Told of each candidate.
    """

    program: VideoProgram
    dataset: Dataset
    parts: Parts
    inputs: Inputs
    steps: Steps
    roles: tuple[str, ...]
    metric: Metric
    threads: int
    prompt_lm: dspy.BaseLM | None
    start: str
    out: Path
    failures: float
    folder: Path
    on_trial: Callable[[Trial], None]

    def identity(self) -> Compilation:
        """What makes this compile what it is."""
        return Compilation(
            run=manifest_of(self.dataset, self.parts.all, self.answerer(self.program), program_name=self.start),
            split=self.parts.split,
            optimizers=self.steps.recorded,
            metric=self.metric.name,
            roles=self.roles,
            prompt_model=model_of(PROMPT_MODEL, self.writer) if self.writer is not None else None,
        )

    @cached_property
    def task(self) -> Task:
        """What the optimizers are given.

        Raises:
            InputError: There is nothing to answer a question from, or what there is can't be read.
        """
        return Task(
            program=self.program,
            roles=self.roles,
            train=self._examples(self.parts.train),
            dev=self._examples(self.parts.dev),
            metric=self.metric,
            seed=self.program.settings.seed,
            threads=self.threads,
            prompt_lm=self.prompt_lm,
            folder=self.folder,
            on_trial=self.on_trial,
        )

    @cached_property
    def team(self) -> tuple[Assigned, ...]:
        """Which model each role of the program uses."""
        own = {name.removesuffix(".predict"): predictor.lm for name, predictor in self.program.named_predictors()}
        return tuple(
            Assigned(choice, own[choice.role] if own[choice.role] is not None else lm)
            for choice, lm in assignments(own)
        )

    @cached_property
    def writer(self) -> dspy.BaseLM | None:
        """Who writes instructions, if an optimizer wants any."""
        return self.prompt_lm if self.steps.optimizer.plan(self.task).prompt_calls else None

    @property
    def models(self) -> list[dspy.BaseLM]:
        """Every model that may be asked, each once."""
        found = [*(lm for _, lm in self.team), self.writer]
        return list({id(lm): lm for lm in found if lm is not None}.values())

    @property
    def priced(self) -> bool:
        """Whether the price of every model that is asked is known."""
        return all(highest_price(str(lm.model), 1, 1) is not None for lm in self.models)

    def answerer(self, program: VideoProgram) -> Answerer:
        """Who asks a program questions of the benchmark."""
        return Answerer(program, self.inputs)

    def job(self, question: Question) -> Job:
        """A question with what its benchmark knows beside it."""
        return Job(question, names=self.dataset.names_of(question)[1:], speech=self.dataset.extra_captions(question))

    def _examples(self, questions: tuple[Question, ...]) -> tuple[dspy.Example, ...]:
        return examples_of(map(self.job, questions), self.inputs)
