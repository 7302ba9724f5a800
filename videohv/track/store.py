"""One MLflow run, and what is put into it. Whatever fails here is said once and hinders nothing."""

from __future__ import annotations

import json
import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

from videohv.compiled.public import publicly
from videohv.data.whole import write_whole
from videohv.errors import InputError, MissingExtra
from videohv.lm.redact import without_keys

EXPERIMENT = "videohv"
NAME = "mlflow.json"
"""File in a run's folder that names its MLflow run, so that a resumed run goes on with it."""

_LONGEST = 500
_PICTURE = re.compile(r"data:[\w.+/-]*;base64,[A-Za-z0-9+/=_-]+")
_SCHEME = re.compile(r"[A-Za-z][\w+.-]*://|databricks")


class Tracker:
    """Puts figures and files into an MLflow run; without one it does nothing.

    Args:
        mlflow: The module, or None.
        complain: Told of the first thing that failed; nothing is put in after that.
    """

    def __init__(self, mlflow: Any = None, complain: Callable[[str], None] = lambda why: None) -> None:
        self._mlflow, self._complain = mlflow, complain

    def settings(self, values: Mapping[str, Any]) -> None:
        """Put in what it is; keys and addresses are left out. What is there from an earlier sitting stays."""
        texts = {name: _text(value) for name, value in values.items() if value not in (None, "", (), [], {})}

        def put(mlflow: Any) -> None:
            there = mlflow.get_run(mlflow.active_run().info.run_id).data.params
            mlflow.log_params({name: text for name, text in texts.items() if name not in there})

        self._try(put)

    def figures(self, values: Mapping[str, float | None], step: int | None = None) -> None:
        """Put in what came of it, or of a step of it."""
        known = {name: float(value) for name, value in values.items() if value is not None}
        self._try(lambda mlflow: mlflow.log_metrics(known, step=step))

    def file(self, path: Path) -> None:
        """Put in a file, if it is there."""
        if path.is_file():
            self._try(lambda mlflow: mlflow.log_artifact(str(path)))

    def text(self, name: str, content: str) -> None:
        """Put in a text as a file of that name."""
        self._try(lambda mlflow: mlflow.log_text(content, name))

    def _try(self, put: Callable[[Any], object]) -> None:
        if self._mlflow is None:
            return
        try:
            put(self._mlflow)
        except Exception as error:
            # A store that is gone must not cost the run.
            self._mlflow = None
            self._complain(f"MLflow has taken nothing more since: {without_keys(_short(error))}")


@contextmanager
def tracking(
    uri: str | None, folder: Path, name: str, complain: Callable[[str], None] = lambda why: None
) -> Iterator[Tracker]:
    """Track what happens in the block: DSPy's calls by MLflow's autologging, the rest by the tracker.

    Args:
        uri: Of the store: `sqlite:///FILE`, `http://…`, or a folder, in which a database is made; None tracks nothing.
        folder: Where it is noted which MLflow run it is; a later call goes on with it.
        name: Of a new MLflow run.
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
        folder.mkdir(parents=True, exist_ok=True)
        before = _opened(mlflow, uri, folder)
        run = mlflow.start_run(run_id=before, run_name=None if before else name)
        write_whole(folder / NAME, json.dumps({"run_id": run.info.run_id}))
    except Exception as error:
        raise InputError(f"--mlflow {_shown(uri)}: it cannot be used ({without_keys(_short(error))})") from None
    ended = "FINISHED"
    mlflow.tracing.configure(span_processors=[_without_secrets])
    mlflow.dspy.autolog(silent=True)
    try:
        with _heard():
            yield Tracker(mlflow, complain)
    except BaseException as error:
        ended = "KILLED" if isinstance(error, KeyboardInterrupt) else "FAILED"
        raise
    finally:
        mlflow.dspy.autolog(disable=True, silent=True)
        try:
            mlflow.flush_trace_async_logging()
            mlflow.end_run(ended)
        except Exception as error:
            complain(f"the MLflow run could not be ended: {without_keys(_short(error))}")
        mlflow.tracing.configure(span_processors=None)


def _heard() -> AbstractContextManager[None]:
    """Have the block's calls told to MLflow: what autologging sets for the process does not reach into a context."""
    import dspy
    from mlflow.dspy.callback import MlflowCallback

    there = dspy.settings.callbacks or []
    heard = any(isinstance(callback, MlflowCallback) for callback in there)
    made: AbstractContextManager[None] = dspy.context(callbacks=[*there, *([] if heard else [MlflowCallback()])])
    return made


def _loaded() -> Any:
    # MLflow reports how it is used unless it is told not to before it is imported.
    os.environ.setdefault("MLFLOW_DISABLE_TELEMETRY", "true")
    os.environ.setdefault("DO_NOT_TRACK", "true")
    try:
        import mlflow
        import mlflow.dspy
        import sqlalchemy  # noqa: F401  Stores that are databases need it.
    except ImportError as error:
        raise MissingExtra(error.name or "mlflow", "mlflow", "--mlflow") from None
    for noisy in ("mlflow", "alembic"):
        logging.getLogger(noisy).setLevel(logging.ERROR)
    return mlflow


def _opened(mlflow: Any, uri: str, folder: Path) -> str | None:
    """Choose store and experiment. Returns the MLflow run that the folder names, if the store has it."""
    home: Path | None = None
    if not _SCHEME.match(uri):
        home = Path(uri).absolute()
        home.mkdir(parents=True, exist_ok=True)
        uri = f"sqlite:///{home / 'mlflow.db'}"
    elif uri.startswith("sqlite:///"):
        home = Path(uri.removeprefix("sqlite:///")).absolute().parent
    mlflow.set_tracking_uri(uri)
    client = mlflow.MlflowClient()
    found = client.get_experiment_by_name(EXPERIMENT)
    if found is None:
        # A database says nothing of where files go; beside it they are found.
        client.create_experiment(EXPERIMENT, artifact_location=(home / "artifacts").as_uri() if home else None)
    mlflow.set_experiment(EXPERIMENT)
    try:
        named = str(json.loads((folder / NAME).read_text(encoding="utf-8"))["run_id"])
        return str(client.get_run(named).info.run_id)
    except (OSError, ValueError, KeyError, TypeError, mlflow.exceptions.MlflowException):
        return None


def _without_secrets(span: Any) -> None:
    """Take keys and the bytes of pictures out of what is traced."""
    for get, put in (("inputs", span.set_inputs), ("outputs", span.set_outputs)):
        put(_cleaned(getattr(span, get)))
    for name, value in list(span.attributes.items()):
        if not name.startswith("mlflow.span"):
            span.set_attribute(name, _cleaned(value))


def _cleaned(value: Any) -> Any:
    if isinstance(value, str):
        return without_keys(_PICTURE.sub("[picture]", value))
    if isinstance(value, Mapping):
        return {key: "[key]" if "api_key" in str(key) else _cleaned(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_cleaned(item) for item in value]
    if value is None or isinstance(value, bool | int | float):
        return value
    return _cleaned(str(value))


def _text(value: Any) -> str:
    made = publicly(value)
    return str(made if isinstance(made, str | int | float | bool) else json.dumps(made, default=str))[:_LONGEST]


def _short(error: BaseException) -> str:
    return " ".join(str(error).split())[:300] or type(error).__name__


def _shown(uri: str) -> str:
    """A URI without the login that it may hold."""
    return re.sub(r"//[^/@]*@", "//", uri)
