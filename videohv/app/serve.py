"""A port that is listened on, and the server behind it."""

from __future__ import annotations

import asyncio
import logging
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from videohv.errors import InputError, MissingExtra

if TYPE_CHECKING:
    import uvicorn

LOOPBACK = ("127.0.0.1", "::1", "localhost")


def open_port(host: str, port: int) -> socket.socket:
    """A socket that is listened on: whoever connects from now on is served as soon as the server runs.

    Args:
        host: Address or name.
        port: 0 takes a free one.

    Raises:
        InputError: It is taken, or not of this machine.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family)
    except (OSError, UnicodeError) as error:
        raise InputError(f"{host} port {port} cannot be served on ({error}): give another --host or --port") from None


def make_server(app: Any, close: Callable[[], None] = lambda: None) -> uvicorn.Server:
    """What serves an ASGI application; `run([socket])` returns when it is interrupted.

    Args:
        app: The application.
        close: Called when it is to end, from a thread; must see to it that streams end, for which it waits a second.

    Raises:
        MissingExtra: Without uvicorn.
    """
    try:
        import uvicorn
    except ImportError:
        raise MissingExtra("uvicorn", "app", "the page where people ask") from None

    class Server(uvicorn.Server):
        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            # Here and not where the signal arrives: there the thread may hold any lock.
            await asyncio.to_thread(close)
            # Whatever is cut off now is cut off on purpose.
            logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
            await super().shutdown(sockets)

    return Server(
        uvicorn.Config(
            app,
            log_level="error",
            access_log=False,
            server_header=False,
            lifespan="auto",
            timeout_graceful_shutdown=1,
        )
    )
