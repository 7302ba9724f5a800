"""A real HTTP server that takes submissions as EgoSchema's validation server does, with the faults that it shows."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple


class Reply(NamedTuple):
    """One answer; `drop` closes the connection instead, `hold` waits until the server is closed."""

    status: int = 200
    text: str = "MCQ Accuracy for All of 5031 EgoSchema Questions: 0.6"
    headers: tuple[tuple[str, str], ...] = ()
    drop: bool = False
    hold: bool = False


class UploadServer:
    """Gives the scripted replies one after the other, the last one for good; `got` is what it was sent."""

    def __init__(self, *replies: Reply) -> None:
        self.replies = list(replies)
        self.got: list[dict[str, Any]] = []
        self.released = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                outer.got.append({"path": self.path, "body": body, "type": self.headers["Content-Type"]})
                reply = outer.replies.pop(0) if len(outer.replies) > 1 else outer.replies[0]
                if reply.hold:
                    outer.released.wait(30)
                if reply.drop or reply.hold:
                    self.close_connection = True
                    return
                content = reply.text.encode()
                self.send_response(reply.status)
                for name, value in (*reply.headers, ("Content-Length", str(len(content)))):
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(content)

            do_GET = do_POST

            def log_message(self, format: str, *args: Any) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/api/upload/"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()
