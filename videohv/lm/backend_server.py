"""`openai-compatible`: a server of one's own (vLLM, llama.cpp, SGLang, LM Studio, a gateway), given by its address."""

from __future__ import annotations

import hashlib
import os

import dspy
from dspy import lm15

from videohv.errors import InputError
from videohv.lm.backends import backend
from videohv.lm.facts import Facts, attach
from videohv.lm.spec import Spec

PROVIDER = "openai-compatible"


@backend(PROVIDER)
def openai_compatible(spec: Spec, seed: int | None) -> dspy.LM:
    """`openai-compatible/MODEL?api_base=http://host:8000/v1`.

    The server is declared to DSPy as one that honours JSON schemas. Its identity is part of the model string, so that
    two servers with a model of the same name do not share cached answers.

    Options: api_base (needed), key_env, temperature (0), max_tokens (the server's), seed, timeout (600), retries (3),
    images (unknown), context (unknown).
    """
    spec.only("api_base", "key_env", "temperature", "max_tokens", "seed", "timeout", "retries", "images", "context")
    options = spec.options
    if options.api_base is None or not spec.model:
        raise InputError(f"{PROVIDER} needs a model and an address: {PROVIDER}/MODEL?api_base=http://host:8000/v1")
    if options.key_env is not None and not os.environ.get(options.key_env):
        raise InputError(f"{PROVIDER}/{spec.model}: the environment variable {options.key_env} holds no key")
    settings = {"timeout": options.timeout, "num_retries": options.retries, "max_tokens": options.max_tokens}
    made = dspy.LM(
        f"{_declare(options.api_base, options.key_env)}/{spec.model}",
        temperature=options.temperature if options.temperature is not None else 0.0,
        seed=options.seed if options.seed is not None else seed,
        **{name: value for name, value in settings.items() if value is not None},
    )
    facts = Facts(
        f"{PROVIDER}/{spec.model}", f"server at {options.api_base}", options.images, options.context, options.key_env
    )
    attach(made, facts)
    return made


def _declare(address: str, key_env: str | None) -> str:
    """Tell DSPy of the server, once or again, and return the provider name it goes by."""
    provider = f"{PROVIDER}-{hashlib.sha256(address.encode()).hexdigest()[:10]}"
    access = lm15.AccessPolicy(provider=provider, base_url=address, env_keys=(key_env,) if key_env else ())
    definition = lm15.ProviderDefinition.chat(
        access,
        compat=lm15.OpenAIChatCompat(instruction_role="system", max_tokens_field="max_tokens"),
        placeholder_key=None if key_env else "none",
    )
    lm15.register_provider(definition, supports=lm15.ModelSupport(response_schema=True), replace=True)
    return provider
