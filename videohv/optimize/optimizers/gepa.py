"""GEPA: a model reads what went wrong with an agent and rewrites its instruction; candidates evolve on a Pareto front.

Agrawal et al., "GEPA: Reflective Prompt Evolution Can Outperform Reinforcement Learning" (arXiv 2507.19457), as the
package `gepa` has it. What is adapted for programs of many agents that look at frames: the reflecting model is told by
the metric what the one agent did wrong; it is shown text alone, and no more than it can read.

GEPA keeps no state on disk here. Its own is a pickle that only fits the program it was made with, and a run that
went on from it would draw other samples than one that was not interrupted; the response cache gives back every step.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import dspy
from dspy.teleprompt import GEPA
from dspy.teleprompt.gepa.instruction_proposal import InstructionProposer
from pydantic import Field

from videohv.errors import InputError
from videohv.modules.program import VideoProgram
from videohv.optimize.learner.border import Border, border
from videohv.optimize.learner.instructions import MOST, cleaned, given_back, usable
from videohv.optimize.learner.shown import fitted, room
from videohv.optimize.learner.student import alike
from videohv.optimize.registry import Options, Plan, Preset, optimizer
from videohv.optimize.task import Task


class GepaOptions(Options):
    """Options of `gepa`.

    Args:
        passes: Runs of the program at most, as a multiple of the train and dev examples together. A little more is
            possible: what was begun is ended.
        minibatch: Questions of the train part that one reflection is about.
        merge: Whether agents of different candidates are also put together.
    """

    presets: ClassVar[Mapping[Preset, Mapping[str, Any]]] = {
        "light": {"passes": 6},
        "medium": {"passes": 12},
        "heavy": {"passes": 24},
    }

    passes: int = Field(default=6, ge=1, le=1_000)
    minibatch: int = Field(default=3, ge=1, le=100)
    merge: bool = True


@optimizer("gepa")
class Gepa:
    """See the module.

    Args:
        options: What its user chose.
    """

    options_type: ClassVar[type[Options]] = GepaOptions
    uses_demos: ClassVar[bool] = False

    def __init__(self, options: GepaOptions) -> None:
        self.options = options

    def plan(self, task: Task) -> Plan:
        """See `Optimizer`."""
        budget = self._budget(task)
        # A round that begins within the budget ends beyond it.
        return Plan(budget + 2 * self._minibatch(task) + len(task.dev), budget // self._minibatch(task))

    def improve(self, task: Task) -> VideoProgram:
        """See `Optimizer`.

        Raises:
            InputError: Two agents have the same prompt, which GEPA could not tell apart.
            CompileStopped: The guard tripped; carries the best so far.
            OptimizerFailed: GEPA itself failed.
        """
        if pairs := alike(task.program, task.roles):
            one, other = pairs[0]
            raise InputError(
                f"gepa cannot tell {one} from {other}: they have the same prompt; leave both out of --roles"
            )
        with border(task) as there:
            lm = there.prompt_lm
            made = GEPA(
                metric=_metric(there),
                max_metric_calls=self._budget(task),
                reflection_minibatch_size=self._minibatch(task),
                reflection_lm=lm,
                instruction_proposer=_Proposer(room(lm)),
                use_merge=self.options.merge,
                num_threads=task.threads,
                warn_on_score_mismatch=False,
                seed=task.seed,
            ).compile(there.student(), trainset=list(task.train), valset=list(task.dev))
            there.guard.check()
            return given_back(made, task.program, task.roles)

    def _budget(self, task: Task) -> int:
        return self.options.passes * (len(task.train) + len(task.dev))

    def _minibatch(self, task: Task) -> int:
        return min(self.options.minibatch, len(task.train))


def _metric(there: Border) -> Any:
    """The score of the whole question, and for an agent what the metric says of its part."""

    def metric(gold: Any, pred: Any, trace: Any = None, pred_name: str | None = None, pred_trace: Any = None) -> Any:
        score = there.metric.score(gold, pred)
        if pred_name is None:
            return score.value
        own = score.agents.get(pred_name)
        part = f"This part of the work ({own[0]:.2f} of 1): {own[1]}\n" if own is not None else ""
        whole = f"The whole question ({score.value:.2f} of 1): {score.feedback or 'nothing more is known.'}"
        return dspy.Prediction(score=score.value, feedback=f"{part}{whole}")

    return metric


class _Proposer(InstructionProposer):
    """DSPy's proposer, shown text alone; what it writes is an instruction, or the round is without a proposal."""

    def __init__(self, characters: int) -> None:
        super().__init__(max_chars=MOST, adapter=dspy.settings.adapter)
        self._characters = characters

    def __call__(
        self,
        candidate: dict[str, str],
        reflective_dataset: Mapping[str, Sequence[Mapping[str, Any]]],
        components_to_update: list[str],
    ) -> dict[str, str]:
        """New instructions by agent."""
        shown = {name: fitted(list(items), self._characters) for name, items in reflective_dataset.items()}
        proposed = super().__call__(candidate, shown, components_to_update)
        made = {name: cleaned(text) for name, text in proposed.items()}
        for name, text in made.items():
            if not usable(text):
                # GEPA takes this for a proposal that failed, and goes on with other questions.
                raise ValueError(f"what was proposed for {name} is no instruction")
        return made
