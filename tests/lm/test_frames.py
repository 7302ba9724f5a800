from __future__ import annotations

from collections.abc import Iterator

import dspy
import pytest

from videohv.api import configure
from videohv.lm import make_lm
from videohv.lm.frames import PRESETS, SETTING, limiting, limits_of
from videohv.types import FrameLimits


@pytest.fixture(autouse=True)
def nothing_configured() -> Iterator[None]:
    yield
    dspy.configure(**{SETTING: None})


def test_the_limits_are_those_of_the_models_provider(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x")
    assert limits_of(make_lm("anthropic/claude-sonnet-4-5")) is PRESETS["anthropic"]
    assert limits_of(make_lm("ollama/qwen3-vl")) == FrameLimits()
    assert limits_of(dspy.LM("groq/some-model")) is PRESETS["groq"]
    assert limits_of(dspy.LM("nobody/knows")) == FrameLimits()
    assert limits_of() == FrameLimits()


def test_presets_bound_requests_and_leave_the_size_of_frames_alone() -> None:
    usual = FrameLimits()
    for name, preset in PRESETS.items():
        changed = {field for field in FrameLimits.model_fields if getattr(preset, field) != getattr(usual, field)}
        assert changed <= {"request_bytes", "images"}, name
        # Five frames, the most that a look has, go into any request at their usual size.
        assert 5 * usual.frame_bytes * 4 / 3 < preset.request_bytes, name
    assert PRESETS["groq"].request_bytes < 4_000_000
    assert PRESETS["anthropic"].request_bytes < 32_000_000


def test_what_is_configured_counts_for_every_provider() -> None:
    mine = FrameLimits(short_side=224, request_bytes=1_000_000)
    configure(frame_limits=mine)
    assert limits_of() == mine
    assert limits_of(dspy.LM("groq/some-model")) == mine
    configure()
    assert limits_of() == mine, "what is not given stays as it is"


def test_another_short_side_leaves_the_requests_bounds() -> None:
    groq = dspy.LM("groq/some-model")
    with limiting(896):
        assert limits_of(groq).short_side == 896
        assert limits_of(groq).long_side == 2048
        assert limits_of(groq).request_bytes == PRESETS["groq"].request_bytes
        with limiting(None):
            assert limits_of(groq).short_side == 896
    assert limits_of(groq) == PRESETS["groq"]
