"""One MLflow run, and what is put into it. Whatever fails here is said once and hinders nothing."""

from __future__ import annotations

import json
import logging
import os
import queue
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from videohv.compiled.public import publicly
from videohv.data.whole import write_whole
from videohv.errors import InputError, MissingExtra
from videohv.lm.redact import without_keys
from videohv.track.spans import listener, slim

EXPERIMENT = "videohv"
NAME = "mlflow.json"
"""File in a run's folder that names its MLflow run, so that a resumed run goes on with it."""

PATIENCE = 60.0
"""Seconds that the end of a run waits for a store that is behind."""

_LONGEST = 500
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*://")
_LOGIN = re.compile(r"//[^/@\s]*@")
_ENVIRONMENT = {
    # MLflow reports how it is used unless it is told not to before it is imported.
    "MLFLOW_DISABLE_TELEMETRY": "true",
    "DO_NOT_TRACK": "true",
    # It would go on for minutes with a server that is gone.
    "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "2",
    "MLFLOW_HTTP_REQUEST_TIMEOUT": "10",
    "MLFLOW_ASYNC_TRACE_LOGGING_RETRY_TIMEOUT": "20",
    # More would only wait for each other at a database.
    "MLFLOW_ASYNC_TRACE_LOGGING_MAX_WORKERS": "1",
    "MLFLOW_LOGGING_LEVEL": "ERROR",
}

Put = Callable[[Any, str], object]


class Tracker:
    """Puts figures and files into an MLflow run, from a thread of its own; without MLflow it does nothing.

    Nothing is put in before `begin`, and whoever calls never waits for the store.

    Args:
        mlflow: The module, or None.
        folder: Where it is noted which MLflow run it is; a later sitting goes on with it.
        name: Of a new MLflow run.
        complain: Told of the first thing that failed; nothing is put in after that.
    """

    def __init__(
        self,
        mlflow: Any = None,
        folder: Path = Path(),
        name: str = "",
        complain: Callable[[str], None] = lambda why: None,
    ) -> None:
        self._mlflow, self._folder, self._name, self._complain = mlflow, folder, name, complain
        self._run_id = ""
        self._ended = "FINISHED"
        self._failed = mlflow is None
        self._waiting: queue.SimpleQueue[Put | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    @property
    def takes(self) -> bool:
        """Whether what is put in goes anywhere; nobody need make what does not."""
        return not self._failed

    def begin(self, values: Mapping[str, Any]) -> None:
        """Begin the MLflow run, or go on with that of the folder, and put in what it is. Only the first call counts.

        Called by the thread that entered `tracking`, once the folder is known to be that of this run. Keys, addresses
        and paths are left out; what is there from an earlier sitting stays.
        """
        if self._mlflow is None or self._thread is not None:
            return
        self._thread = threading.Thread(target=self._work, name="videohv-mlflow", daemon=True)
        try:
            earlier = _earlier(self._mlflow, self._folder)
            run = self._mlflow.start_run(run_id=earlier, run_name=None if earlier else self._name)
            self._run_id = run.info.run_id
            self._folder.mkdir(parents=True, exist_ok=True)
            write_whole(self._folder / NAME, json.dumps({"run_id": self._run_id}))
            self._mlflow.tracing.enable()
        except Exception as error:
            self._fail(error)
        self._thread.start()
        self.settings(values)

    def settings(self, values: Mapping[str, Any]) -> None:
        """Put in more of what it is, as `begin`."""
        texts = {name: _text(value) for name, value in values.items() if value not in (None, "", (), [], {})}

        def put(mlflow: Any, run_id: str) -> None:
            there = mlflow.get_run(run_id).data.params
            mlflow.log_params({name: text for name, text in texts.items() if name not in there}, run_id=run_id)

        self._put(put)

    def figures(self, values: Mapping[str, float | None], step: int | None = None) -> None:
        """Put in what came of it, or of a step of it."""
        known = {name: float(value) for name, value in values.items() if value is not None}
        self._put(lambda mlflow, run_id: mlflow.log_metrics(known, step=step, run_id=run_id))

    def file(self, path: Path) -> None:
        """Put in a file, if it is there; it must stay there."""
        if path.is_file():
            self._put(lambda mlflow, run_id: mlflow.log_artifact(str(path), run_id=run_id))

    def text(self, name: str, content: str) -> None:
        """Put in a text as a file of that name."""
        self._put(lambda mlflow, run_id: mlflow.log_text(content, name, run_id=run_id))

    def stopped(self) -> None:
        """Say that it ended before it was done."""
        self._ended = "KILLED"

    def end(self, error: BaseException | None = None) -> None:
        """Put in what is still waiting, as far as that does not take too long, and end the MLflow run."""
        if self._thread is None:
            return
        if error is not None:
            self._ended = "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED"
        self._put(lambda mlflow, run_id: mlflow.flush_trace_async_logging())
        self._waiting.put(None)
        self._thread.join(PATIENCE)
        if self._thread.is_alive():
            self._fail(TimeoutError(f"it did not take what was put in within {PATIENCE:.0f} s"))
        try:
            self._mlflow.end_run(self._ended)
        except Exception as failure:
            self._fail(failure)

    def _put(self, put: Put) -> None:
        if self._thread is not None and not self._failed:
            self._waiting.put(put)

    def _work(self) -> None:
        while (put := self._waiting.get()) is not None:
            if self._failed:
                continue
            try:
                put(self._mlflow, self._run_id)
            except Exception as error:
                self._fail(error)

    def _fail(self, error: BaseException) -> None:
        # A store that is gone must not cost the run.
        if self._failed:
            return
        self._failed = True
        self._mlflow.tracing.disable()
        self._complain(f"MLflow has taken nothing more since: {_short(error)}")


@contextmanager
def tracking(
    uri: str | None, folder: Path, name: str, complain: Callable[[str], None] = lambda why: None
) -> Iterator[Tracker]:
    """Track what happens in the block: DSPy's calls by MLflow's autologging, the rest by the tracker.

    Args:
        uri: Of the store: `sqlite:///FILE`, `http://…`, or a folder, in which a database is made; None tracks nothing.
        folder: As `Tracker`.
        name: As `Tracker`.
        complain: As `Tracker`.

    Raises:
        MissingExtra: Without MLflow.
        InputError: The store cannot be opened.
    """
    if uri is None:
        yield Tracker()
        return
    mlflow = _loaded()
    try:
        _open(mlflow, uri)
    except Exception as error:
        raise InputError(f"--mlflow {_shown(uri)}: it cannot be used ({_short(error)})") from None
    mlflow.tracing.configure(span_processors=[slim])
    mlflow.dspy.autolog(silent=True)
    # Until it is clear which run it is, calls belong to none.
    mlflow.tracing.disable()
    tracker, ended = Tracker(mlflow, folder, name, complain), None
    try:
        with _heard():
            yield tracker
    except BaseException as error:
        ended = error
        raise
    finally:
        mlflow.dspy.autolog(disable=True, silent=True)
        tracker.end(ended)
        mlflow.tracing.configure(span_processors=None)


def _heard() -> AbstractContextManager[None]:
    """Have the block's calls told to MLflow: what autologging sets for the process does not reach into a context."""
    import dspy
    from mlflow.dspy.callback import MlflowCallback

    others = [callback for callback in dspy.settings.callbacks or () if not isinstance(callback, MlflowCallback)]
    made: AbstractContextManager[None] = dspy.context(callbacks=[*others, listener()])
    return made


def _loaded() -> Any:
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    try:
        import mlflow
        import mlflow.dspy
        import sqlalchemy  # noqa: F401  Stores that are databases need it.
    except ImportError as error:
        raise MissingExtra(error.name or "mlflow", "mlflow", "--mlflow") from None
    for noisy in ("mlflow", "alembic"):
        logging.getLogger(noisy).setLevel(logging.ERROR)
    return mlflow


def _open(mlflow: Any, uri: str) -> None:
    """Choose store and experiment."""
    home: Path | None = None
    if not _SCHEME.match(uri) and uri != "databricks":
        home = Path(uri).absolute()
        home.mkdir(parents=True, exist_ok=True)
        uri = f"sqlite:///{home / 'mlflow.db'}"
    elif uri.startswith("sqlite:///"):
        home = Path(uri.removeprefix("sqlite:///")).absolute().parent
    mlflow.set_tracking_uri(uri)
    client = mlflow.MlflowClient()
    if client.get_experiment_by_name(EXPERIMENT) is None:
        # A database says nothing of where files go; beside it they are found.
        client.create_experiment(EXPERIMENT, artifact_location=(home / "artifacts").as_uri() if home else None)
    mlflow.set_experiment(EXPERIMENT)


def _earlier(mlflow: Any, folder: Path) -> str | None:
    """The MLflow run that the folder names, if the store has it."""
    try:
        named = str(json.loads((folder / NAME).read_text(encoding="utf-8"))["run_id"])
        return str(mlflow.MlflowClient().get_run(named).info.run_id)
    except (OSError, ValueError, KeyError, TypeError):
        return None
    except mlflow.exceptions.MlflowException as error:
        if error.error_code == "RESOURCE_DOES_NOT_EXIST":
            return None
        raise


def _text(value: Any) -> str:
    made = publicly(value)
    return str(made if isinstance(made, str | int | float | bool) else json.dumps(made, default=str))[:_LONGEST]


def _short(error: BaseException) -> str:
    return _shown(without_keys(" ".join(str(error).split())))[:300] or type(error).__name__


def _shown(text: str) -> str:
    """The text without the logins that addresses in it may hold."""
    return _LOGIN.sub("//", text)
