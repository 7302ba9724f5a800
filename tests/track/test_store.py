"""Runs and compiles in a real MLflow store, read back with MLflow's own client."""

from __future__ import annotations

import importlib.util
import json
import shutil
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.benchmark import make_benchmark, steady
from tests.support.compiling import teachable
from tests.support.server import FakeServer, Request
from videohv.cli import run
from videohv.errors import InputError, MissingExtra
from videohv.track import store, tracking
from videohv.track.spans import cleaned

# MLflow is imported by the tests themselves: it takes seconds, also of those who only look for tests.
pytestmark = pytest.mark.skipif(importlib.util.find_spec("mlflow") is None, reason="MLflow is not installed")

KEY = "sk-planted-0123456789abcdef"


@pytest.fixture(autouse=True)
def clean_mlflow() -> Iterator[None]:
    import mlflow

    yield
    while mlflow.active_run() is not None:
        mlflow.end_run()


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with MLflow's tables and nothing in them: making these takes longer than a whole test."""
    import mlflow

    made = tmp_path_factory.mktemp("tables") / "mlflow.db"
    mlflow.MlflowClient(tracking_uri=f"sqlite:///{made}").search_experiments()
    return made


@pytest.fixture
def home(tables: Path, tmp_path: Path) -> Path:
    """A store without a run."""
    made = tmp_path / "s"
    made.mkdir()
    shutil.copy(tables, made / "mlflow.db")
    return made


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(steady) as opened:
        yield opened


def command(folder: Path, server: FakeServer, *more: str, uri: str = "") -> list[str]:
    if not (folder / "egoschema").exists():
        make_benchmark(folder, 6)
    return [
        *("eval", "egoschema:subset", "--data-root", str(folder), "--captions", str(folder / "captions.json")),
        *("--lm", server.spec(key_env="PLANTED_KEY"), "--set", "rounds=1", "--out", str(folder / "run")),
        *("--no-cache", "--mlflow", uri or str(folder / "store"), *more),
    ]


def the_run(uri: str) -> Any:
    import mlflow

    client = mlflow.MlflowClient(tracking_uri=uri)
    experiment = client.get_experiment_by_name("videohv")
    (found,) = client.search_runs([experiment.experiment_id])
    return client, found


def test_a_run_is_there_with_its_settings_figures_and_files(
    tmp_path: Path, server: FakeServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PLANTED_KEY", KEY)
    assert run(command(tmp_path, server, "--limit", "4")) == 0
    uri = f"sqlite:///{tmp_path / 'store' / 'mlflow.db'}"
    client, found = the_run(uri)
    assert found.info.status == "FINISHED"
    params, metrics = found.data.params, found.data.metrics
    assert (params["benchmark"], params["method"], params["setting.rounds"]) == ("egoschema:subset", "videohv", "1")
    assert params["model.judge"] == "openai-compatible/fake-model"
    for name in ("accuracy.strict", "accuracy.strict.low", "accuracy.answered", "failed", "mean.calls", "total.calls"):
        assert name in metrics, sorted(metrics)
    assert metrics["finished"] == 4
    assert len(client.get_metric_history(found.info.run_id, "running.calls")) == 5
    assert {file.path for file in client.list_artifacts(found.info.run_id)} == {
        *("manifest.json", "results.txt", "report.html")
    }
    traces = client.search_traces(locations=[found.info.experiment_id], run_id=found.info.run_id)
    assert len(traces) == 4
    (called, *_) = [span for span in traces[0].data.spans if span.span_type == "CHAT_MODEL"]
    assert called.inputs["messages"]
    assert called.outputs
    assert json.loads((tmp_path / "run" / "mlflow.json").read_text())["run_id"] == found.info.run_id
    for path in (tmp_path / "store").rglob("*"):
        if path.is_file():
            content = path.read_bytes()
            assert KEY.encode() not in content, path
            assert server.address.encode() not in content, path
    # Going on with a run goes on with its MLflow run.
    assert run(command(tmp_path, server, "--limit", "4")) == 0
    assert the_run(uri)[1].info.run_id == found.info.run_id
    # What is refused changes nothing in it.
    assert run(command(tmp_path, server, "--limit", "3")) == 2
    assert the_run(uri)[1].info.status == "FINISHED"


@pytest.mark.slow
def test_a_compile_is_there_with_its_trials_and_its_artifact(tmp_path: Path) -> None:
    def answer(request: Request) -> Any:
        return teachable(request)

    with FakeServer(answer) as server:
        make_benchmark(tmp_path, 24, moments=6)
        out = tmp_path / "best.json"
        words = [
            *("compile", "egoschema:subset", "--optimizer", "planned", "--out", str(out), "--yes"),
            *("--data-root", str(tmp_path), "--captions", str(tmp_path / "captions.json"), "--lm", server.spec()),
            *("--train", "3", "--dev", "2", "--test", "4", "--setting", "rounds=1", "--setting", "workers=1"),
            *("--concurrency", "2", "--mlflow", f"sqlite:///{tmp_path / 'm.db'}"),
        ]
        # Nobody agreed to it, so nothing was begun.
        assert run([word for word in words if word != "--yes"]) == 2
        assert run(words) == 0
        # What is done already is tracked as the same run.
        assert run(words) == 0
    client, found = the_run(f"sqlite:///{tmp_path / 'm.db'}")
    for name, value in (("optimizer", "planned"), ("questions.test", "4"), ("setting.rounds", "1"), ("seed", "0")):
        assert found.data.params[name] == value
    assert found.data.params["model.answer"] == "openai-compatible/fake-model"
    assert found.data.params["data_hash"]
    assert found.data.metrics["compiled"] == 1.0
    assert found.data.metrics["difference"] == found.data.metrics["compiled"] - found.data.metrics["seed"]
    assert client.get_metric_history(found.info.run_id, "trial.score")
    assert {file.path for file in client.list_artifacts(found.info.run_id)} == {"best.json", "best.md"}


def test_a_run_that_fails_is_said_to_have_failed(tmp_path: Path, home: Path) -> None:
    def fail() -> None:
        with tracking(str(home), tmp_path, "x") as tracker:
            tracker.begin({"a": 1, "path": "/somewhere/else/film.mp4", "url": "http://user:pw@host/x"})
            raise InputError("wrong")

    with pytest.raises(InputError, match="wrong"):
        fail()
    _, found = the_run(f"sqlite:///{home / 'mlflow.db'}")
    assert found.info.status == "FAILED"
    assert found.data.params == {"a": "1", "path": "film.mp4", "url": "[address]"}


def test_a_store_that_breaks_is_said_once_and_hinders_nothing(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[str] = []
    with tracking(str(home), tmp_path, "x", said.append) as tracker:
        tracker.begin({})
        tracker.figures({"a": 1.0, "unknown": None})
        monkeypatch.setattr("mlflow.log_metrics", lambda *_, **__: (_ for _ in ()).throw(OSError("the disk is full")))
        tracker.figures({"a": 2.0})
        tracker.figures({"a": 3.0})
        tracker.file(tmp_path / "mlflow.json")
    assert said == ["MLflow has taken nothing more since: the disk is full"]


def test_other_threads_put_into_the_same_run(tmp_path: Path, home: Path) -> None:
    with tracking(str(home), tmp_path, "x") as tracker:
        tracker.begin({})
        other = threading.Thread(target=tracker.figures, args=({"a": 2.0},))
        other.start()
        other.join()
    assert the_run(f"sqlite:///{home / 'mlflow.db'}")[1].data.metrics == {"a": 2.0}


def test_what_never_began_is_not_there(tmp_path: Path, home: Path) -> None:
    import mlflow

    with tracking(str(home), tmp_path / "run", "x") as tracker:
        tracker.figures({"a": 1.0})
    assert not (tmp_path / "run").exists()
    client = mlflow.MlflowClient(tracking_uri=f"sqlite:///{home / 'mlflow.db'}")
    assert client.search_runs([one.experiment_id for one in client.search_experiments()]) == []


def test_what_ended_early_is_said_to_be_so(tmp_path: Path, home: Path) -> None:
    with tracking(str(home), tmp_path, "x") as tracker:
        tracker.begin({})
        tracker.stopped()
    assert the_run(f"sqlite:///{home / 'mlflow.db'}")[1].info.status == "KILLED"


def test_a_run_never_waits_for_a_store_that_hangs(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    hanging = threading.Event()
    monkeypatch.setattr(store, "PATIENCE", 0.2)
    monkeypatch.setattr("mlflow.log_metrics", lambda *_, **__: hanging.wait(60))
    with tracking(str(home), tmp_path, "x", said.append) as tracker:
        tracker.begin({})
        tracker.figures({"a": 1.0})
        tracker.figures({"a": 2.0})
        assert not said
    hanging.set()
    assert len(said) == 1
    assert "did not take" in said[0]


def test_a_login_is_not_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MLFLOW_HTTP_REQUEST_MAX_RETRIES", "0")
    with pytest.raises(InputError) as raised, tracking("http://me:hunter2pw@127.0.0.1:9", tmp_path, "x"):
        pass
    assert "hunter2pw" not in str(raised.value)


def test_a_store_that_cannot_be_opened_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(InputError, match="cannot be used"), tracking(str(tmp_path / "file"), tmp_path, "x"):
        pass


def test_without_mlflow_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "mlflow", None)
    with pytest.raises(MissingExtra, match="mlflow"), tracking(str(tmp_path), tmp_path, "x"):
        pass


def test_pictures_and_keys_are_taken_out_of_what_is_traced() -> None:
    value = {"api_key": KEY, "a": [f"see data:image/jpeg;base64,{'A' * 5_000} here", 3, None, True], "b": object}
    made = cleaned(value)
    assert made["api_key"] == "[key]"
    assert made["a"][:2] == ["see [picture] here", 3]
    assert cleaned([*range(100)])[-2:] == [39, "… 100 items"]
    assert cleaned("x" * 30_000).endswith("x… 30,000 characters")
    assert KEY not in cleaned("x" * 19_990 + " " + KEY)


def test_nothing_happens_unasked(tmp_path: Path) -> None:
    with tracking(None, tmp_path, "x") as tracker:
        tracker.settings({"a": 1})
        tracker.figures({"a": 1.0})
        tracker.file(tmp_path / "none")
    assert list(tmp_path.iterdir()) == [tmp_path / "videohv-cache"] or not list(tmp_path.iterdir())
