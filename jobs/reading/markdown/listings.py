"""Whether what Markdown takes for a listing is one: text that was set in, and fences without an end. Pure."""

from __future__ import annotations

import re

_CODE_SIGN = re.compile(
    r"[{}=<>|$\\`\x22]{2}|[{}=<>|$\\`]|\w[\[(_]\w|;[ \t]*$|::|->|\w://|/\w{1,80}/|\w\(\)|^[ \t]*(?:[#/%@]|--?\w|\.\w)",
    re.MULTILINE,
)
_ENDS = re.compile(r"[^\W_][\"'”’»)]{0,3}[.!?…:,;—–-]{1,6}[\"'”’“»)*_]{0,4}$|[。！？」』…]$")
_BEGINS = re.compile(r"[\"'“‘«„(¿¡*_—–-]{0,6} ?[^\W\d_a-z]")
_FENCE_SIGNS = "> \t"
_MIN_LINES_OF_VERSE = 2
_MIN_WORDS = 3


def reads_as_text(listing: str) -> bool:
    """Whether the lines of an indented listing are sentences or verse: at least half of the words are in such."""
    words = {True: 0, False: 0}
    for block in re.split(r"\n[ \t]*\n", listing):
        if block.strip():
            words[_is_text(block.strip())] += len(block.split())
    return words[True] > 0 and words[True] >= words[False]


def _is_text(block: str) -> bool:
    if _CODE_SIGN.search(block):
        return False
    lines = [line.strip() for line in block.split("\n")]
    begins = [_BEGINS.match(line) is not None for line in lines]
    if _ENDS.search(lines[-1]):
        return begins[0] or len(block.split()) >= _MIN_WORDS
    verse = all(begins) and len(block.split()) >= _MIN_WORDS * len(lines)
    return verse and len(lines) >= _MIN_LINES_OF_VERSE


def is_closed(last_line: str, fence: str) -> bool:
    """Whether the last line of a listing is the end of a fence that was opened with the signs `fence`."""
    signs = last_line.strip(_FENCE_SIGNS)
    return len(signs) >= len(fence) and not signs.strip(fence[0])
