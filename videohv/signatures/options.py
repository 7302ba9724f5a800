"""Options: the answers that are possible for a question that came without any."""

from __future__ import annotations

import dspy


class ProposeOptions(dspy.Signature):
    """Somebody asks a question about a video and gives no answers to choose from. Propose 3 to 5 possible answers.

    Each is a short, complete answer to the question that could be seen to hold or not to hold by watching the video:
    name people, objects and actions. They exclude each other, so that at most one is right, and they are of one kind
    and about equally detailed. Put the answers first that what is known of the video speaks for; let at least one be
    what a hasty viewer would wrongly take for the answer. Do not propose that it cannot be known: that is found out
    later.
    """

    captions: str = dspy.InputField(desc="what is known of the video, with times in seconds")
    question: str = dspy.InputField()
    options: list[str] = dspy.OutputField(desc="3 to 5 answers that exclude each other, without letters")
