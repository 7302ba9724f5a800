"""The registry of backends, and the one way from a spec to a DSPy LM.

A backend is a function from a `Spec` and a seed to an LM, registered under the provider names it answers to:

    @backend("my-lab")
    def my_lab(spec: Spec, seed: int | None) -> dspy.LM: ...

An installed package brings one along by an entry point of the group `videohv.backends`, whose name is the provider:

    [project.entry-points."videohv.backends"]
    my-lab = "my_package.videohv_backend:my_lab"

What no backend answers to is handed to DSPy.
"""

from __future__ import annotations

import importlib
import threading
from collections.abc import Callable
from importlib.metadata import EntryPoint, entry_points

import dspy

from videohv.errors import InputError, ModelError, VideoHVError
from videohv.lm.sources import Progress
from videohv.lm.spec import Spec, parse_spec

Backend = Callable[[Spec, int | None], dspy.LM]

_backends: dict[str, Backend] = {}
_BUILT_IN = ("videohv.lm.backend_embedded", "videohv.lm.backend_server")

GROUP = "videohv.backends"
"""Entry points of installed packages that bring a backend along."""

__all__ = ["GROUP", "Backend", "backend", "backend_names", "default_lm", "make_lm"]


def backend(*providers: str) -> Callable[[Backend], Backend]:
    """Register a function as the backend of these provider names. A later one replaces an earlier one."""

    def register(made: Backend) -> Backend:
        for provider in providers:
            _backends[provider] = made
        return made

    return register


def backend_names() -> tuple[str, ...]:
    """Provider names that have a backend of their own, be it built in, registered or installed."""
    return tuple(sorted({*_registered(), *(point.name for point in entry_points(group=GROUP))}))


def make_lm(spec: str | Spec, *, seed: int | None = None) -> dspy.LM:
    """The LM that a spec names. Nothing is sent; an embedded model that is not in the cache yet is fetched.

    Args:
        spec: `provider/model[?option=value&…]`, see `videohv.lm.spec`.
        seed: For sampling, where the backend takes one and the spec gives none.

    Raises:
        InputError: If the spec is wrong, its provider is unknown, or its key is missing. One line that says what to do.
        ModelError: If an embedded model cannot be fetched or its file is missing, or an installed backend is broken.
        MissingExtra: If the backend's package is not installed.
    """
    parsed = parse_spec(spec) if isinstance(spec, str) else spec
    made = _registered().get(parsed.provider) or _installed(parsed.provider)
    if made is not None:
        return made(parsed, seed)
    from videohv.lm.backend_dspy import dspy_lm

    return dspy_lm(parsed, seed, others=backend_names())


def _registered() -> dict[str, Backend]:
    for module in _BUILT_IN:
        importlib.import_module(module)
    return _backends


def _installed(provider: str) -> Backend | None:
    """The backend that an installed package has for a provider. Other packages' code is not even imported."""
    found = tuple(entry_points(group=GROUP, name=provider))
    if not found:
        return None
    if len({point.value for point in found}) > 1:
        owners = " and ".join(sorted(_owner(point) for point in found))
        raise InputError(f"the backend {provider!r} is brought along by {owners}: uninstall one of them")
    try:
        loaded = found[0].load()
    except VideoHVError:
        raise
    except Exception as error:
        why = f"{type(error).__name__}: {error}"
        raise ModelError(f"the backend {provider!r} of {_owner(found[0])} could not be loaded ({why})") from error
    # The module may have registered the function itself, with the decorator that the built-in ones use.
    return _backends.setdefault(provider, loaded)


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value


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
