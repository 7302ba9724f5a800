"""How far a long piece of work has come: one line that changes on a terminal, a plain line now and then elsewhere."""

from __future__ import annotations

import time

from rich.console import Console
from rich.live import Live
from rich.text import Text

from videohv.cli.progress import LINE_EVERY


class OneLine:
    """The line.

    Args:
        console: Where it is shown.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._live: Live | None = None
        self._last = float("-inf")

    def show(self, line: str, *, news: bool) -> None:
        """Show a line; where there is no terminal, only if it has news or none was shown for a while."""
        if self._console.is_terminal:
            if self._live is None:
                self._live = Live(console=self._console, refresh_per_second=4, transient=True)
                self._live.start()
            self._live.update(Text(line))
        elif news or time.monotonic() - self._last >= LINE_EVERY:
            self._last = time.monotonic()
            self._console.print(line, markup=False, soft_wrap=True)

    def close(self) -> None:
        """Take the line away."""
        if self._live is not None:
            self._live.stop()
            self._live = None
