"""The way to a declared server, found once: DSPy looks for it three times a call, and for a proxy each time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass

from dspy._vendor.lm15.transports import StdlibTransport
from dspy.clients.backend_selection import select_backend
from dspy.clients.capabilities import capabilities
from dspy.clients.engines import LM15Engine
from dspy.clients.engines.lm15_engine import timeouts_for
from dspy.lm15 import RouterConfig, _definitions


class Direct(LM15Engine):
    """The engine that DSPy would choose for a server, with what it would find out about it.

    Args:
        lm: Whose server it is.
        config: How it is reached.
        is_of_use: Whether it reaches what the LM means.
    """

    def __init__(self, lm: Any, config: RouterConfig, is_of_use: bool) -> None:
        super().__init__(config, model_type=lm.model_type)
        self.is_of_use = is_of_use
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

    It is kept with those that DSPy keeps for the LM and its copies, and closed with them.
    """
    if getattr(lm, "engine", None) != "lm15":
        return None
    place = (None, "videohv", lm.model, lm.model_type, lm.kwargs.get("api_key"), lm.kwargs.get("timeout"))
    with lm._engine_lock:
        if place not in lm._engine_store:
            lm._engine_store[place] = _made(lm)
        found: Direct = lm._engine_store[place]
        return found if found.is_of_use else None


def _made(lm: Any) -> Direct:
    chosen = select_backend(lm)
    provider, clients, declared = chosen.resolution.provider, chosen.clients, _definitions(lm._providers)
    address = next((definition.access.base_url for definition in declared if definition.id == provider), "")
    config = RouterConfig(
        api_keys={provider: clients["api_key"]} if "api_key" in clients else None,
        timeouts=timeouts_for(clients.get("timeout")),
        providers=declared,
    )
    transport = StdlibTransport(**config.transport_kwargs(), proxy=_proxy(address), trust_env=False)
    is_of_use = bool(address) and clients.keys() <= {"api_key", "timeout"}
    return Direct(lm, replace(config, transport=transport, timeouts=None), is_of_use)


def _proxy(address: str) -> str | None:
    """Which proxy the environment names for an address, if any."""
    parts, proxies = urlsplit(address), getproxies()
    url = proxies.get(parts.scheme) or proxies.get("all")
    return url if url and not proxy_bypass(parts.hostname or "") else None
