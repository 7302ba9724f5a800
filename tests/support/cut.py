"""A wire between a client and a server of this machine that can be cut."""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from types import TracebackType
from typing import Self


class Wire:
    """Passes connections on to a port while its `with` block is open.

    Args:
        port: Of the server, on the loopback.
    """

    def __init__(self, port: int) -> None:
        self._to = port
        self._listening = socket.create_server(("127.0.0.1", 0))
        self._ends: list[socket.socket] = []
        self._lock = threading.Lock()

    @property
    def address(self) -> str:
        """Where the client finds the server."""
        return f"http://127.0.0.1:{self._listening.getsockname()[1]}"

    def cut(self) -> None:
        """Break all connections; new ones are passed on as before."""
        with self._lock:
            broken, self._ends = self._ends, []
        for end in broken:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def __enter__(self) -> Self:
        threading.Thread(target=self._accept, daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self.cut()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                near, _ = self._listening.accept()
                far = socket.create_connection(("127.0.0.1", self._to))
                with self._lock:
                    self._ends += [near, far]
                for here, there in ((near, far), (far, near)):
                    threading.Thread(target=_pass_on, args=(here, there), daemon=True).start()


def _pass_on(here: socket.socket, there: socket.socket) -> None:
    with suppress(OSError):
        while piece := here.recv(1 << 16):
            there.sendall(piece)
    with suppress(OSError):
        there.shutdown(socket.SHUT_WR)
