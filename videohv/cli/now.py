"""What is going on right now, as the last line of a terminal: which step is at work, for how long, and what it took."""

from __future__ import annotations

import threading
import time
from typing import NamedTuple

from rich.console import Console
from rich.live import Live
from rich.text import Text

from videohv.cli.running import count
from videohv.lm.overheard import Asked, Ended

A_SECOND = 4
"""How often the line is drawn anew."""


class _Step(NamedTuple):
    """What is at work; replaced as a whole, since the line is drawn from another thread, which must not wait here."""

    name: str = ""
    began: float = 0.0
    calls: int = 0
    tokens: int = 0


class Now:
    """The line. It listens to the LM calls of a question; nothing is shown where there is no terminal.

    Args:
        console: Where it is drawn, below everything else that is printed there.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._lock = threading.RLock()
        self._live: Live | None = None
        self._step = _Step()
        self._hidden = False

    def __call__(self, heard: Asked | Ended) -> None:
        """Take note of a call: its role is the step that is at work."""
        with self._lock:
            if isinstance(heard, Asked):
                self._at(heard.role)
                self._step = self._step._replace(calls=self._step.calls + 1)
            elif heard.reply is not None and not heard.cached and heard.asked.role == self._step.name:
                used = heard.reply.prompt_tokens + heard.reply.completion_tokens
                self._step = self._step._replace(tokens=self._step.tokens + used)

    def begin(self, step: str) -> None:
        """A step that makes no call is at work; it lasts until another one begins or `end`."""
        with self._lock:
            self._hidden = False
            self._at(step)

    def hide(self) -> None:
        """Take the line away until the next step begins: something else is drawn in its place."""
        with self._lock:
            self._hidden = True
            self._stop()

    def end(self) -> None:
        """The step is over: the line vanishes."""
        with self._lock:
            self._stop()
            self._step, self._hidden = _Step(), False

    def line(self) -> str:
        """What is shown."""
        step = self._step
        parts = [f"{time.monotonic() - step.began:.0f} s"]
        if step.calls:
            parts.append(f"{step.calls} call{'s' if step.calls > 1 else ''}")
        if step.tokens:
            parts.append(f"{count(step.tokens)} tokens")
        return f"{step.name}… {', '.join(parts)}"

    def _at(self, step: str) -> None:
        if step != self._step.name:
            self._step = _Step(step, time.monotonic())
        if self._live is None and not self._hidden and self._console.is_terminal:
            # Only what goes to stderr: what is printed to stdout meanwhile is a result and must get there.
            self._live = Live(
                get_renderable=lambda: Text(self.line(), style="dim", no_wrap=True, overflow="ellipsis"),
                console=self._console,
                refresh_per_second=A_SECOND,
                transient=True,
                redirect_stdout=False,
            )
            self._live.start()

    def _stop(self) -> None:
        live, self._live = self._live, None
        if live is not None:
            live.stop()
