"""Every other provider: whatever DSPy knows by name, such as `openai`, `anthropic`, `gemini` or `ollama`."""

from __future__ import annotations

import os
from collections.abc import Sequence

import dspy
from dspy.utils.exceptions import LMError

from videohv.errors import InputError
from videohv.lm.facts import Facts, attach
from videohv.lm.spec import Spec


def dspy_lm(spec: Spec, seed: int | None, others: Sequence[str]) -> dspy.LM:
    """An LM of a provider that DSPy knows. What the spec does not say is left to the provider.

    Options: temperature, max_tokens, seed, timeout, retries, images, context.

    Args:
        spec: Parsed.
        seed: Passed on where the provider is one that DSPy speaks to itself; it drops what a provider does not take.
        others: Names of the backends, for the message.

    Raises:
        InputError: If the provider is unknown, its key is missing, or the model does not take an option.
    """
    if spec.options.api_base is not None:
        raise InputError(
            f"{spec.provider}/{spec.model}: a server given by its address is named  "
            f"openai-compatible/{spec.model}?api_base=…"
        )
    spec.only("temperature", "max_tokens", "seed", "timeout", "retries", "images", "context")
    native = _check_provider(spec, others)
    options = spec.options
    settings = {
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
        "seed": options.seed if options.seed is not None else (seed if native else None),
        "timeout": options.timeout,
        "num_retries": options.retries,
    }
    name = f"{spec.provider}/{spec.model}"
    try:
        made = dspy.LM(name, **{key: value for key, value in settings.items() if value is not None})
    except (LMError, ValueError, TypeError) as error:
        raise InputError(f"{name}: {error}") from error
    attach(made, Facts(name, "through DSPy", options.images, options.context))
    return made


def _check_provider(spec: Spec, others: Sequence[str]) -> bool:
    """Whether DSPy speaks to the provider itself; raises if it knows none of that name or its key is missing."""
    from dspy._vendor.lm15.registry import lookup
    from dspy._vendor.lm15.router import LITELLM_PROVIDER_PREFIXES as NATIVE

    if spec.provider in NATIVE:
        definition = lookup(NATIVE[spec.provider])
        keys = definition.env_keys if definition is not None else ()
        if keys and not any(os.environ.get(key) for key in keys):
            raise InputError(
                f"{spec.provider}/{spec.model} needs a key: set the environment variable {' or '.join(keys)}"
            )
        if not spec.model:
            raise InputError(f"{spec.provider}: expected {spec.provider}/model")
        return True
    if spec.provider not in _listed() or not spec.model:
        known = ", ".join(sorted({*others, *NATIVE}))
        raise InputError(f"no backend is called {spec.provider!r}: known are {known}, and what LiteLLM knows")
    return False


def _listed() -> frozenset[str]:
    """Providers that occur in DSPy's bundled list of models."""
    # The list has no public way in, and the other way to the names imports LiteLLM, which takes seconds.
    from dspy.clients.model_metadata import _load

    listed = _load().values()
    return frozenset(str(of.get("litellm_provider")) for of in listed if isinstance(of, dict))
