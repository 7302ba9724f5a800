"""Every other provider: whatever DSPy knows by name, such as `openai`, `anthropic`, `gemini` or `azure`."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import dspy
from dspy.utils.exceptions import LMError

from videohv.errors import InputError
from videohv.lm.facts import Facts, attach
from videohv.lm.keys import find_key
from videohv.lm.spec import Spec

_SIGNED_IN = {"azure": ("AZURE_CLIENT_ID", "AZURE_FEDERATED_TOKEN_FILE", "IDENTITY_ENDPOINT")}
"""Variables that say that a cloud's own login stands in for a key."""


def dspy_lm(spec: Spec, seed: int | None, others: Sequence[str]) -> dspy.LM:
    """An LM of a provider that DSPy knows. What the spec does not say is left to the provider.

    Options: temperature, max_tokens, seed, timeout, retries, images, context.

    Args:
        spec: Parsed.
        seed: Passed on where the provider is one that DSPy speaks to itself; it drops what a provider does not take.
        others: Names of the backends, for the message.

    Raises:
        InputError: If the provider is unknown, its key or address is missing, or the model does not take an option.
    """
    name = f"{spec.provider}/{spec.model}"
    if spec.options.api_base is not None:
        raise InputError(f"{name}: a server given by its address is named  openai-compatible/{spec.model}?api_base=…")
    spec.only("temperature", "max_tokens", "seed", "timeout", "retries", "images", "context")
    native = native_provider(spec.provider)
    if native is None and spec.provider not in _listed():
        known = ", ".join(sorted({*others, *_native()}))
        raise InputError(f"no backend is called {spec.provider!r}: known are {known}, and what LiteLLM knows")
    if not spec.model:
        raise InputError(f"{spec.provider}: expected {spec.provider}/model")
    options = spec.options
    settings = {
        "temperature": options.temperature,
        "max_tokens": options.max_tokens,
        "seed": options.seed if options.seed is not None else (seed if native else None),
        "timeout": options.timeout,
        "num_retries": options.retries,
        **(_access(spec, native) if native is not None else {}),
    }
    try:
        made = dspy.LM(name, **{key: value for key, value in settings.items() if value is not None})
    except (LMError, ValueError, TypeError) as error:
        raise InputError(f"{name}: {error}") from error
    attach(made, Facts(name, "through DSPy", options.images, options.context))
    return made


def native_provider(prefix: str) -> Any:
    """What DSPy itself knows of a provider that it speaks to without LiteLLM, or None: address, keys, protocol."""
    from dspy._vendor.lm15.registry import lookup

    return lookup(_native()[prefix]) if prefix in _native() else None


def _native() -> Mapping[str, str]:
    # DSPy has no public way to these, and the error for a missing key comes only with the first call.
    from dspy._vendor.lm15.router import LITELLM_PROVIDER_PREFIXES

    names: Mapping[str, str] = LITELLM_PROVIDER_PREFIXES
    return names


def _access(spec: Spec, definition: Any) -> dict[str, Any]:
    """The key, unless DSPy finds it itself; raises if it lies nowhere, or an address is missing that it needs."""
    host = definition.access.host
    if host is not None:
        told = (*host.endpoint_env, *(name for setting in host.settings if not setting.default for name in setting.env))
        if told and not any(os.environ.get(name) for name in told):
            raise InputError(f"{spec.provider}/{spec.model} needs an address: set the environment variable {told[0]}")
    if not definition.env_keys or any(os.environ.get(name) for name in _SIGNED_IN.get(spec.provider, ())):
        return {}
    try:
        return find_key(definition.env_keys, [spec.provider])
    except InputError as error:
        raise InputError(f"{spec.provider}/{spec.model} needs a key: {error}") from None


def _listed() -> frozenset[str]:
    """Providers that occur in DSPy's bundled list of models."""
    # The list has no public way in, and the other way to the names imports LiteLLM, which takes seconds.
    from dspy.clients.model_metadata import _load

    listed = _load().values()
    return frozenset(str(of.get("litellm_provider")) for of in listed if isinstance(of, dict))
