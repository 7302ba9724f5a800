"""What a compile will take, before it is begun: calls, tokens, money and time, from above."""

from __future__ import annotations

import dspy

from videohv.lm.usage import highest_price
from videohv.optimize.registry import Plan
from videohv.optimize.run.preflight import Measured
from videohv.types import Value

TOKENS_OF_A_PROMPT = (3_000, 700)
"""Tokens that go in and come out when a model writes an instruction, about: it is shown the old one and examples."""


class Forecast(Value):
    """About what is still to be done at most. What is in the response cache already makes it less.

    Args:
        questions: Runs of the whole program: the optimizers', and two for each question of the test part.
        prompts: Instructions to be written.
        calls: LM calls.
        tokens: Of prompts and replies.
        cost: US dollars, or None if a price is not known.
        seconds: With so many threads as were asked for.
    """

    questions: int
    prompts: int
    calls: int
    tokens: int
    cost: float | None = None
    seconds: float


def forecast(plan: Plan, tests: int, measured: Measured, threads: int, prompt_lm: dspy.BaseLM | None) -> Forecast:
    """Multiply what a question took by how often one will be asked.

    Args:
        plan: Of the optimizers.
        tests: Questions of the test part.
        measured: Of the preflight.
        threads: Questions at once.
        prompt_lm: Whose price counts for prompts; None if it is not known which model writes them.
    """
    questions = plan.program_runs + 2 * tests
    tokens_in, tokens_out = TOKENS_OF_A_PROMPT
    # By one of the program's own calls, where none of the model's was measured.
    each = measured.prompt_seconds or measured.seconds / max(1.0, measured.calls)
    price = None if prompt_lm is None else highest_price(str(prompt_lm.model), tokens_in, tokens_out)
    cost = None
    if measured.cost is not None and (price is not None or not plan.prompt_calls):
        cost = questions * measured.cost + plan.prompt_calls * (price or 0.0)
    return Forecast(
        questions=questions,
        prompts=plan.prompt_calls,
        calls=round(questions * measured.calls) + plan.prompt_calls,
        tokens=round(questions * measured.tokens) + plan.prompt_calls * (tokens_in + tokens_out),
        cost=cost,
        seconds=questions * measured.seconds / max(1, threads) + plan.prompt_calls * each,
    )
