"""A line that is kept up to date on a terminal; elsewhere it is printed now and then, with --json not at all."""

from __future__ import annotations

import time
from typing import Self

from rich.live import Live
from rich.text import Text

from cli.output import Output

PLAIN_EVERY_S = 5.0


class LiveLine:
    """Use it in a `with` block: on a terminal the line is gone afterwards."""

    def __init__(self, output: Output) -> None:
        self._output = output
        self._live = Live(Text(), console=output.console, transient=True, auto_refresh=False)
        self._due_s = 0.0

    def __enter__(self) -> Self:
        self._live.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._live.stop()

    def show(self, line: str) -> None:
        """Put another line in its place."""
        if self._output.console.is_terminal:
            self._live.update(Text(line), refresh=True)
        elif time.monotonic() >= self._due_s and not self._output.as_json:
            self._due_s = time.monotonic() + PLAIN_EVERY_S
            self._output.say(line)
