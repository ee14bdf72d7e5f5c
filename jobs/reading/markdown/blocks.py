"""Blocks that CommonMark would take for more than they are, as rules of the parser: what is in doubt is text. Pure.

`[Anna]: Hello.` is a turn of a script, not the address of a link; a line without a bar under a table is a paragraph;
a comment goes on over blank lines; a line `<sighs>` is text.
"""

from __future__ import annotations

import re
from bisect import bisect_right

from lxml.html.defs import tags
from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block import StateBlock, html_block, reference, table

BARE_TAG = re.compile("<(?P<name>[A-Za-z]+)>")
_CLOSING_TAG = re.compile(r"</([A-Za-z][\w-]*)")
_ADDRESS = re.compile(
    r"[#/]\S|\.{1,2}/|[A-Za-z][A-Za-z0-9+.-]{1,20}:(?://)?[^\s/]|[^\s/]{1,200}/(?:[^\s/]{0,200}(?:/|[.#?]\w)|$)|"
    r"[^\s.]{1,200}(?:\.[^\s./]{1,200}){0,8}\.[A-Za-z][A-Za-z0-9]{0,6}(?:[/?#:]|$)"
)
"""How a target begins, or is written, that leads somewhere."""
_SENTENCE = re.compile(r"[^\W\d_a-z]|[\"'“‘«„(—–-]|.*[.!?…,;:”»\"']$", re.DOTALL)
"""How what somebody says begins or ends; a target of a link that is in use does neither."""
_ANGLE = re.compile(r"[^\[\]]{0,999}\]:[\s>]{0,9}<")
_USE = re.compile(r"\[([^\[\]]{1,300})\](?!:)")
# Keys in a parser's environment: names of tags, labels in use, line ends after which no comment is closed.
_TAGS = "tags"
_USED = "used labels"
_NEVER_CLOSED = "comments never closed"


def add_blocks(parser: MarkdownIt) -> None:
    """Let a parser, whose tables are on, know blocks so."""
    parser.options["inline_definitions"] = True
    parser.block.ruler.at("reference", _reference)
    parser.block.ruler.at("table", _table, {"alt": ["paragraph", "reference"]})
    parser.block.ruler.at("html_block", _html_block, {"alt": ["paragraph", "reference", "blockquote"]})


def names_of_tags(text: str) -> frozenset[str]:
    """The names that are tags in a text, in lower case: those of HTML, and those that are closed somewhere."""
    return tags | {name.lower() for name in _CLOSING_TAG.findall(text)}


def _reference(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  the parser calls it so
    """The address of a link, `[label]: target`, if it looks like one or some link uses it."""
    before = state.line
    if silent or not reference(state, start, end, silent):
        return False
    told = state.tokens.pop()
    angled = _ANGLE.match(state.src, state.bMarks[start] + state.tShift[start] + 1) is not None
    if _leads_somewhere(state, str(told.meta["url"]), told.meta["id"], angled=angled):
        return True
    known = state.env["references"]
    if known[told.meta["id"]]["map"] == told.map:
        del known[told.meta["id"]]
    else:
        state.env["duplicate_refs"].pop()
    state.line = before
    return False


def _leads_somewhere(state: StateBlock, url: str, label: str, *, angled: bool) -> bool:
    """Whether a target looks like an address, or like a word that a link uses; `label` as the parser compares it."""
    written = state.md.normalizeLinkText(url)
    if _ADDRESS.match(written):
        return True
    if _USED not in state.env:
        state.env[_USED] = {normalizeReference(used) for used in _USE.findall(state.src)}
    return label in state.env[_USED] and (angled or not _SENTENCE.match(written))


def _table(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  the parser calls it so
    """A table, up to the first line without a bar."""
    if silent or not table(state, start, min(end, start + 2), silent=True):
        return silent and table(state, start, end, silent)
    for line in range(start + 2, end):
        if "|" not in state.src[state.bMarks[line] : state.eMarks[line]]:
            return table(state, start, line, silent)
    return table(state, start, end, silent)


def _html_block(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  the parser calls it so
    """HTML, but not a line `<sighs>` that somebody wrote; with a comment that blank lines part, up to its end."""
    match = BARE_TAG.match(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start])
    if match is not None:
        if _TAGS not in state.env:
            state.env[_TAGS] = names_of_tags(state.src)
        if match["name"].lower() not in state.env[_TAGS]:
            return False
    if not html_block(state, start, end, silent):
        return False
    if not silent:
        token = state.tokens[-1]
        while (goes_on := _comment_end(state, token.content, end)) is not None:
            state.line = goes_on
            token.map = [start, goes_on]
            token.content = state.getLines(start, goes_on, state.blkIndent, keepLastLF=True)
    return True


def _comment_end(state: StateBlock, content: str, end: int) -> int | None:
    """The line after the block whose last comment is closed below it; None when it is closed, or never is."""
    opened = content.rfind("<!--")
    if opened < 0 or content.find("-->", opened) >= 0 or state.line >= end:
        return None
    never: set[int] = state.env.setdefault(_NEVER_CLOSED, set())
    if end in never:
        return None
    closed = state.src.find("-->", state.bMarks[state.line], state.eMarks[end - 1])
    if closed < 0:
        never.add(end)
        return None
    last = bisect_right(state.bMarks, closed) - 1
    for line in range(state.line, last + 1):
        if not state.isEmpty(line) and state.sCount[line] < state.blkIndent:
            return None
    last += 1
    while last < end and not state.isEmpty(last):
        last += 1
    return last
