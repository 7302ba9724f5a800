"""No part of the method knows who makes or serves a model."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from videohv.lm.backend_dspy import _native
from videohv.lm.backends import backend_names

PACKAGE = Path(__file__).parent.parent / "videohv"
NEUTRAL = ("modules", "signatures", "data", "evaluate", "captioners", "video", "types", "compiled", "optimize")
ALLOWED = {
    # The default's own name, which commands and records use for "nothing was chosen".
    "embedded",
}
FAMOUS = {"azure", "bedrock", "claude", "cohere", "gpt", "huggingface", "litellm", "llama", "mistral", "qwen", "vertex"}


def providers() -> set[str]:
    return ({*backend_names(), *_native()} | FAMOUS) - ALLOWED


@pytest.mark.parametrize("package", NEUTRAL)
def test_no_provider_is_named(package: str) -> None:
    names = re.compile(
        rf"(?<![a-z])({'|'.join(map(re.escape, sorted(providers(), key=len, reverse=True)))})(?![a-z])", re.I
    )
    found = [
        f"{path.relative_to(PACKAGE.parent)}:{number}: {line.strip()[:100]}"
        for path in sorted((PACKAGE / package).rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if names.search(line)
    ]
    assert found == []


def test_the_names_are_those_that_there_are() -> None:
    assert {"openai", "anthropic", "gemini", "ollama", "vllm", "azure", "openai-compatible"} <= providers()
