"""One run of the hypothesis–verification loop: rounds of drafting and testing, each step recorded as it ends.

What an ablation switches off is left out here, at the one place where it would be done; see `Part`. It leaves no entry
among what the question had to go without: the settings in the trace say it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from videohv.modules.ask import StepFailed
from videohv.modules.attempt import attempt
from videohv.modules.looking import captions_at
from videohv.modules.recorder import EventKind, Recorder
from videohv.modules.render import clue_text
from videohv.modules.settings import LoopSettings, Part
from videohv.modules.thinker import own_text
from videohv.modules.timeline import Timeline
from videohv.types import Answer, Clue, Draft, Evidence, Hypothesis, Mode, Outcome, Quality, Status, Window
from videohv.video import Video

if TYPE_CHECKING:
    from videohv.modules.videohv import VideoHV


@dataclass
class Loop:
    """The state of one question while it runs.

    Args:
        agents: The program whose agents are asked.
        recorder: Where everything that happens goes.
        timeline: The frame captions.
        video: Whose frames are looked at; None if there are only captions.
    """

    agents: VideoHV
    recorder: Recorder
    timeline: Timeline
    video: Video | None

    @property
    def settings(self) -> LoopSettings:
        """The program's."""
        return self.agents.settings

    def run(self) -> Answer:
        """Summary, rounds, answer.

        Raises:
            StepFailed: If the answer failed for good, there was nothing to reason from, or no later call could succeed.
        """
        recorder = self.recorder
        if not recorder.summary:
            # Options that were proposed were so from a summary, which is then there.
            summary = attempt(recorder, lambda: self.agents.summary(self.timeline, recorder.question, self.settings))
            recorder.summary = summary or ()
            recorder.emit(EventKind.SUMMARY, recorder.summary)
        self._rounds()
        if not recorder.summary and not recorder.evidence:
            raise StepFailed("answer", Outcome.PARSE_FAILED, "neither a summary nor any evidence could be had")
        answer: Answer = self.agents.answer(
            recorder.question,
            recorder.summary,
            recorder.rounds,
            recorder.evidence,
            recorder.status,
            self.settings.may_abstain,
        )
        return answer

    def _rounds(self) -> None:
        """The outer loop: think, test, and think again more narrowly while the evidence does not decide."""
        mode, feedback = Mode.INITIAL, ""
        for _ in range(self.settings.rounds if self._can_think_again() else 1):
            self.recorder.begin_round()
            draft = self._draft(mode, feedback)
            self._test(draft)
            looks = self.recorder.rounds[-1].looks
            check = looks[-1].check if looks else None
            if check is None or check.status is not Status.NOT_VERIFIED:
                return
            mode = Mode.SPECIFICITY
            feedback = f"Looked for: {clue_text(draft.clue)}\nFound: {check.rationale}"

    def _can_think_again(self) -> bool:
        """Whether another round could bring anything new: with neither Thinker nor Judge it would be the same again."""
        thinks = self.settings.has(Part.HYPOTHESES) or self.settings.has(Part.CLUE)
        return thinks and self.settings.has(Part.REFINEMENT)

    def _draft(self, mode: Mode, feedback: str) -> Draft:
        """Hypotheses and a clue that tells them apart; overlapping ones are made anew, and the clue with them."""
        rounds, question = self.recorder.rounds, self.recorder.question
        if len(rounds) > 1:
            standing, earlier = rounds[-2].hypotheses, rounds[-2].clue
        else:
            standing, earlier = tuple(own_text(question, i) for i in range(len(question.options))), None
        draft = self._judged(mode, feedback, standing, earlier)
        refines = self.settings.has(Part.REFINEMENT) and self.settings.has(Part.HYPOTHESES)
        for _ in range(self.settings.regenerations if refines else 0):
            if draft.quality is not Quality.OVERLAPPING:
                break
            feedback = f"They overlap: {draft.critique}\nClue that did not serve: {clue_text(draft.clue)}"
            draft = self._judged(Mode.DISCRIMINABILITY, feedback, draft.hypotheses, draft.clue)
        return draft

    def _judged(self, mode: Mode, feedback: str, standing: tuple[Hypothesis, ...], earlier: Clue | None) -> Draft:
        """New hypotheses (or those that stand, if none come) and the clue that the Judge makes for them."""
        recorder, question, summary = self.recorder, self.recorder.question, self.recorder.summary
        hypotheses, judged = standing, None
        if self.settings.has(Part.HYPOTHESES):
            prune_below = self.settings.prune_below
            thinker = self.agents.thinker
            hypotheses = attempt(recorder, lambda: thinker(question, summary, mode, feedback, prune_below)) or standing
        if self.settings.has(Part.CLUE):
            tested = _tested(hypotheses)
            judged = attempt(recorder, lambda: self.agents.judge(question, tested, summary, earlier))
        # Without a Judge the question itself says what to look for: an older clue belongs to other hypotheses.
        clue, quality, critique = judged or (Clue(observation=question.text), None, "")
        draft = Draft(mode=mode, hypotheses=hypotheses, clue=clue, quality=quality, critique=critique)
        recorder.add_draft(draft)
        return draft

    def _test(self, draft: Draft) -> None:
        """The inner loop: look where the clue could be seen, check, and look again while something named is missing."""
        recorder, settings, verifier = self.recorder, self.settings, self.agents.verifier
        clue = draft.clue or Clue(observation=recorder.question.text)
        tested, end = _tested(draft.hypotheses), self.timeline.duration
        windows = attempt(recorder, lambda: verifier.windows(clue, self.timeline, settings))
        if not windows:
            if windows is not None:
                recorder.degrade("verifier.locate", "no window was named; the whole video was looked at")
            windows = (Window(start=0.0, end=end),)
        for _ in range(settings.looks if settings.has(Part.REFINEMENT) else 1):
            recorder.begin_look(windows)
            recorder.add_evidence(self._collect(windows, clue))
            if not recorder.evidence:
                recorder.degrade("verifier.look", "nothing was seen in any window")
                return
            if not settings.has(Part.STATUS):
                return
            check = attempt(
                recorder,
                lambda: verifier.verify(recorder.question, clue, tested, recorder.evidence, end, settings),
            )
            if check is None:
                return
            recorder.add_check(check)
            if check.status is not Status.PARTIAL or not check.wanted:
                return
            windows = check.wanted

    def _collect(self, windows: tuple[Window, ...], clue: Clue) -> tuple[Evidence, ...]:
        if not self.settings.has(Part.FRAMES):
            return captions_at(windows, self.timeline)
        evidence: tuple[Evidence, ...] = self.agents.verifier.collect(
            windows, clue, self.timeline, self.video, self.settings
        )
        return evidence


def _tested(hypotheses: tuple[Hypothesis, ...]) -> tuple[Hypothesis, ...]:
    return tuple(h for h in hypotheses if not h.pruned)
