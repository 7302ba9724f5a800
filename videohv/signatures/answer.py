"""Answer: weigh every option against the evidence and decide."""

from __future__ import annotations

import dspy

from videohv.signatures.fields import Confidence, Letter, OptionVerdict


class Decide(dspy.Signature):
    """Answer the question about the video from the evidence.

    Weigh every option in turn: what in the evidence or the summary speaks for it, what against. Evidence counts more
    than the summary, and a VERIFIED check more than a PARTIAL one; but a check can be wrong, so name each conflict
    between evidence, summary and status. An option that was set aside earlier is as eligible as the others. Then
    choose the option that is best supported and give its letter alone. Write ABSTAIN instead of a letter only if
    abstaining is allowed and the evidence does not decide.
    """

    question: str = dspy.InputField()
    options: str = dspy.InputField(desc="one option a line, each with its letter")
    summary: str = dspy.InputField(desc="what is known of the video, with times in seconds")
    clue: str = dspy.InputField(desc="what was looked for, and what each hypothesis predicts")
    evidence: str = dspy.InputField(desc="what was seen, one line a moment with its time in seconds")
    status: str = dspy.InputField(desc="VERIFIED, PARTIAL, NOT_VERIFIED, or unknown")
    reasoning_trace: str = dspy.InputField(desc="what was supposed, tested and found, round by round")
    may_abstain: bool = dspy.InputField()
    verdicts: list[OptionVerdict] = dspy.OutputField(desc="for each option its letter, why, and how it stands")
    conflicts: list[str] = dspy.OutputField(desc="contradictions between evidence, summary and status; empty if none")
    reasoning: str = dspy.OutputField(desc="why the chosen option, in one or two sentences")
    answer: Letter = dspy.OutputField(desc="the letter of the chosen option, or ABSTAIN if allowed")
    confidence: Confidence = dspy.OutputField(desc="from 0 to 1")
