"""`run_benchmark`: any program with the models that are configured, and what it is asked with."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import dspy
import pytest

from tests.support.benchmark import make_benchmark
from tests.support.clips import make_clip
from tests.support.engine import FakeEngine, fake_lm
from videohv import VideoHV
from videohv.data import load_questions
from videohv.errors import InputError
from videohv.evaluate import read_manifest, run_benchmark
from videohv.evaluate.answerer import Answerer
from videohv.evaluate.inputs import Inputs
from videohv.evaluate.jobs import Job
from videohv.evaluate.limits import Limits
from videohv.types import Caption, Outcome, Question, Trace

ASKED = Question(id="q", video="v1", text="Which?", options=("a", "b"), answer_index=0)


def ask(program: Any, inputs: Inputs, job: Job, limits: Limits | None = None) -> tuple[Trace, FakeEngine]:
    lm, engine = fake_lm()
    with dspy.context(lm=lm):
        return Answerer(program, inputs, limits or Limits())(job), engine


def captions(folder: Path, **videos: list[str]) -> Path:
    (folder / "captions.json").write_text(json.dumps(videos))
    return folder / "captions.json"


def test_a_program_is_asked_a_dataset(tmp_path: Path) -> None:
    root, texts = make_benchmark(tmp_path / "data", 4)
    lm, engine = fake_lm()
    dataset = load_questions("egoschema:subset", data_root=root)
    with dspy.context(lm=lm):
        ending = run_benchmark(VideoHV(rounds=1), dataset, tmp_path / "run", captions=texts, concurrency=2)
        again = run_benchmark(VideoHV(rounds=1), dataset, tmp_path / "run", captions=texts, concurrency=2)
    assert [row.right for row in ending.rows] == [True, False, False, False]
    assert again.asked == 0
    assert sum(row.calls for row in ending.rows) == len(engine.requests)
    manifest = read_manifest(tmp_path / "run")
    assert (manifest.method, manifest.settings["rounds"]) == ("videohv", 1)
    assert "workers" not in manifest.settings
    judge = next(model for model in manifest.models if model.role == "judge")
    assert judge.name == "fake/model"


def test_another_prompt_is_another_run(tmp_path: Path) -> None:
    root, texts = make_benchmark(tmp_path / "data", 2)
    dataset = load_questions("egoschema:subset", data_root=root)
    lm, _ = fake_lm()
    changed = VideoHV()
    changed.judge.predict.signature = changed.judge.predict.signature.with_instructions("Be quick.")
    with dspy.context(lm=lm):
        run_benchmark(VideoHV(), dataset, tmp_path / "run", captions=texts)
        with pytest.raises(InputError, match="program_hash"):
            run_benchmark(changed, dataset, tmp_path / "run", captions=texts)


def test_a_video_is_found_by_any_of_its_names(tmp_path: Path) -> None:
    inputs = Inputs(captions(tmp_path, youtube1=["x", "y"]), None)
    trace, _ = ask(VideoHV(rounds=1), inputs, Job(ASKED, names=("youtube1",)))
    assert trace.outcome is Outcome.ANSWERED
    assert trace.captions is not None
    assert trace.captions.count == 2


def test_what_is_said_is_among_the_captions(tmp_path: Path) -> None:
    inputs = Inputs(captions(tmp_path, v1=["walks", "sits"]), None)
    said = (Caption(time=0.5, text='Speech: "hello"'),)
    trace, engine = ask(VideoHV(rounds=1), inputs, Job(ASKED, speech=said))
    shown = engine.of("locate")[0].inputs["captions"]
    assert shown.index("walks") < shown.index("hello") < shown.index("sits")
    assert trace.outcome is Outcome.ANSWERED


def test_nothing_of_the_video_is_missing_input(tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    inputs = Inputs(captions(tmp_path, v2=["x"]), tmp_path / "videos")
    trace, engine = ask(VideoHV(), inputs, Job(ASKED))
    assert trace.outcome is Outcome.MISSING_INPUT
    assert trace.error == (
        "there is nothing to answer from: of the video 'v1', "
        "--captions has nothing of it and --videos has nothing of it"
    )
    assert engine.requests == []


def test_a_broken_video_and_broken_captions_are_missing_input(tmp_path: Path) -> None:
    (tmp_path / "videos").mkdir()
    (tmp_path / "videos" / "v1.mp4").write_bytes(b"no video")
    trace, _ = ask(VideoHV(), Inputs(None, tmp_path / "videos"), Job(ASKED))
    assert trace.outcome is Outcome.MISSING_INPUT
    assert "v1.mp4" in trace.error
    (tmp_path / "captions.json").write_text(json.dumps({"v1": [1, 2]}))
    trace, _ = ask(VideoHV(), Inputs(tmp_path / "captions.json", None), Job(ASKED))
    assert trace.outcome is Outcome.MISSING_INPUT
    assert "v1" in trace.error


def test_a_video_file_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "videos" / "deep").mkdir(parents=True)
    make_clip(tmp_path / "videos" / "deep" / "v1.mp4", frames=60, fps=10.0)
    inputs = Inputs(captions(tmp_path, v1=["x"] * 6), tmp_path / "videos")
    trace, engine = ask(VideoHV(rounds=1), inputs, Job(ASKED))
    assert trace.video is not None
    assert max(seen.images for seen in engine.of("look")) <= 5


def test_a_question_stops_at_its_limit_with_what_it_has(tmp_path: Path) -> None:
    inputs = Inputs(captions(tmp_path, v1=["x"] * 8), None)
    trace, engine = ask(VideoHV(), inputs, Job(ASKED), Limits.parse("calls=3"))
    assert trace.outcome is Outcome.OVER_BUDGET
    assert len(engine.requests) == 3
    assert trace.summary
    assert trace.answer is None


@pytest.mark.parametrize("text", ["calls", "calls=-1", "calls=x", "pounds=3", "tokens=0"])
def test_limits_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="limits of a question"):
        Limits.parse(text)


def test_limits() -> None:
    assert Limits.parse(" calls=40, cost=0.5") == Limits(calls=40, cost=0.5)
    assert Limits.parse("") == Limits()
