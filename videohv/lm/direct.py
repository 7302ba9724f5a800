"""The way to a declared server, found once: DSPy looks for it three times a call, and for a proxy each time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from dspy._vendor.lm15.transports import StdlibTransport
from dspy.clients.backend_selection import CLIENT_KEYS, select_backend
from dspy.clients.capabilities import capabilities
from dspy.clients.engines import LM15Engine
from dspy.clients.engines.lm15_engine import timeouts_for
from dspy.lm15 import LM15Error, RouterConfig, _definitions

_CLIENT = {"api_key", "timeout"}
"""What may be set of the way to a server; anything else is for DSPy to judge."""


class Direct(LM15Engine):
    """The engine that DSPy would choose for a server, with what it would find out about it.

    Args:
        lm: Whose server it is.
        config: How it is reached.
    """

    def __init__(self, lm: Any, config: RouterConfig) -> None:
        super().__init__(config, model_type=lm.model_type)
        known = capabilities(lm)
        self.supports_function_calling = known.function_calling
        self.supports_reasoning = known.reasoning
        self.supports_response_schema = known.response_schema
        self.supported_params = known.params

    def close(self) -> None:
        """Close its connections too: nobody else has them."""
        super().close()
        self.config.transport.close()


def direct(lm: Any) -> Direct | None:
    """The engine of an LM whose engine is `lm15` and whose server is a declared one; None for any other LM.

    It is kept with those that DSPy keeps for the LM and its copies, and closed with them. Of an LM that cannot be used
    as it is nothing is said here: DSPy says it when the LM is called.
    """
    if getattr(lm, "engine", None) != "lm15" or not lm._providers or (lm.kwargs.keys() & CLIENT_KEYS) - _CLIENT:
        return None
    try:
        timeouts = timeouts_for(lm.kwargs.get("timeout"))
        place = (None, "videohv", lm.model, lm.model_type, lm.kwargs.get("api_key"), timeouts)
        with lm._engine_lock:
            if place not in lm._engine_store:
                lm._engine_store[place] = _made(lm, timeouts)
            found: Direct = lm._engine_store[place]
            return found
    except (LM15Error, LookupError, TypeError, ValueError):
        return None


def _made(lm: Any, timeouts: Any) -> Direct:
    """The engine; raises LookupError if the server is none of the declared ones."""
    provider, declared = select_backend(lm).resolution.provider, _definitions(lm._providers)
    address = {definition.id: definition.access.base_url for definition in declared}[provider]
    key = lm.kwargs.get("api_key")
    config = RouterConfig(
        api_keys={provider: key} if key is not None else None,
        timeouts=timeouts,
        providers=declared,
    )
    transport = StdlibTransport(**config.transport_kwargs(), proxy=_proxy(address), trust_env=False)
    return Direct(lm, replace(config, transport=transport, timeouts=None))


def _proxy(address: str) -> str | None:
    """Which proxy the environment names for an address, if any."""
    parts, proxies = urlsplit(address), getproxies()
    url = proxies.get(parts.scheme) or proxies.get("all")
    return url if url and not proxy_bypass(parts.hostname or "") else None
