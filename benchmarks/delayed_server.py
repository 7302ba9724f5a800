"""A server that speaks the OpenAI chat protocol and answers every request after the same delay.

    python -m benchmarks.delayed_server --delay 0.2

It prints its address in one line and counts: `GET /stats` gives the number of requests, and the seconds between the
arrival of the first and the last reply. Replies are those of the instant engine.
"""

from __future__ import annotations

import argparse
import asyncio
import re
import time

import orjson

from benchmarks.instant import reply_for

_LENGTH = re.compile(rb"(?i)content-length: *(\d+)")


class Server:
    """Counts what it answers."""

    def __init__(self, delay: float) -> None:
        self.delay = delay
        self.requests = 0
        self.first = self.last = 0.0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One connection, kept open for many requests."""
        try:
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                body = await reader.readexactly(int(length.group(1))) if length else b""
                made: dict[str, object]
                if head.startswith(b"GET"):
                    made = {"requests": self.requests, "first": self.first, "last": self.last}
                else:
                    made = await self._answer(body)
                content = orjson.dumps(made)
                kind = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n"
                writer.write(kind % len(content) + content)
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            writer.close()

    async def _answer(self, body: bytes) -> dict[str, object]:
        now = time.time()
        self.first = self.first or now
        self.requests += 1
        request = orjson.loads(body)
        first = next(iter(request["response_format"]["json_schema"]["schema"]["properties"]))
        content = reply_for(first)
        await asyncio.sleep(self.delay)
        self.last = time.time()
        return {
            "id": "x",
            "object": "chat.completion",
            "created": 0,
            "model": request["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}],
            "usage": {"prompt_tokens": 1000, "completion_tokens": 100, "total_tokens": 1100},
        }


async def _main(delay: float) -> None:
    server = await asyncio.start_server(Server(delay).serve, "127.0.0.1", 0, backlog=1024)
    print(f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1", flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.2, help="seconds before each reply")
    asyncio.run(_main(parser.parse_args().delay))
