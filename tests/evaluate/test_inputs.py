from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from tests.support.published import put
from videohv.errors import InputError, VideoHVError
from videohv.evaluate.inputs import Inputs
from videohv.evaluate.jobs import Job
from videohv.types import Question

JOB = Job(Question(id="q", video="v", text="What?", options=("a", "b")))


def times(inputs: Inputs) -> list[float]:
    captions = inputs.of(JOB).captions
    assert captions is not None
    return [caption.time for caption in captions]


def test_every_nth_published_caption_is_given_at_its_own_time(tmp_path: Path) -> None:
    inputs = Inputs(put(tmp_path / "c.json", {"v": [f"number {i}" for i in range(7)]}), None)
    assert times(inputs) == [0, 1, 2, 3, 4, 5, 6]
    third = inputs.strided(3)
    assert times(third) == [0, 3, 6]
    assert times(Inputs(tmp_path / "c.json", None, stride=9)) == [0]
    assert (inputs.stride, third.stride, third.captions_hash) == (1, 3, inputs.captions_hash)
    assert third.ready() is inputs.ready()


def test_a_decoder_that_is_not_there_is_said_before_the_first_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(InputError, match="no decoder named 'cv2'"):
        Inputs(None, tmp_path, decoder="cv2")
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(VideoHVError, match="decord"):
        Inputs(None, tmp_path, decoder="decord")
