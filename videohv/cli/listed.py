"""Options that hold several values, written with commas between them."""

from __future__ import annotations


def listed(text: str) -> tuple[str, ...]:
    """The values of such an option; none of them is empty."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
