"""The registry of backends, and the one way from a spec to a DSPy LM.

A backend is a function from a `Spec` and a seed to an LM, registered under the provider names it answers to:

    @backend("my-lab")
    def my_lab(spec: Spec, seed: int | None) -> dspy.LM: ...

What no backend answers to is handed to DSPy.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable

import dspy

from videohv.lm.sources import Progress
from videohv.lm.spec import Spec, parse_spec

Backend = Callable[[Spec, int | None], dspy.LM]

_backends: dict[str, Backend] = {}
_BUILT_IN = ("videohv.lm.backend_embedded", "videohv.lm.backend_server")

__all__ = ["Backend", "backend", "backend_names", "default_lm", "make_lm"]


def backend(*providers: str) -> Callable[[Backend], Backend]:
    """Register a function as the backend of these provider names. A later one replaces an earlier one."""

    def register(made: Backend) -> Backend:
        for provider in providers:
            _backends[provider] = made
        return made

    return register


def backend_names() -> tuple[str, ...]:
    """Provider names that have a backend of their own."""
    for module in _BUILT_IN:
        importlib.import_module(module)
    return tuple(sorted(_backends))


def make_lm(spec: str, *, seed: int | None = None) -> dspy.LM:
    """The LM that a spec names. Nothing is sent; an embedded model that is not in the cache yet is fetched.

    Args:
        spec: `provider/model[?option=value&…]`, see `videohv.lm.spec`.
        seed: For sampling, where the backend takes one and the spec gives none.

    Raises:
        InputError: If the spec is wrong, its provider is unknown, or its key is missing. One line that says what to do.
        ModelError: If an embedded model cannot be fetched or its file is missing.
        MissingExtra: If the backend's package is not installed.
    """
    parsed = parse_spec(spec)
    if parsed.provider in backend_names():
        return _backends[parsed.provider](parsed, seed)
    from videohv.lm.backend_dspy import dspy_lm

    return dspy_lm(parsed, seed, others=backend_names())


_default: list[dspy.LM] = []
_making = threading.Lock()


def default_lm(on_progress: Progress | None = None) -> dspy.LM:
    """The embedded default model, made once a process and fetched once a machine.

    Args:
        on_progress: Told of the fetch: bytes done, bytes in all, what is being done. None prints to stderr.

    Raises:
        ModelError: If it cannot be fetched.
        MissingExtra: If its runtime is not installed.
    """
    from videohv.lm.backend_embedded import embedded_from

    with _making:
        if not _default:
            _default.append(embedded_from(Spec(provider="embedded", model=""), None, on_progress))
        return _default[0]
