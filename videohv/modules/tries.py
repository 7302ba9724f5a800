"""The attempts at one step: what the next one sends, given how the last one ended."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Any

import dspy

from videohv.lm.about import context_tokens, published
from videohv.lm.reply import Reply
from videohv.modules.failures import StepFailed
from videohv.signatures.repair import repair_turns
from videohv.types import Outcome

ATTEMPTS = 3

USUAL_ROOM = 1_024
"""Tokens of a reply that was cut off, where neither the LM's settings nor the server say how many there were."""

_MARGIN = 64


class Ending(StrEnum):
    """How an attempt ended that brought nothing.

    * `unread`: the reply could not be read or used; `cut`: it was cut off at its limit;
    * `refused`: the model or a filter would not answer.
    """

    UNREAD = "unread"
    CUT = "cut"
    REFUSED = "refused"


class Tries:
    """What to send, for as many attempts as there are.

    The first sends what the predictor makes. An unread reply is followed by a repair (the model is shown its reply and
    what was wrong with it) and then by a fresh sample (temperature 1, another cache entry); a cut one by twice the
    room, the last time as a fresh sample; a refused one by a fresh sample, once. None of them repeats an earlier
    request, to which a cache would only repeat the reply.

    Args:
        lm: Which is asked.
        config: The predictor's own.
        seed: Names the fresh samples.

    Attributes:
        turns: Messages that follow those of the predictor.
        config: What the call is made with beside the predictor's own.
    """

    def __init__(self, lm: dspy.BaseLM, config: Mapping[str, Any], seed: int) -> None:
        self.turns: tuple[dict[str, str], ...] = ()
        self.config: dict[str, Any] = {}
        self._lm, self._own, self._seed = lm, config, seed
        self._made = 0
        self._endings: list[tuple[Ending, str]] = []

    @property
    def has_more_room(self) -> bool:
        """Whether the reply has been given more room than the predictor's own."""
        return self._room_key in self.config

    def failed(self, ending: Ending, why: str, reply: Reply | None) -> bool:
        """Prepare the next attempt; False if there is none.

        Args:
            ending: How this one ended.
            why: What was wrong, for the model and the trace.
            reply: What came, if anything.
        """
        self._made += 1
        refused_before = any(earlier is Ending.REFUSED for earlier, _ in self._endings)
        self._endings.append((ending, why))
        if self._made == ATTEMPTS or (ending is Ending.REFUSED and refused_before):
            return False
        last = self._made == ATTEMPTS - 1
        was_repair, self.turns = bool(self.turns), ()
        if ending is Ending.CUT:
            room = self._more_room(reply or Reply())
            if room is None:
                return False
            self.config = {self._room_key: room}
            if last:
                self._freshen()
        elif ending is Ending.UNREAD and not was_repair:
            self.turns = repair_turns(reply.text if reply else "", why)
        else:
            self._freshen()
        return True

    def failure(self, step: str) -> StepFailed:
        """What the step fails with, after the last attempt."""
        ending, why = self._endings[-1]
        times = {1: "", 2: ", twice"}.get(self._made, f", {self._made} times")
        outcome = Outcome.CONTENT_FILTERED if ending is Ending.REFUSED else Outcome.PARSE_FAILED
        return StepFailed(step, outcome, f"{why}{times}" if len({e for e, _ in self._endings}) == 1 else why)

    @property
    def _room_key(self) -> str:
        name = "max_completion_tokens"
        return name if name in self._lm.kwargs else "max_tokens"

    def _more_room(self, reply: Reply) -> int | None:
        """Twice the tokens that the reply had, within what the model can hold; None if that is not more."""
        key = self._room_key
        given = self.config.get(key) or self._own.get(key) or self._lm.kwargs.get(key)
        had = int(given or reply.completion_tokens or USUAL_ROOM)
        context, longest = context_tokens(self._lm), published(str(self._lm.model)).get("max_output_tokens")
        bounds = [had * 2]
        if context is not None:
            bounds.append(context - reply.prompt_tokens - _MARGIN)
        if isinstance(longest, int):
            bounds.append(longest)
        return min(bounds) if min(bounds) > had else None

    def _freshen(self) -> None:
        fresh = {"rollout_id": self._seed * ATTEMPTS + self._made, "temperature": 1.0}
        self.config = {**self.config, **fresh}
