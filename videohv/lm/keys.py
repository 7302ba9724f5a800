"""Where keys come from: the environment, else the system's keyring. Nowhere else, and they are not kept anywhere else.

In the keyring a key lies under the service `videohv` and the name of its provider:

    keyring set videohv openai
"""

from __future__ import annotations

import importlib.util
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from videohv.errors import InputError

SERVICE = "videohv"

_read: set[str] = set()
_lock = threading.Lock()


@dataclass(frozen=True)
class FromKeyring:
    """A key that lies in the keyring, read anew by every call that needs it.

    DSPy takes it in the place of a key, so that no LM, copy, pickle or record of one holds the key itself.

    Args:
        name: What it is kept under, beside the service `videohv`.
    """

    name: str

    def __call__(self) -> str:
        """The key.

        Raises:
            InputError: If the keyring holds it no longer or cannot be read.
        """
        found = from_keyring(self.name)
        if found is None:
            raise InputError(f"the keyring holds no key under {SERVICE!r}, {self.name!r} any more")
        return found


def from_keyring(name: str) -> str | None:
    """The key that the keyring holds under a name, or None if it holds none or there is no keyring.

    Raises:
        InputError: If there is a keyring and it cannot be read.
    """
    if importlib.util.find_spec("keyring") is None:
        return None
    import keyring
    from keyring.errors import KeyringError, NoKeyringError

    try:
        found = keyring.get_password(SERVICE, name)
    except NoKeyringError:
        return None
    except KeyringError as error:
        raise InputError(f"the keyring could not be read for {name!r}: {type(error).__name__}") from None
    if not found:
        return None
    with _lock:
        _read.add(found)
    return str(found)


def find_key(variables: Sequence[str], names: Sequence[str]) -> dict[str, Any]:
    """What an LM needs to be told of its key: nothing if a variable holds it, `api_key` if the keyring does.

    Args:
        variables: Environment variables in which it may lie, which DSPy reads itself.
        names: Names under which the keyring may hold it.

    Raises:
        InputError: If it lies nowhere. The message says where it is looked for.
    """
    if any(os.environ.get(variable) for variable in variables):
        return {}
    for name in names:
        if from_keyring(name) is not None:
            return {"api_key": FromKeyring(name)}
    install = "" if importlib.util.find_spec("keyring") else " (needs  pip install 'videohv[keyring]')"
    raise InputError(
        f"set the environment variable {' or '.join(variables)}, or keep the key in the keyring: "
        f" keyring set {SERVICE} {names[0]}{install}"
    )


def keys_read() -> frozenset[str]:
    """Every key that this process read from the keyring, for those who keep keys out of messages."""
    with _lock:
        return frozenset(_read)
