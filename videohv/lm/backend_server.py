"""Servers of one's own, which speak OpenAI's protocol: vLLM, SGLang, Ollama, llama.cpp's, or any by its address."""

from __future__ import annotations

import hashlib
import threading

import dspy
from dspy import lm15

from videohv.errors import InputError
from videohv.lm.backends import backend
from videohv.lm.facts import Facts, attach
from videohv.lm.keys import find_key
from videohv.lm.spec import Spec

PROVIDER = "openai-compatible"

USUAL_ADDRESS = {
    "vllm": "http://localhost:8000/v1",
    "sglang": "http://localhost:30000/v1",
    "ollama": "http://localhost:11434/v1",
    "llamacpp": "http://localhost:8080/v1",
}
"""Where each server listens unless it was told otherwise."""

_declaring = threading.Lock()
"""An LM binds the declaration that stands when it is made."""


@backend(PROVIDER, *USUAL_ADDRESS)
def server(spec: Spec, seed: int | None) -> dspy.LM:
    """`openai-compatible/MODEL?api_base=http://host:8000/v1`, or `ollama/MODEL` at its usual address or another.

    The server is declared to DSPy as one that honours JSON schemas. Its identity is part of the model string, so that
    two servers with a model of the same name do not share cached answers.

    Options: api_base, key_env, temperature (0), max_tokens (the server's), seed, timeout (600), retries (3), images
    (unknown), context (unknown).
    """
    spec.only("api_base", "key_env", "temperature", "max_tokens", "seed", "timeout", "retries", "images", "context")
    options, name = spec.options, f"{spec.provider}/{spec.model}"
    address = options.api_base or USUAL_ADDRESS.get(spec.provider)
    if address is None or not spec.model:
        where = "" if spec.provider in USUAL_ADDRESS else "?api_base=http://host:8000/v1"
        what = "a model" if where == "" else "a model and an address"
        raise InputError(f"{spec.provider} needs {what}: {spec.provider}/MODEL{where}")
    try:
        key = find_key([options.key_env], [options.key_env, spec.provider]) if options.key_env is not None else {}
    except InputError as error:
        raise InputError(f"{name} needs a key: {error}") from None
    settings = {"timeout": options.timeout, "num_retries": options.retries, "max_tokens": options.max_tokens}
    with _declaring:
        made = dspy.LM(
            f"{_declare(spec.provider, address, options.key_env)}/{spec.model}",
            temperature=options.temperature if options.temperature is not None else 0.0,
            seed=options.seed if options.seed is not None else seed,
            # Left to choose, DSPy makes each request twice, to see whether LiteLLM would have to send it.
            engine="lm15",
            **{name: value for name, value in settings.items() if value is not None},
            **key,
        )
    facts = Facts(
        name=name,
        origin=f"server at {address}",
        images=options.images,
        context_tokens=options.context,
        key_env=options.key_env,
        server=address,
        served_as=spec.model,
    )
    attach(made, facts)
    return made


def _declare(provider: str, address: str, key_env: str | None) -> str:
    """Tell DSPy of the server, once or again, and return the provider name it goes by."""
    name = f"{provider}-{hashlib.sha256(address.encode()).hexdigest()[:10]}"
    access = lm15.AccessPolicy(provider=name, base_url=address, env_keys=(key_env,) if key_env else ())
    definition = lm15.ProviderDefinition.chat(
        access,
        compat=lm15.OpenAIChatCompat(instruction_role="system", max_tokens_field="max_tokens"),
        placeholder_key=None if key_env else "none",
    )
    lm15.register_provider(definition, supports=lm15.ModelSupport(response_schema=True), replace=True)
    return name
