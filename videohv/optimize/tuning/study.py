"""The memory of a search: an Optuna study in an SQLite file, which outlives whoever wrote it.

What is suggested depends on the seed, the settings that were tried and their results alone: a search that was killed
and goes on comes to what it would have come to. Optuna is imported when a study is opened.
"""

from __future__ import annotations

import importlib.util
import math
import random
import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from videohv.errors import InputError, MissingExtra
from videohv.optimize.tuning.front import Tried
from videohv.optimize.tuning.space import Dimension, Scalar, Space

if TYPE_CHECKING:
    import optuna

_TRIED = "tried"
_STALE = 5
"""Suggestions in a row that were tried before, after which chance takes over: a narrow space is soon known by heart."""

_DRAWS = 10_000
"""Draws by chance, after which there seems to be nothing left that was not tried."""


class Asked(NamedTuple):
    """Settings that are to be tried, and the trial that they belong to."""

    trial: optuna.Trial
    settings: dict[str, Scalar]


class Study:
    """A search for settings with the highest accuracy and the fewest tokens.

    Args:
        path: The SQLite file; made when absent.
        space: What is searched.
        seed: Of the suggestions.
        usual: Settings as they are without any search; tried first.

    Attributes:
        tried: All settings that were tried, in that order.

    Raises:
        MissingExtra: Optuna is not installed.
        InputError: The file is no study.
    """

    def __init__(self, path: Path, space: Space, seed: int, usual: Mapping[str, Any]) -> None:
        if importlib.util.find_spec("optuna") is None:
            raise MissingExtra("optuna", "optuna", "tuning")
        self._space, self._seed = space, seed
        self._study = _opened(path)
        self.tried: list[Tried] = []
        for trial in self._study.trials:
            if _TRIED in trial.user_attrs:
                self.tried.append(Tried.model_validate(trial.user_attrs[_TRIED]))
        if not self._study.trials:
            self._study.enqueue_trial({d.name: d.nearest(usual.get(d.name)) for d in space})
        self._requeue()

    def ask(self) -> Asked | None:
        """Settings that were not tried yet; None if there are none left."""
        stale = 0
        while not self._is_done():
            if stale >= _STALE:
                drawn = self._drawn()
                if drawn is None:
                    return None
                self._study.enqueue_trial(drawn)
            self._study.sampler = self._sampler()
            trial = self._study.ask()
            asked = Asked(trial, {d.name: _suggested(trial, d) for d in self._space})
            known = self._known(asked.settings)
            if known is None:
                return asked
            self._close(trial, known)
            stale += 1
        return None

    def tell(self, asked: Asked, one: Tried) -> None:
        """What came of settings."""
        asked.trial.set_user_attr(_TRIED, one.model_dump(mode="json"))
        self.tried.append(one)
        self._close(asked.trial, one)

    def postpone(self, asked: Asked) -> None:
        """Nothing can be said of settings yet: they are the first that are asked of the next sitting."""
        from optuna.trial import TrialState

        # In this order: whoever is killed in between finds them there twice, and known the second time.
        self._study.enqueue_trial(asked.trial.params)
        self._study.tell(asked.trial, state=TrialState.FAIL)

    def _known(self, settings: Mapping[str, Scalar]) -> Tried | None:
        return next((one for one in self.tried if one.settings == settings), None)

    def _is_done(self) -> bool:
        return len(self.tried) >= math.prod(len(dimension.values) for dimension in self._space)

    def _drawn(self) -> dict[str, Scalar] | None:
        """Settings that were not tried, by chance."""
        chance = random.Random(f"{self._seed} {self._count()}")
        for _ in range(_DRAWS):
            settings = {dimension.name: chance.choice(dimension.values) for dimension in self._space}
            if self._known(settings) is None:
                return settings
        return None

    def _requeue(self) -> None:
        """What was under way when an earlier sitting was killed comes next."""
        from optuna.trial import TrialState

        for trial in self._study.get_trials(deepcopy=False, states=(TrialState.RUNNING,)):
            if len(trial.params) == len(self._space):
                self._study.enqueue_trial(trial.params)
            self._study.tell(trial.number, state=TrialState.FAIL)

    def _count(self) -> int:
        """Suggestions that something came of, in whichever sitting."""
        from optuna.trial import TrialState

        ended = self._study.get_trials(deepcopy=False, states=(TrialState.COMPLETE, TrialState.FAIL))
        return sum(trial.state is TrialState.COMPLETE or _TRIED in trial.user_attrs for trial in ended)

    def _sampler(self) -> optuna.samplers.TPESampler:
        """A new one for each suggestion: it must not depend on how many came before it in this sitting."""
        from optuna.samplers import TPESampler

        return TPESampler(seed=(self._seed * 1_000_003 + self._count()) % 2**32)

    def _close(self, trial: optuna.Trial, one: Tried) -> None:
        from optuna.trial import TrialState

        if one.accuracy is None or one.tokens is None:
            self._study.tell(trial, state=TrialState.FAIL)
        else:
            self._study.tell(trial, [one.accuracy.value, one.tokens])


def _suggested(trial: optuna.Trial, dimension: Dimension) -> Scalar:
    if dimension.kind == "choice":
        chosen = trial.suggest_categorical(dimension.name, list(dimension.choices))
        return next(choice for choice in dimension.choices if choice == chosen)
    low, high, step = dimension.low, dimension.high, dimension.step
    if dimension.kind == "int":
        return trial.suggest_int(dimension.name, int(low), int(high), step=int(step))
    return dimension.value(trial.suggest_float(dimension.name, low, high, step=step))


def _opened(path: Path) -> optuna.Study:
    import optuna

    def connect() -> sqlite3.Connection:
        made = sqlite3.connect(path, check_same_thread=False)
        try:
            # Whoever is killed loses nothing by it, and Optuna writes a dozen times for each trial.
            made.execute("PRAGMA journal_mode=WAL")
            made.execute("PRAGMA synchronous=NORMAL")
        except BaseException:
            made.close()
            raise
        return made

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    try:
        # The file is opened here, so that its name need not be a part of an address.
        storage = optuna.storages.RDBStorage("sqlite:///study", engine_kwargs={"creator": connect})
        return optuna.create_study(
            storage=storage, study_name="tune", directions=["maximize", "minimize"], load_if_exists=True
        )
    except Exception as error:  # of SQLAlchemy, Alembic or SQLite, by what is wrong with the file
        line = str(error).strip().partition("\n")[0]
        raise InputError(f"{path} is no study that can be used ({line}): name another --out") from error
