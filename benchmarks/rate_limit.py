"""How much of a server's rate limit is used: one-call questions from many threads, against a quota with 429.

    python -m benchmarks.rate_limit [--quota 5] [--burst 5] [--calls 200] [--threads 32] [--latency 0.05]

The server is a real one on this machine. It takes `quota` requests a second, `burst` of them at once after a rest, and
refuses the others with 429 and a `Retry-After` in whole seconds, as providers do. Printed: the time until the last
answer over the least time in which the quota lets so many requests through, and how many requests were refused.
"""

from __future__ import annotations

import argparse
import contextvars
import json
import math
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import dspy

from videohv.lm import make_lm
from videohv.lm.adapter import json_adapter
from videohv.modules.ask import ask

_REPLY = json.dumps(
    {
        "id": "chatcmpl-fake",
        "object": "chat.completion",
        "created": 0,
        "model": "fake",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": '{"answer": "yes"}'}}
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }
).encode()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quota", type=float, default=5.0, help="requests a second")
    parser.add_argument("--burst", type=float, default=5.0, help="requests at once after a rest")
    parser.add_argument("--calls", type=int, default=200)
    parser.add_argument("--threads", type=int, default=32)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds that a reply takes")
    given = parser.parse_args()
    server = Limited(given.quota, given.burst, given.latency)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    lm = make_lm(f"openai-compatible/fake?api_base=http://127.0.0.1:{server.server_address[1]}/v1").copy(cache=False)
    predictor = dspy.Predict("question -> answer")

    def call(number: int) -> str:
        return str(ask("question", predictor, lambda p: p.answer, question=f"number {number}?"))

    began = time.perf_counter()
    with dspy.context(lm=lm, adapter=json_adapter(), disable_history=True), ThreadPoolExecutor(given.threads) as pool:
        jobs = [pool.submit(contextvars.copy_context().run, call, number) for number in range(given.calls)]
        answers = [job.result() for job in jobs]
    took, least = time.perf_counter() - began, (given.calls - given.burst) / given.quota
    server.shutdown()
    print(f"{len(answers)} calls in {given.threads} threads: {took:.1f} s")
    print(f"least time at {given.quota:g} a second: {least:.1f} s")
    print(f"refused with 429: {server.refused} of {server.seen} requests")
    print(f"ratio: {took / least:.3f}")


class Limited(ThreadingHTTPServer):
    """Answers at once, as far as a token bucket allows.

    Args:
        quota: Requests a second.
        burst: Requests at once.
        latency: Seconds that a reply takes; a refusal takes none.
    """

    daemon_threads = True
    request_queue_size = 256

    def __init__(self, quota: float, burst: float, latency: float) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.quota, self.burst, self.latency = quota, burst, latency
        self.seen = self.refused = 0
        self._tokens, self._last, self._lock = burst, time.monotonic(), threading.Lock()

    def wait(self) -> float:
        """0 if a request is taken now, else seconds until one would be."""
        with self._lock:
            now = time.monotonic()
            self._tokens = min(self.burst, self._tokens + (now - self._last) * self.quota)
            self._last, self.seen = now, self.seen + 1
            if self._tokens >= 1:
                self._tokens -= 1
                return 0.0
            self.refused += 1
            return (1 - self._tokens) / self.quota


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Limited

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_POST(self) -> None:
        """A chat completion, or 429."""
        self.rfile.read(int(self.headers["Content-Length"]))
        wait = self.server.wait()
        body = b'{"error": {"message": "slow down"}}' if wait else _REPLY
        self.send_response(429 if wait else 200)
        if wait:
            self.send_header("Retry-After", str(math.ceil(wait)))
        else:
            time.sleep(self.server.latency)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


if __name__ == "__main__":
    main()
