"""`optuna`: which demonstration each agent is shown, searched with Optuna (DSPy's BootstrapFewShotWithOptuna)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import dspy
from pydantic import Field

from videohv.errors import MissingExtra
from videohv.modules.program import VideoProgram
from videohv.optimize.learner.border import Border, border
from videohv.optimize.learner.student import Student
from videohv.optimize.optimizers.bootstrap import DemoOptions, bootstrapper, right_ones, teacher_of
from videohv.optimize.registry import Options, Plan, Preset, optimizer
from videohv.optimize.task import Task


class OptunaOptions(DemoOptions):
    """Options of `OptunaSearch`.

    Args:
        demos: Demonstrations for each agent to choose one from.
        trials: Choices that are scored.
    """

    demos: int = Field(default=8, ge=1, le=64)
    trials: int = Field(default=8, ge=1, le=10_000)

    presets: ClassVar[Mapping[Preset, Mapping[str, Any]]] = {
        "light": {"demos": 8, "trials": 8},
        "medium": {"demos": 16, "trials": 16},
        "heavy": {"demos": 32, "trials": 32},
    }


@optimizer("optuna")
class OptunaSearch:
    """Bootstraps a pool, then has Optuna's TPE sampler choose one demonstration an agent, each choice scored on dev.

    As DSPy's, but an agent for which there is no demonstration stays without one (there it is a crash), and the
    sampler is seeded, so that an interrupted search repeats itself out of the cache.
    """

    options_type: ClassVar[type[Options]] = OptunaOptions
    uses_demos: ClassVar[bool] = True

    def __init__(self, options: OptunaOptions) -> None:
        self.options = options

    def plan(self, task: Task) -> Plan:
        """Each training question once, and the dev part for each trial."""
        return Plan(len(task.train) + self.options.trials * len(task.dev))

    def improve(self, task: Task) -> VideoProgram:
        """See `Optimizer`.

        Raises:
            OptimizerFailed: No demonstration could be made.
            MissingExtra: Optuna is not installed.
        """
        try:
            import optuna
        except ImportError as error:
            raise MissingExtra("optuna", "optuna", "the optimizer 'optuna'") from error
        with border(task, threshold=self.options.threshold, of=self.options.trials) as there:
            pool, student = self._pool(there)
            study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=task.seed))
            evaluate = dspy.Evaluate(devset=list(task.dev), metric=there.metric, num_threads=task.threads)

            def objective(trial: Any) -> float:
                candidate = student.reset_copy()
                for name, predictor in candidate.named_predictors():
                    if pool[name]:
                        chosen = trial.suggest_int(f"demonstration of {name}", 0, len(pool[name]) - 1)
                        predictor.demos = [pool[name][chosen]]
                return float(evaluate(candidate).score)

            study.optimize(objective, n_trials=self.options.trials)
            best = there.trials.best
            assert best is not None
            return best

    def _pool(self, there: Border) -> tuple[dict[str, list[Any]], Student]:
        """Demonstrations by agent, and the student that gets them."""
        teacher = teacher_of(there, self.options)
        right = right_ones(there, teacher)
        student = there.student(teacher.roles)
        bootstrapped = bootstrapper(there, self.options).compile(student, teacher=teacher, trainset=right)
        return {name: list(predictor.demos) for name, predictor in bootstrapped.named_predictors()}, student
