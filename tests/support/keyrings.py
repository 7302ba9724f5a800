"""A keyring for tests: in memory, real to whoever asks the `keyring` package."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import keyring
from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked


class FakeKeyring(KeyringBackend):
    """Holds keys by service and name; a locked one gives none."""

    priority = 1

    def __init__(self, held: Mapping[tuple[str, str], str], *, locked: bool = False) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.held = dict(held)
        self.locked = locked
        self.asked: list[tuple[str, str]] = []

    def get_password(self, service: str, username: str) -> str | None:
        """See `keyring`."""
        self.asked.append((service, username))
        if self.locked:
            raise KeyringLocked("locked")
        return self.held.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        """See `keyring`."""
        self.held[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        """See `keyring`."""
        del self.held[service, username]


@contextmanager
def keyring_with(*, locked: bool = False, **keys: str) -> Iterator[FakeKeyring]:
    """Have the system's keyring hold these keys for videohv, by name, while the block is open."""
    before, made = keyring.get_keyring(), FakeKeyring({("videohv", n): k for n, k in keys.items()}, locked=locked)
    keyring.set_keyring(made)
    try:
        yield made
    finally:
        keyring.set_keyring(before)
