"""Examples: what a program is called with, light enough for whatever DSPy does to them."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import dspy
import pytest

from tests.support.benchmark import make_benchmark
from tests.support.learning import CAPTIONS, asked
from videohv.data.registry import load_questions
from videohv.errors import InputError
from videohv.evaluate.inputs import Inputs
from videohv.evaluate.jobs import Job
from videohv.modules.methods import make_method
from videohv.optimize.learner.examples import SharedCaptions, examples_of
from videohv.types import Caption, Question


def benchmark(tmp_path: Path) -> tuple[dspy.Example, ...]:
    root, captions = make_benchmark(tmp_path, 4)
    questions = load_questions("egoschema:subset", data_root=root).questions
    return examples_of([Job(question) for question in questions], Inputs(captions, None))


def test_they_are_what_the_program_is_called_with(tmp_path: Path) -> None:
    examples = benchmark(tmp_path)
    assert [set(example.inputs().keys()) for example in examples] == [{"question", "captions"}] * 4
    with asked() as engine:
        prediction = make_method("captions")(**examples[2].inputs())
    assert prediction.trace.captions.count == 12
    assert "[11s] C moves tool 11, q0002" in engine.requests[0].inputs["captions"]


def test_the_right_option_is_with_the_question(tmp_path: Path) -> None:
    assert [example.question.answer_index for example in benchmark(tmp_path)] == [0, 1, 2, 3]


def test_captions_of_one_video_are_there_once() -> None:
    class Counting(Inputs):
        def __init__(self) -> None:
            super().__init__(None, None)
            self.asked: list[str] = []

        def of(self, job: Job):  # type: ignore[no-untyped-def]
            self.asked.append(job.question.video)
            return super().of(job)._replace(captions=CAPTIONS)

    inputs = Counting()
    jobs = [Job(Question(text=f"{n}?", options=("a", "b"), id=str(n), video=v)) for n, v in enumerate("xxyx")]
    one, two, three, four = examples_of(jobs, inputs)
    assert inputs.asked == ["x", "y"]
    assert one.captions is two.captions is four.captions
    assert three.captions is not one.captions


def test_copies_prints_hashes_and_dumps_stay_small() -> None:
    captions = SharedCaptions.of(CAPTIONS, "v1")
    example = dspy.Example(question=Question(text="?", options=("a", "b")), captions=captions).with_inputs("question")
    assert copy.deepcopy(example).captions is captions
    assert copy.copy(captions) is captions
    assert repr(captions) == "<24 captions of v1>"
    assert "tool" not in repr(example)
    assert example.toDict()["captions"] == "<24 captions of v1>"
    assert hash(example) == hash(copy.deepcopy(example))
    assert example == copy.deepcopy(example)
    assert captions == CAPTIONS
    back = pickle.loads(pickle.dumps(captions))
    assert (back, back.about) == (captions, "v1")


def test_speech_goes_along() -> None:
    job = Job(Question(text="?", options=("a", "b"), id="q", video="v"), speech=(Caption(time=1.0, text="hello"),))
    (example,) = examples_of([job], Inputs(None, None))
    assert set(example.inputs().keys()) == {"question", "speech"}
    with asked() as engine:
        make_method("captions")(**example.inputs())
    assert "hello" in engine.requests[0].inputs["captions"]


def test_a_question_with_nothing_to_answer_from_is_named() -> None:
    with pytest.raises(InputError, match=r"question 'q7'.*--captions was not given"):
        examples_of([Job(Question(text="?", options=("a", "b"), id="q7", video="v"))], Inputs(None, None))


def test_unreadable_captions_are_named_with_their_question(tmp_path: Path) -> None:
    job = Job(Question(text="?", options=("a", "b"), id="q7", video="v"))
    (tmp_path / "captions.json").write_text('{"v": [{"no": "text"}]}', encoding="utf-8")
    with pytest.raises(InputError, match="question 'q7'"):
        examples_of([job], Inputs(tmp_path / "captions.json", None))
