"""What one question may cost, as it is written on the command line."""

from __future__ import annotations

from typing import Self

from pydantic import Field, ValidationError

from videohv.errors import InputError
from videohv.lm.budget import Budget
from videohv.types import Value


class Limits(Value):
    """Limits of a budget; None is no limit.

    Args:
        calls: LM calls that are sent.
        tokens: Of prompts and replies together.
        cost: US dollars by the listed prices.
    """

    calls: int | None = Field(default=None, ge=1)
    tokens: int | None = Field(default=None, ge=1)
    cost: float | None = Field(default=None, ge=0.0)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Limits out of `calls=40,tokens=60000,cost=0.05`, or parts of that.

        Raises:
            InputError: If it is not of that form.
        """
        pairs = [pair.partition("=") for pair in text.split(",") if pair.strip()]
        try:
            return cls.model_validate({name.strip(): value.strip() for name, _, value in pairs})
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            what = ".".join(str(part) for part in first["loc"])
            raise InputError(
                f"limits of a question {text!r}: {what}: {first['msg']}; expected calls=N,tokens=N,cost=N or some"
            ) from error

    def budget(self) -> Budget:
        """A fresh budget of a question with these limits."""
        return Budget("question", max_calls=self.calls, max_tokens=self.tokens, max_cost=self.cost)


NO_LIMITS = Limits()
