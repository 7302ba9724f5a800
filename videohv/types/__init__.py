"""The values that travel between the parts of videohv: frozen, validated, and the same in memory as in JSON.

Times and durations are seconds from the first shown frame of the video. Options are counted from 0; letters (`A`,
`B`, …) are only how they are shown to a model. Nothing here does more than validate and format.
"""

from videohv.types.base import (
    MAX_OPTIONS,
    MIN_OPTIONS,
    REPLY_ITEMS,
    Mode,
    Outcome,
    Quality,
    Seconds,
    Share,
    Source,
    Status,
    Support,
    Value,
    clock,
    letter,
    whole,
)
from videohv.types.limits import FrameLimits
from videohv.types.measured import Estimate, Model
from videohv.types.question import Question
from videohv.types.reasoning import (
    Answer,
    Check,
    Clue,
    Draft,
    Evidence,
    Hypothesis,
    Observation,
    Prediction,
    Verdict,
)
from videohv.types.trace import Degradation, Look, RoleUsage, Round, Trace
from videohv.types.video import Caption, CaptionInfo, Segment, VideoInfo, Window

__all__ = [
    "MAX_OPTIONS",
    "MIN_OPTIONS",
    "REPLY_ITEMS",
    "Answer",
    "Caption",
    "CaptionInfo",
    "Check",
    "Clue",
    "Degradation",
    "Draft",
    "Estimate",
    "Evidence",
    "FrameLimits",
    "Hypothesis",
    "Look",
    "Mode",
    "Model",
    "Observation",
    "Outcome",
    "Prediction",
    "Quality",
    "Question",
    "RoleUsage",
    "Round",
    "Seconds",
    "Segment",
    "Share",
    "Source",
    "Status",
    "Support",
    "Trace",
    "Value",
    "Verdict",
    "VideoInfo",
    "Window",
    "clock",
    "letter",
    "whole",
]
