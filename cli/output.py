"""The only file that prints. stdout = the result, stderr = talk; with `--json` the last stdout line is one document.

Exit codes (documented in docs/commands.md): 0 done, 1 some segments failed or the job did, 2 bad input, 3 no broker,
4 no device, 130 interrupted.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping, Sequence
from enum import IntEnum
from typing import BinaryIO

from rich.console import Console
from rich.table import Table

_NOT_IN_A_LINE = re.compile("[\x7f-\x9f\u2028\u2029\ud800-\udfff]")
JsonValue = str | int | float | bool | None | Sequence["JsonValue"] | Mapping[str, "JsonValue"]


class Exit(IntEnum):
    """What the exit status of every command means."""

    DONE = 0
    FAILED = 1
    BAD_INPUT = 2
    NO_BROKER = 3
    NO_DEVICE = 4
    INTERRUPTED = 130


class Output:
    """Where one command writes. `as_json` turns results into one JSON line and silences tables."""

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json
        self._out = Console(highlight=False, soft_wrap=True, markup=False, emoji=False)
        self.console = Console(stderr=True, highlight=False, soft_wrap=True, markup=False, emoji=False)

    def result(self, document: JsonValue, text: str | Table | None = None) -> None:
        """The result: the document with --json, else the text or table."""
        if self.as_json:
            sys.stdout.write(json_line(document) + "\n")
        elif text is not None:
            self._out.print(text)
        sys.stdout.flush()

    def say(self, text: str) -> None:
        """Talk to the person: stderr, so that pipes stay clean."""
        self.console.print(text)

    def error(self, message: str, *, code: str, problems: Sequence[JsonValue] = ()) -> None:
        """An error: one line for people on stderr, and with --json a document on stdout."""
        self.console.print(f"error: {message}")
        if self.as_json:
            self.result({"error": {"code": code, "message": message, "problems": list(problems)}})

    @staticmethod
    def raw() -> BinaryIO:
        """stdout for bytes (audio)."""
        return sys.stdout.buffer


def json_line(document: JsonValue) -> str:
    """A document as one line for every reader: what some take for a line end, or cannot encode, is escaped."""
    text = json.dumps(document, ensure_ascii=False)
    return _NOT_IN_A_LINE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def table(*headers: str, rows: Iterable[Sequence[str]]) -> Table:
    """A plain table that stays readable when piped."""
    made = Table(*headers, box=None, pad_edge=False, header_style="bold")
    for row in rows:
        made.add_row(*row)
    return made
