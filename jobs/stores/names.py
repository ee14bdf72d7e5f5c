"""What an object key may look like: one rule for all stores, so that a key valid in one is valid in every other."""

from __future__ import annotations

from jobs.errors import StoreError

MAX_PART_BYTES = 255
"""Longest part of a key in UTF-8: what common file systems take for one name."""


def check_key(key: str) -> str:
    """Return `key` if it can name an object.

    Raises:
        StoreError: empty, absolute, with NUL or backslash, an empty part, a part that begins with a dot, a part
            that is too long, or text that is not valid Unicode.
    """
    problem = _problem(key)
    if problem:
        msg = f"{key!r} is not an object key: {problem}; keys look like takes/ab/abcd.flac"
        raise StoreError(msg)
    return key


def _problem(key: str) -> str:
    if "\0" in key or "\\" in key:
        return "it holds a NUL or a backslash"
    for part in key.split("/"):
        if not part:
            return "it is empty, absolute or has an empty part"
        if part.startswith("."):
            return "a part begins with a dot"
        try:
            size_bytes = len(part.encode())
        except UnicodeEncodeError:
            return "it is not valid Unicode"
        if size_bytes > MAX_PART_BYTES:
            return f"a part has {size_bytes} bytes, allowed are {MAX_PART_BYTES}"
    return ""
