"""Names of files and batches: they sort by the time they were made at, and nobody guesses one. Pure, but for its dice.

`new_id(FILE)` is `file-` or `new_id(BATCH)` `batch_` with 12 hex digits of milliseconds and 16 of chance.
"""

from __future__ import annotations

import hashlib
import re
import secrets
from typing import Final

FILE: Final = "file-"
BATCH: Final = "batch_"
_TIME_DIGITS = 12
_CHANCE_BYTES = 8
_DIGITS = re.compile(f"[0-9a-f]{{{_TIME_DIGITS + 2 * _CHANCE_BYTES}}}")


def new_id(kind: str, now_s: float) -> str:
    """A new name of a kind. `now_s` is seconds since 1970."""
    return f"{kind}{round(now_s * 1000):0{_TIME_DIGITS}x}{secrets.token_hex(_CHANCE_BYTES)}"


def is_id(kind: str, text: str) -> bool:
    """Whether a text has the form of such a name, and so can be part of a key."""
    return text.startswith(kind) and _DIGITS.fullmatch(text.removeprefix(kind)) is not None


def made_at_s(name: str) -> float:
    """When a name was made, in seconds since 1970."""
    return int(re.split("[-_]", name)[1][:_TIME_DIGITS], 16) / 1000


def derived(kind: str, batch: str, *parts: object) -> str:
    """A name that belongs to a batch: the same whenever it is asked for, of the batch's time, and as hard to guess."""
    digits = batch.removeprefix(BATCH)
    return f"{kind}{digits[:_TIME_DIGITS]}{_hashed(batch, *parts)}"


def request_id(batch: str, line: int) -> str:
    """The name of one line of a batch."""
    return f"batch_req_{_hashed(batch, line)}"


def _hashed(*parts: object) -> str:
    text = "\0".join(map(str, parts))
    return hashlib.blake2b(text.encode(), digest_size=_CHANCE_BYTES).hexdigest()
