"""VideoHV: the hypothesis–verification program ("Think, Then Verify", arXiv 2603.04977) as a DSPy module."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from videohv.modules.answer import Answer
from videohv.modules.judge import Judge
from videohv.modules.loop import Loop
from videohv.modules.methods import method
from videohv.modules.program import VideoProgram
from videohv.modules.recorder import Recorder
from videohv.modules.settings import LoopSettings, MethodSettings
from videohv.modules.summary import Summary
from videohv.modules.thinker import Thinker
from videohv.modules.timeline import Timeline
from videohv.modules.verifier import Verifier
from videohv.types import Answer as Decision
from videohv.video import Video


@method("videohv")
class VideoHV(VideoProgram):
    """Answers a multiple-choice question about a video, with the evidence.

    First it thinks what would have to be visible for each option to hold, then it looks exactly there and checks;
    VERIFIED, PARTIAL and NOT_VERIFIED decide whether it answers, looks again or thinks again.

    Its settings are `LoopSettings`; single ones may be given by name: `VideoHV(rounds=1)`,
    `VideoHV(without=["clue"])`. What is switched off keeps its agents, so that a compiled program fits every ablation.
    The rest is as for `VideoProgram`.
    """

    settings_type: ClassVar[type[MethodSettings]] = LoopSettings

    settings: LoopSettings

    def __init__(
        self,
        settings: MethodSettings | None = None,
        *,
        captioner: str = "auto",
        store: Path | None = None,
        **changes: Any,
    ) -> None:
        super().__init__(settings, captioner=captioner, store=store, **changes)
        self.summary = Summary()
        self.thinker = Thinker()
        self.judge = Judge()
        self.verifier = Verifier()
        self.answer = Answer()

    def reason(self, recorder: Recorder, timeline: Timeline, video: Video | None) -> Decision:
        """Summary, rounds, answer; see `videohv.modules.loop`."""
        return Loop(self, recorder, timeline, video).run()
