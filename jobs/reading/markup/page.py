"""An HTML or XHTML page read into a tree whose every text knows its place in the page. Pure.

The page is scanned once; what is between its tags becomes numbered runs, and the parser is given plain tags with the
numbers between them. So the parser mends nesting only, and no character can get lost, change or move unnoticed. Knows
no meaning of elements beyond which are empty or raw.
"""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from lxml import etree

from jobs.reading.markup.nesting import Nesting
from jobs.reading.markup.tags import attributes_of, plain_name, tag_name

_MARK = re.compile("\ue000([0-9]+)\ue001")
_OPENING = re.compile(r"<(?:!--|!\[CDATA\[|[!?]|/?[A-Za-z][^\s/>\"'<=]{0,63}|/)", re.IGNORECASE)
_TAG_STOP = re.compile("[>\"']")
_QUOTES = ("'", '"')
_REFERENCE = re.compile(r"&(?:#[0-9]{1,8};?|#[xX][0-9a-fA-F]{1,7};?|[A-Za-z][A-Za-z0-9]{1,31};?)")
_VOID = frozenset(
    {"area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "image"}
) | frozenset({"input", "keygen", "link", "meta", "param", "source", "track", "wbr"})
_BREAK_END = re.compile(r"<br\s{0,2}/?>\Z", re.IGNORECASE)
_ANY_BLOCK = re.compile(r"<(?:p|div|h[1-6]|body|section|article|main|ul|ol|dl|table|blockquote)[\s>]", re.IGNORECASE)
_PARAGRAPH_BREAKS = 2
_DROPPED = frozenset({"script", "style"})
_OUTER = frozenset({"body", "html"})
_ONCE = _OUTER | {"head"}
"""The parser has one of each, however often they begin."""
_RAW = frozenset({"title", "textarea", "xmp", "plaintext"})


class Run(NamedTuple):
    """Characters of a page that stand together, references decoded, and the place of each in the page."""

    text: str
    places: Sequence[int]


@dataclass(slots=True)
class Page:
    """A tree in which every text is a row of marks for `runs`; `escapes` are ranges that stand for one character."""

    root: etree._Element
    runs: list[Run]
    escapes: list[tuple[int, int]]
    warnings: tuple[str, ...]

    def runs_of(self, marks: str | None) -> Iterator[Run]:
        """What a text or attribute of the tree stands for."""
        return (self.runs[int(match[1])] for match in _MARK.finditer(marks or ""))

    def text_of(self, node: etree._Element) -> str:
        """All text in an element, with single spaces."""
        runs = (run for marks in node.itertext() for run in self.runs_of(str(marks)))
        return " ".join("".join(run.text for run in runs).split())

    def chars_of(self, marks: str | None) -> int:
        """How many characters that are no white space a text of the tree stands for."""
        if not marks:
            return 0
        return sum(len("".join(run.text.split())) for run in self.runs_of(marks))


def page_of(text: str, parse: Callable[[str], etree._Element]) -> Page:
    """The tree of a page by `parse`, which gets plain tags only."""
    scan = _Scan(text)
    scan.run()
    root = parse("".join(scan.made))
    return Page(root, scan.runs, scan.escapes, tuple(dict.fromkeys(scan.warnings)))


@dataclass(slots=True)
class _Scan:
    """One pass over a page. `gone` are strings that do not come any more: looking for them again would cost the page.

    White space before the body stays as it is: the parser would open the body for the mark of a run. `closers` end the
    body and the page: at its end, for text may come after them. `breaks` counts line breaks since there was anything
    else: two end a paragraph, and more of them say nothing more.
    """

    page: str
    made: list[str] = field(default_factory=list)
    runs: list[Run] = field(default_factory=list)
    escapes: list[tuple[int, int]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    gone: set[str] = field(default_factory=set)
    closers: list[str] = field(default_factory=list)
    nesting: Nesting = field(default_factory=Nesting)
    in_body: bool = False
    breaks: int = 0

    def run(self) -> None:
        """Scan it all."""
        text_from = at = 0
        while (at := self.page.find("<", at)) >= 0:
            opening = _OPENING.match(self.page, at)
            end = -1 if opening is None else self._end_of(opening)
            if opening is None or end < 0:
                at += 1
                continue
            self._text(text_from, at)
            text_from = at = self._take(opening, end)
        self._text(text_from, len(self.page))
        self.made += self.closers

    def _find(self, what: str, at: int) -> int:
        found = -1 if what in self.gone else self.page.find(what, at)
        if found < 0:
            self.gone.add(what)
        return found

    def _end_of(self, opening: re.Match[str]) -> int:
        """Where what is opened ends (one past); -1 when it never does and so is text."""
        what, at = opening.group().upper(), opening.end()
        if what == "<!--":
            found = self._find("-->", opening.start() + 2)
            if found < 0:
                self.warnings.append("a comment does not end; what follows its beginning is read as text")
                return at
            return found + 3
        if what == "<![CDATA[":
            return at
        if what == "<!" and self.page[at : at + 7].upper() == "DOCTYPE":
            return self._doctype_end(at)
        if what in {"<!", "<?", "</"}:
            return self._find(">", at) + 1 or -1
        return self._tag_end(at)

    def _doctype_end(self, at: int) -> int:
        end = self._find(">", at)
        subset = self.page.find("[", at, max(end, at))
        if subset >= 0 and (closed := self._find("]", subset)) >= 0:
            end = self._find(">", closed)
        return end + 1 or -1

    def _tag_end(self, start: int) -> int:
        """One past the `>` of a tag; one inside a quoted value is none, if the quote is not one that was forgotten."""
        if self.gone.issuperset(_QUOTES) or ">" in self.gone:
            return self._find(">", start) + 1 or -1
        end = self.page.find(">", start)
        if end >= 0 and self.page.find('"', start, end) < 0 and self.page.find("'", start, end) < 0:
            return end + 1
        at = start
        while (stop := _TAG_STOP.search(self.page, at)) is not None:
            if stop.group() == ">":
                return stop.end()
            before = self.page[max(start, stop.start() - 16) : stop.start()].rstrip()
            closed = self._find(stop.group(), stop.end()) if before.endswith("=") else -1
            inside = self.page.find(">", stop.end(), max(closed, stop.end()))
            if inside >= 0 and self.page[closed - 1] == "=":
                return inside + 1
            at = stop.end() if closed < 0 else closed + 1
        # A quote ran away with the page. From here on quotes count for nothing: each such tag would cost the page.
        self.gone |= set(_QUOTES)
        return self._find(">", start) + 1 or -1

    def _take(self, opening: re.Match[str], end: int) -> int:
        """Hand on what was opened; returns where text goes on."""
        what, at = opening.group(), opening.start()
        if what.upper() == "<![CDATA[":
            closed = self._find("]]>", end)
            self._text(end, closed, raw=True)
            return closed + 3 if closed >= 0 else end
        if what in {"<!--", "<!", "<?", "</"}:
            return end
        name = plain_name(what.lstrip("</").lower())
        if what.lower() == "</br":
            if _BREAK_END.search(self.page, max(0, at - 8), at) is not None:
                return end  # `<br></br>` is one line break, a lone `</br>` is one too
            what = "<br"
        self.breaks = self.breaks + 1 if name == "br" else 0
        if self.breaks > _PARAGRAPH_BREAKS:
            return end
        if what.startswith("</"):
            self._close(name)
            return end
        return self._open(name, opening, end)

    def _close(self, name: str) -> None:
        if name in _OUTER:
            self.made.append("<div></div>")  # a paragraph does not go on after it
            self.closers.append(f"</{name}>")
        elif name not in _VOID and name not in _DROPPED and name not in _RAW:
            self.made.append(f"</{name}>" if name in _ONCE else self.nesting.closed(tag_name(name)))

    def _open(self, name: str, opening: re.Match[str], end: int) -> int:
        """An element begins; returns where text goes on: after its content when that is no text."""
        self.in_body = self.in_body or name == "body"
        empty = self.page[end - 2] == "/"
        tag = tag_name(name) + self._attributes(opening.end(), end - 1)
        if name in _DROPPED:
            return end if empty else self._dropped_end(name, end)
        if name in _VOID:
            self.made.append(f"<{tag}/>")
            if name == "br":
                self.made.append(self._mark("\n", (opening.start(),)))
                self.escapes.append((opening.start(), end))
            return end
        if empty and name in _OUTER:
            self.closers.insert(0, f"</{name}>")
        elif empty:
            self.made.append(f"<{tag}></{tag_name(name)}>")
            return end
        if name in _RAW and not empty:
            return self._raw(name, tag, end)
        self.made.append(f"<{tag}>" if name in _ONCE else self.nesting.opened(tag_name(name), tag))
        return end

    def _raw(self, name: str, tag: str, end: int) -> int:
        """An element that holds text and no tags; without an end it is no such element."""
        closed = self._closing(name, end)
        if closed < 0:
            return end
        text = self._noted(end, closed) if closed > end else ""
        self.made.append(f"<{tag}>{text}</{tag_name(name)}>")
        return closed

    def _dropped_end(self, name: str, end: int) -> int:
        closed = self._closing(name, end)
        if closed >= 0:
            return closed
        block = _ANY_BLOCK.search(self.page, end)
        if block is not None:
            self.warnings.append(f"<{name}> does not end; the page is read on from the next block after it")
            return block.start()
        self.warnings.append(f"<{name}> does not end; what follows it is not read")
        self.made.append(f'<div hidden="">{self._noted(end, len(self.page), raw=True)}</div>')
        return len(self.page)

    def _closing(self, name: str, at: int) -> int:
        """Where the end tag of an element of raw text is, whatever its case."""
        if f"</{name}" in self.gone:
            return -1
        match = re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE).search(self.page, at)
        if match is None:
            self.gone.add(f"</{name}")
            return -1
        return match.start()

    def _attributes(self, start: int, end: int) -> str:
        """The attributes of a tag that say something about its text, written plainly."""
        if end - start < 2:
            return ""
        said, texts = attributes_of(self.page, start, end)
        said |= {key: self._noted(*span) for key, span in texts.items()}
        return "".join(f' {key}="{value}"' for key, value in said.items())

    def _text(self, start: int, end: int, *, raw: bool = False) -> None:
        if start >= end:
            return
        if not self.in_body and self.page[start:end].isspace():
            self.made.append(" ")
            return
        self.in_body = True
        if self.breaks and not self.page[start:end].isspace():
            self.breaks = 0
        self.made.append(self._noted(start, end, raw=raw))

    def _noted(self, start: int, end: int, *, raw: bool = False) -> str:
        """A run of the page from `start` to `end`; returns its mark."""
        text = self.page[start:end]
        if raw or "&" not in text:
            return self._mark(text, range(start, end))
        pieces: list[str] = []
        places: array[int] = array("Q")
        at = 0
        for match in _REFERENCE.finditer(text):
            meant = html.unescape(match.group())
            if meant != match.group():
                pieces += (text[at : match.start()], meant)
                places.extend(range(start + at, start + match.start()))
                places.extend([start + match.start()] * len(meant))
                self.escapes.append((start + match.start(), start + match.end()))
                at = match.end()
        pieces.append(text[at:])
        places.extend(range(start + at, end))
        return self._mark("".join(pieces), places)

    def _mark(self, text: str, places: Sequence[int]) -> str:
        self.runs.append(Run(text, places))
        return f"\ue000{len(self.runs) - 1}\ue001"
