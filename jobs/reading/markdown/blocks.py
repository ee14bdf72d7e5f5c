"""Blocks that CommonMark would take for more than they are, as rules of the parser: what is in doubt is text. Pure.

`[Anna]: Hello.` is a turn of a script, not the address of a link; a line without a bar under a table is a paragraph;
a comment goes on over blank lines; a line `<sighs>` is text.
"""

from __future__ import annotations

import re

from lxml.html.defs import tags
from markdown_it import MarkdownIt
from markdown_it.common.utils import normalizeReference
from markdown_it.rules_block import StateBlock, reference

BARE_TAG = re.compile("<(?P<name>[A-Za-z]+)>")
_CLOSING_TAG = re.compile(r"</([A-Za-z][\w-]*)")
_ADDRESS = re.compile(
    r"[#?/][^\s]|\.{1,2}/|[A-Za-z][A-Za-z0-9+.-]{1,20}:(?://)?[^\s/]|www\.\w|"
    r"[^\s/]{1,200}/(?:[^\s/]{0,200}[/.#?]|$)|[^\s.]{1,200}(?:\.[^\s./]{1,200}){0,8}\.[A-Za-z][A-Za-z0-9]{0,6}(?:[/?#:]|$)"
)
"""How a target begins, or is written, that leads somewhere."""
_SENTENCE = re.compile(r"[^\W\d_a-z]|[\"'“‘«„(—–-]|.*[.!?…,;:”»\"']$", re.DOTALL)
"""How what somebody says begins or ends; a target of a link that is in use does neither."""
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
    if _leads_somewhere(state, str(told.meta["url"]), str(told.meta["label"])):
        return True
    known = state.env["references"]
    if known.get(told.meta["id"], {}).get("map") == told.map:
        del known[told.meta["id"]]
    else:
        state.env["duplicate_refs"].pop()
    state.line = before
    return False


def _leads_somewhere(state: StateBlock, url: str, label: str) -> bool:
    written = state.md.normalizeLinkText(url)
    after_label = state.src.find("]:", state.bMarks[state.line - 1] - len(label) - 4 if state.line else 0)
    if _ADDRESS.match(written) or (after_label >= 0 and not written):
        return True
    if _USED not in state.env:
        state.env[_USED] = {normalizeReference(label) for label in _USE.findall(state.src)}
    return normalizeReference(label) in state.env[_USED] and not _SENTENCE.match(written)
