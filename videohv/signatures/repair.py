"""What a model is told when its reply could not be used: the one message that belongs to no agent."""

from __future__ import annotations

_SHOWN = 1_500
"""Characters of a bad reply that are shown again: enough to see the mistake, too few to repeat at length."""

_REQUEST = """Your reply above could not be used: {problem}

Write the whole reply again, in the form asked for before: every field present, each of the kind that is asked for, \
and nothing before or after it."""


def repair_turns(reply: str, problem: str) -> tuple[dict[str, str], ...]:
    """Messages that follow the original ones: the reply as it came, shortened, and what was wrong with it.

    Args:
        reply: What the model wrote.
        problem: Why it could not be used.
    """
    if len(reply) > _SHOWN:
        reply = f"{reply[: _SHOWN * 2 // 3]}\n[…]\n{reply[-_SHOWN // 3 :]}"
    return (
        {"role": "assistant", "content": reply or "(nothing)"},
        {"role": "user", "content": _REQUEST.format(problem=problem)},
    )
