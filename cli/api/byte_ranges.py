"""Range requests (RFC 9110 section 14): one range of bytes of a thing whose size is known. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass

_ONE_RANGE = re.compile(r"bytes\s*=\s*(\d*)\s*-\s*(\d*)", re.ASCII | re.IGNORECASE)
_MAX_DIGITS = 18


@dataclass(frozen=True, slots=True)
class ByteRange:
    """Bytes `first` to `last`, both included."""

    first: int
    last: int

    @property
    def length(self) -> int:
        """How many bytes."""
        return self.last - self.first + 1


class NotThere(Exception):
    """The range begins behind the end."""


def byte_range(header: str | None, size_bytes: int) -> ByteRange | None:
    """The one range that is asked for; None: the whole.

    What is no range of bytes, or more than one, is passed over, as section 14.2 allows: the whole is the answer then.

    Raises:
        NotThere: nothing of it is there (416).
    """
    found = _ONE_RANGE.fullmatch((header or "").strip())
    if found is None:
        return None
    first, last = found.groups()
    if max(len(first), len(last)) > _MAX_DIGITS or not (first or last):
        return None
    if not first:
        wanted = min(int(last), size_bytes)
        if wanted == 0:
            raise NotThere
        return ByteRange(size_bytes - wanted, size_bytes - 1)
    if last and int(last) < int(first):
        return None
    if int(first) >= size_bytes:
        raise NotThere
    return ByteRange(int(first), min(int(last), size_bytes - 1) if last else size_bytes - 1)
