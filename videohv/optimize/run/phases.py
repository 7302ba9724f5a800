"""The phases of a compile, each of which begins where an earlier sitting left it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dspy

from videohv.compiled.agents import agents_of, tell
from videohv.data.whole import write_whole
from videohv.errors import InputError, OptimizerFailed
from videohv.evaluate.jobs import Job
from videohv.lm.budget import Budget, OverBudget
from videohv.modules.program import VideoProgram
from videohv.optimize.guard import CompileStopped, Guard, GuardLimits, Reason, guarding
from videohv.optimize.run.forecast import Forecast, forecast
from videohv.optimize.run.leak import check_leak
from videohv.optimize.run.order import Order
from videohv.optimize.run.preflight import cached_only, preflight
from videohv.optimize.run.progress import Phase, Watch
from videohv.optimize.run.scoring import Incomplete, prove, score
from videohv.optimize.run.state import Learnt, State, Work
from videohv.types import Trace

BEST = "best.json"
"""The best program of a compile that was stopped, in its work directory."""


@dataclass
class Phases:
    """A compile under way.

    Args:
        order: What is to be compiled.
        work: The work directory, opened.
        budget: What all sittings together may spend.
        confirm: Asked with the forecast.
        watch: Told how far it has come.
    """

    order: Order
    work: Work
    budget: Budget
    confirm: Callable[[Forecast], bool]
    watch: Watch

    def go(self) -> State:
        """All of them; what is done already is not done again."""
        state = self.begin()
        before = state.seconds
        for phase in (self.preflight, self.agree, self.optimise, self.prove):
            reached = phase(state)
            if reached is not state:
                state = self.work.keep(reached.model_copy(update={"seconds": before + self.watch.seconds}))
        return state

    def begin(self) -> State:
        """What this compile is, and how far earlier sittings came; nothing is asked.

        Raises:
            InputError: The work directory holds another compile, a model is used without the response cache, or there
                is a limit in money and no known price.
        """
        self.order.inputs.ready()
        cached_only(self.order.models)
        self.budget.require_prices(self.order.models)
        return self.work.begin(self.order.identity())

    def preflight(self, state: State) -> State:
        """Try everything once.

        Raises:
            PreflightFailed: A role or model brought nothing.
            CompileStopped: A limit ended it.
            InputError: The metric can't score these questions.
        """
        if state.measured is not None:
            return state
        order = self.order
        answerer = order.answerer(order.program)

        def answer(job: Job) -> Trace:
            trace = answerer(job)
            order.metric(job.question, trace)
            return trace

        with self.watch.phase(Phase.PREFLIGHT), dspy.context(max_trace_size=0):
            jobs = map(order.job, order.parts.train)
            try:
                measured = preflight(answer, jobs, order.team, order.writer, self.watch.doing)
            except OverBudget as error:
                raise self._stopped(Reason.BUDGET, str(error)) from error
        return state.model_copy(update={"measured": measured})

    def agree(self, state: State) -> State:
        """Have the forecast agreed to, once.

        Raises:
            InputError: Nobody agreed.
        """
        assert state.measured is not None
        order = self.order
        plan = order.steps.optimizer.plan(order.task)
        found = forecast(plan, len(order.parts.test), state.measured, order.threads, order.writer)
        self.watch.expect(found)
        if state.agreed is not None:
            return state
        if not self.confirm(found):
            raise InputError("nothing was compiled: nobody agreed to the estimate")
        return state.model_copy(update={"agreed": found})

    def optimise(self, state: State) -> State:
        """Let the optimizers work.

        Raises:
            CompileStopped: An outage, too many failures or a limit ended it.
            OptimizerFailed: They ended without a result, or changed what they may not.
        """
        if state.learnt is not None:
            return state
        with self.watch.phase(Phase.OPTIMISE):
            improved = self._improved()
        changed = self._changed(improved)
        if wrong := [agent for agent in changed if agent not in self.order.roles]:
            raise OptimizerFailed(f"the optimizer changed {', '.join(wrong)}, which it may not")
        learnt = Learnt(agents=agents_of(improved), trials=self.watch.trials, changed=changed)
        return state.model_copy(update={"learnt": learnt})

    def prove(self, state: State) -> State:
        """Score seed and compiled program on the held-out part.

        Raises:
            LeakError: The compiled prompts hold a question of the dev or test part.
            CompileStopped: Not all questions could be asked.
        """
        order, compiled = self.order, self.compiled(state)
        check_leak(compiled, order.parts, order.dataset.questions)
        if state.proof is not None:
            return state
        for phase, program, folder, name in (
            (Phase.SCORE_SEED, order.program, self.seed_run, order.start),
            (Phase.SCORE_COMPILED, compiled, self.compiled_run, order.out.name),
        ):
            with self.watch.phase(phase), dspy.context(max_trace_size=0):
                self._score(program, folder, name)
        proof = prove(self.seed_run, self.compiled_run, order.metric, order.parts.test)
        return state.model_copy(update={"proof": proof})

    def compiled(self, state: State) -> VideoProgram:
        """The compiled program, with the models of the seed.

        Raises:
            ProgramError: It does not fit this version.
        """
        assert state.learnt is not None
        seed = self.order.program
        models = [predictor.lm for predictor in seed.predictors() if predictor.lm is not None]
        # Models are shared, not copied: they hold connections and locks.
        made: VideoProgram = copy.deepcopy(seed, {id(lm): lm for lm in models})
        tell(made, state.learnt.agents)
        return made

    @property
    def seed_run(self) -> Path:
        """Run directory of the seed on the held-out part."""
        return self.work.folder / "seed"

    @property
    def compiled_run(self) -> Path:
        """Of the compiled program."""
        return self.work.folder / "compiled"

    def _score(self, program: VideoProgram, folder: Path, name: str) -> None:
        order = self.order
        try:
            score(
                order.answerer(program),
                order.dataset,
                order.parts.test,
                folder,
                name=name,
                threads=order.threads,
                failures=order.failures,
                on_progress=self.watch.scored,
            )
        except Incomplete as error:
            raise self._stopped(error.reason, str(error)) from error

    def _improved(self) -> VideoProgram:
        guard = Guard(GuardLimits(failed=self.order.failures))
        try:
            # DSPy keeps every call in a list of its own, pictures included, unless an optimizer asks for one.
            with guarding(guard), dspy.context(trace=None):
                return self.order.steps.optimizer.improve(self.order.task)
        except CompileStopped as error:
            if error.best is not None:
                self._keep_best(error.best)
            raise self._stopped(error.reason, error.why, error) from error

    def _keep_best(self, best: VideoProgram) -> None:
        state = {name: {**predictor.dump_state(), "lm": None} for name, predictor in best.named_predictors()}
        write_whole(self.work.folder / BEST, json.dumps(state, indent=1, ensure_ascii=False))

    def _stopped(self, reason: Reason, why: str, error: CompileStopped | None = None) -> CompileStopped:
        kept = f"what was learnt is kept in {self.work.folder}; run the same again to go on"
        best, trial = (error.best, error.trial) if error is not None else (None, None)
        return CompileStopped(reason, f"{why}; {kept}", best, trial)

    def _changed(self, improved: VideoProgram) -> tuple[str, ...]:
        """Agents that are told something else than in the seed."""
        before = {agent.name: agent for agent in agents_of(self.order.program)}
        return tuple(agent.name for agent in agents_of(improved) if agent != before[agent.name])
