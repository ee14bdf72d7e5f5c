"""The Markdown parser as it is used here: CommonMark with tables, strikethrough, notes, and ends of links told. Pure.

Beside the tokens of markdown-it: `note_open` and `note_close` around the text of a note, `note_mark` and `note_text`
(`^[…]`) inside a line. Marks for `--markup` stay text, also where Markdown would see a link.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock
from markdown_it.rules_inline import StateInline, image, link

from jobs.reading.markdown.blocks import add_blocks
from jobs.reading.markdown.dialects import add_dialects
from jobs.reading.marks import MARK

MAX_NESTING = 100
"""Quotes and lists inside each other; what is deeper is no structure of a text, and is read as one paragraph."""
MAX_LINK_NESTING = 20
NOTES = "notes"
"""The key in a parser's environment of the labels that have a note."""
_NOTE_LABEL = re.compile(r"\[\^(?P<label>[^\]\s]{1,100})\]:[ \t]*")
_NOTE_MARK = re.compile(r"\[\^(?P<label>[^\]\s]{1,100})\](?!\()")
_NOTE_INDENT = 2
_BRACKET = re.compile(r"[\[\]]")
_MAX_UNCLOSED = 20
_NO_LINKS = "no links"
"""The key in a parser's environment of the brackets that begin no link, by the text they are in."""
_LAST_BRACKET = -1
"""A key in the parser's cache, which has places as its others."""
_LINK_AFTER = re.compile(r"\([^()\s]{0,400}[/#.:]|\[")


def markdown_parser() -> MarkdownIt:
    """A parser. Escapes and entities stay tokens of their own (`text_special`), so that their place can be known."""
    parser = MarkdownIt("commonmark", {"maxNesting": MAX_NESTING}).enable(["table", "strikethrough"])
    parser.disable("text_join")
    parser.block.ruler.before("reference", "note", _note, {"alt": ["paragraph", "reference", "blockquote", "list"]})
    add_blocks(parser)
    parser.inline.ruler.before("link", "mark", _mark)
    parser.inline.ruler.before("link", "note_mark", _note_mark)
    parser.inline.ruler.before("link", "note_text", _note_text)
    add_dialects(parser)
    parser.inline.ruler.at("link", _link)
    parser.inline.ruler.at("image", _image)
    return parser


def _note(state: StateBlock, start: int, end: int, silent: bool) -> bool:  # noqa: FBT001  the parser calls it so
    """`[^1]: Text`, with the lines that go on with it and indented paragraphs after it."""
    if state.is_code_block(start):
        return False
    match = _NOTE_LABEL.match(state.src, state.bMarks[start] + state.tShift[start], state.eMarks[start])
    if match is None or silent:
        return match is not None
    state.env.setdefault(NOTES, set()).add(match["label"].casefold())
    opened = state.push("note_open", "", 1)
    saved = (state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType, state.blkIndent)
    state.blkIndent += _NOTE_INDENT
    state.bMarks[start], state.tShift[start], state.sCount[start] = match.end(), 0, state.blkIndent
    state.parentType = "note"
    state.line = start + 1
    state.md.block.tokenize(state, start, end)
    state.bMarks[start], state.tShift[start], state.sCount[start], state.parentType, state.blkIndent = saved
    state.line = max(state.line, start + 1)
    opened.map = [start, state.line]
    state.push("note_close", "", -1)
    return True


def _mark(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  the parser calls it so
    """`[pause: 1s]` is text, whatever follows it; a bare `[pause]` before an address is a link."""
    match = MARK.match(state.src, state.pos) if state.src[state.pos] == "[" else None
    if match is None or (match["value"] is None and _LINK_AFTER.match(state.src, match.end())):
        return False
    if not silent:
        state.pending += match.group()
    state.pos = match.end()
    return True


def _note_mark(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  the parser calls it so
    """`[^1]` that has a note, or is a number."""
    match = _NOTE_MARK.match(state.src, state.pos) if state.src[state.pos] == "[" else None
    if match is None:
        return False
    if not match["label"].isdecimal() and match["label"].casefold() not in state.env.get(NOTES, ()):
        return False
    if not silent:
        state.push("note_mark", "", 0).content = match.group()
    state.pos = match.end()
    return True


def _note_text(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  the parser calls it so
    """`^[A note.]`: a note where its mark is."""
    start = state.pos
    if not state.src.startswith("^[", start):
        return False
    if not _may_link(state, start + 1):
        return False
    end = state.md.helpers.parseLinkLabel(state, start + 1)
    inside = state.src[start + 2 : end]
    if end < 0 or " " not in inside or state.src[end + 1 : end + 2] in {"(", "["}:
        return False
    if not silent:
        state.push("note_text", "", 0).content = inside
    state.pos = end + 1
    return True


def _link(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  the parser calls it so
    return _may_link(state, state.pos) and _told(link(state, silent), state, silent=silent)


def _image(state: StateInline, silent: bool) -> bool:  # noqa: FBT001  the parser calls it so
    bracket = state.pos + state.src.startswith("!", state.pos)
    return _may_link(state, bracket) and _told(image(state, silent), state, silent=silent)


def _may_link(state: StateInline, bracket: int) -> bool:
    """Whether a link can begin with the bracket at a place.

    The parser looks for its end in every bracket inside every bracket.
    Code may hold a bracket without its other half, so only where many have none are those no links.
    """
    if state.level >= MAX_LINK_NESTING:
        return False
    if _LAST_BRACKET not in state.cache:
        state.cache[_LAST_BRACKET] = state.src.rfind("]")
    if state.cache[_LAST_BRACKET] <= bracket:
        return False
    known: dict[str, frozenset[int]] = state.env.setdefault(_NO_LINKS, {})
    if state.src not in known:
        known[state.src] = _no_links(state.src)
    return bracket not in known[state.src]


def _no_links(text: str) -> frozenset[int]:
    """Places of brackets that begin no link: with too deep a nest inside, or one of too many that are never closed."""
    opened: list[tuple[int, int]] = []  # place, how deep the brackets inside are
    deep: list[int] = []
    for match in _BRACKET.finditer(text):
        if match.group() == "[":
            opened.append((match.start(), 0))
        elif opened:
            place, inside = opened.pop()
            if inside >= MAX_LINK_NESTING:
                deep.append(place)
            if opened:
                opened[-1] = opened[-1][0], max(opened[-1][1], inside + 1)
    return frozenset([*deep, *(place for place, _ in opened if len(opened) > _MAX_UNCLOSED)])


def _told(found: bool, state: StateInline, *, silent: bool) -> bool:  # noqa: FBT001  what the rule said
    """Note on the last token of a link or image where it ends: its address is in no token."""
    if found and not silent:
        state.tokens[-1].meta = {"end": state.pos}
    return found
