"""The prompts of every agent, one file each, and nowhere else.

Each file holds the `dspy.Signature` of one agent and the small pydantic shapes that it asks the model for. The shapes
are lenient where models are sloppy (times as `1:05`, plausibilities as percentages); `videohv.modules` turns them
into the strict values of `videohv.types`.
"""

from videohv.signatures.answer import Decide
from videohv.signatures.captioner import Describe
from videohv.signatures.from_captions import AnswerFromCaptions
from videohv.signatures.from_frames import AnswerFromFrames
from videohv.signatures.judge import Judge
from videohv.signatures.options import ProposeOptions
from videohv.signatures.retrieval import AnswerFromMoments, Seek
from videohv.signatures.summary import Summarize
from videohv.signatures.thinker import Hypothesize
from videohv.signatures.verifier import Check, Locate, Look

__all__ = [
    "AnswerFromCaptions",
    "AnswerFromFrames",
    "AnswerFromMoments",
    "Check",
    "Decide",
    "Describe",
    "Hypothesize",
    "Judge",
    "Locate",
    "Look",
    "ProposeOptions",
    "Seek",
    "Summarize",
]
