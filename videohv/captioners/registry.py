"""What a captioner is, and the names under which captioners are found."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

from videohv.errors import InputError
from videohv.types import Caption
from videohv.video import Frame


class Captioner(Protocol):
    """Turns frames into one short text each.

    Attributes:
        identity: Names everything that the text depends on (model, prompt, version). It is part of the key under which
            captions are kept, so two captioners that would write different texts must have different identities.
    """

    @property
    def identity(self) -> str:
        """Model, prompt and version, in one line."""
        ...

    def caption(self, frames: Iterable[Frame]) -> Iterator[Caption]:
        """Yield one caption per frame, in the order of the frames, with `time` = `frame.wanted` (seconds).

        The frames are a stream that may be hours long: a captioner takes a few at a time and never keeps them.
        """
        ...


Factory = TypeVar("Factory", bound=Callable[[], Captioner])

_factories: dict[str, Callable[[], Captioner]] = {}


def captioner(name: str) -> Callable[[Factory], Factory]:
    """Register a captioner's class, or a function without arguments that makes one, under a name.

    Args:
        name: What `get_captioner` and the command line know it by.

    Raises:
        InputError: The name is taken by another captioner.
    """

    def register(factory: Factory) -> Factory:
        known = _factories.get(name)
        if known is not None and _origin(known) != _origin(factory):
            raise InputError(
                f"captioner {name!r} is already registered by {'.'.join(_origin(known))}: use another name"
            )
        _factories[name] = factory
        return factory

    return register


def get_captioner(name: str) -> Captioner:
    """Make the captioner that is registered under a name.

    Raises:
        InputError: No captioner has this name; the message lists those there are.
        MissingExtra: The captioner needs a package that is not installed.
    """
    if name not in _factories:
        raise InputError(f"no captioner is called {name!r}; known captioners: {', '.join(captioner_names())}")
    return _factories[name]()


def captioner_names() -> tuple[str, ...]:
    """The names of all registered captioners, sorted."""
    return tuple(sorted(_factories))


def _origin(factory: Callable[[], Captioner]) -> tuple[str, str]:
    """Where a factory was defined: the same for a module that is loaded a second time."""
    return factory.__module__, getattr(factory, "__qualname__", type(factory).__qualname__)
