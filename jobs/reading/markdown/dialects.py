"""Signs that programs for notes add to Markdown, as rules of the parser: `==marked==`, `$x^2$`, `[[Page|name]]`. Pure.

Of these the words are heard; `![[picture.png]]` is an image, `%%comment%%` is hidden. `[[…]]` that could be meant for
the model (phonemes, marks with a colon) stays as it is written.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline

_PAIRS = (
    re.compile(r"(?P<open>==)(?=[^\s=])[^=\n]{1,500}(?<=[^\s=])(?P<close>==)(?!=)"),
    re.compile(r"(?P<open>\$)(?=[^\s$])(?=[^$\n]{0,300}[\\^_={])[^$\n]{1,300}(?<=[^\s$\\])(?P<close>\$)(?!\d)"),
    re.compile(
        r"(?<![\w\])])(?P<open>\[\[(?:[^\[\]|\n:]{1,200}\||(?=[A-ZÀ-ÞА-Я]|[a-z]{1,40} [A-Za-z ]{1,200}\]\])))"
        r"[^\[\]|\n:]{1,200}(?P<close>\]\])"
    ),
)
_WHOLE = (
    ("embed", re.compile(r"!\[\[(?P<inside>[^\[\]\n]{1,300})\]\]")),
    ("comment", re.compile(r"(?<!\S)%%(?P<inside>[^%\n]{1,2000})%%(?!\S)")),
)
_FIRST = frozenset("=$[!%]")


def add_dialects(parser: MarkdownIt) -> None:
    """Let a parser know these signs: tokens `pair_sign`, `embed` and `comment`, with their source as `markup`."""
    parser.inline.ruler.before("link", "pair", _pair)
    parser.inline.ruler.before("link", "whole", _whole)


def _pair(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  the parser calls it so
    """The first or the last sign of a pair; what is between is parsed as any text."""
    if state.src[state.pos] not in _FIRST:
        return False
    signs = state.cache.get(_closer(state.pos), 0)
    if not signs:
        match = next((found for pair in _PAIRS if (found := pair.match(state.src, state.pos))), None)
        if match is None:
            return False
        state.cache[_closer(match.start("close"))] = len(match["close"])
        signs = len(match["open"])
    if not silent:
        state.push("pair_sign", "", 0).markup = state.src[state.pos : state.pos + signs]
    state.pos += signs
    return True


def _whole(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  the parser calls it so
    if state.src[state.pos] not in _FIRST:
        return False
    for kind, pattern in _WHOLE:
        match = pattern.match(state.src, state.pos)
        if match is not None:
            if not silent:
                token = state.push(kind, "", 0)
                token.markup, token.content = match.group(), match["inside"]
            state.pos = match.end()
            return True
    return False


def _closer(place: int) -> int:
    """The key in the parser's cache, which has places as its others, of how many signs close a pair at a place."""
    return -2 - place
