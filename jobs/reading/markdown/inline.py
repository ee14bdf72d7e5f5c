"""What is heard of a run of Markdown inside one block, and where each character of it is. Pure.

The tokens of the parser have no places, but each says how much of the source it takes: this walks along both.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field

from markdown_it.token import Token

from jobs.account import Why
from jobs.reading.document import Skip
from jobs.reading.markdown.blocks import BARE_TAG, names_of_tags
from jobs.reading.markup.labels import note_text
from jobs.reading.markup.tags import BLOCKS, attributes_of

_TICKS = re.compile("`+")
_BLANKS = re.compile(r"[ \t]*")
_FIRST_SIGN = re.compile(r"\[![A-Za-z][\w-]{0,40}\][+-]?[ \t]*|\[[ xX]\][ \t]+")
"""`[!NOTE]` of an admonition, `[x]` of a list of tasks."""
_LINE_SIGN = re.compile(r":{3,}[ \t]*(?:\{[^{}\n]{0,80}\}|[\w-]{0,40}$)[ \t]*|(?P<definition>:[ \t]+)")
"""The fence of an admonition `::: note`; the `: ` before a definition."""
_TAG = re.compile(r"<(?P<close>/?)(?P<name>[A-Za-z][\w-]*)")
_RAISED = re.compile(
    r"<sup[^<>]{0,200}>\s{0,9}<a\s[^<>]{0,400}#[^<>]{0,200}>(?P<one>[^<>]{1,20})</a>\s{0,9}</sup>"
    r"|<a\s[^<>]{0,400}#[^<>]{0,200}>\s{0,9}<sup[^<>]{0,200}>(?P<two>[^<>]{1,20})</sup>\s{0,9}</a>"
    r"|<sup[^<>]{0,200}>\s{0,9}\[(?P<three>[^\[\]<>]{1,20})\]\(#[^()\s]{0,200}\)\s{0,9}</sup>",
    re.IGNORECASE,
)
"""A raised link inside the document: a note mark if its text is one."""
_SILENT = {
    **dict.fromkeys(("script", "style", "template"), Why.MARKUP),
    **dict.fromkeys(("rt", "rp"), Why.RUBY),
    **dict.fromkeys(("noscript", "object", "audio", "video", "iframe"), Why.HIDDEN),
    **dict.fromkeys(("button", "select", "textarea"), Why.OUTSIDE),
    "svg": Why.ILLUSTRATIONS,
    "math": Why.SYMBOL,
}
_VOID = frozenset({"br", "hr", "img", "input", "wbr", "area", "col", "embed", "link", "meta", "source", "track"})


@dataclass(frozen=True, slots=True)
class Run:
    """Text (not clean yet) and the offset in the source of each of its characters."""

    text: str
    offsets: Sequence[int]


@dataclass(slots=True)
class _Silent:
    """An open tag whose content is not heard; `at` is its place, `held` whether there was anything in it."""

    name: str
    why: Why
    at: int
    held: bool = False


@dataclass
class InlineWalk:
    """Walks the tokens of one block over `content`, whose characters have the places `offsets` in the source.

    `signs`: what stands first may be the sign of an admonition or of a task. `runs` are the paragraphs found,
    `unclosed` are tags without an end, and where they are, that kept all after them from being heard.
    """

    content: str
    offsets: Sequence[int]
    skip: frozenset[Why]
    signs: bool = False
    runs: list[Run] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    escapes: list[tuple[int, int]] = field(default_factory=list)
    unclosed: list[tuple[str, int]] = field(default_factory=list)
    _at: int = 0
    _text: list[str] = field(default_factory=list)
    _places: array[int] = field(default_factory=lambda: array("Q"))
    _silent: list[_Silent] = field(default_factory=list)
    _mute_until: int = 0
    _line_starts: bool = True
    _in_address: bool = False
    _tag_names: frozenset[str] | None = None

    def read(self, tokens: Sequence[Token]) -> list[Run]:
        """The paragraphs that the tokens say: one, or more where lines begin definitions."""
        for token in tokens:
            self._token(token)
        self.unclosed += [(one.name, one.at) for one in self._silent if one.held]
        self._end_run()
        return self.runs

    def _token(self, token: Token) -> None:
        kind = token.type
        if kind == "text":
            self._plain(token.content)
        elif kind == "text_special":
            self._special(token)
        elif kind in {"softbreak", "hardbreak"}:
            self._line_end()
        elif kind == "code_inline":
            self._code(token)
        elif kind == "html_inline":
            self._html(token.content)
        elif kind == "image":
            self._image(token)
        elif kind in {"note_mark", "note_text"}:
            self._note(token, kind)
        elif kind in {"embed", "comment"}:
            self._aside(token)
        elif kind == "link_open":
            self._at += 1
            if token.info == "auto":
                self._autolink()
        elif kind == "link_close":
            self._in_address = False
            self._at = token.meta.get("end", self._at)
        else:
            self._at += len(token.markup)

    def _plain(self, text: str) -> None:
        if self._in_address:
            return
        # Text is written as it is, so it is found at once; a later place is only taken if the parser has changed.
        start = max(self.content.find(text, self._at), self._at)
        end = min(start + len(text), len(self.content))
        self._at = end
        if self._line_starts and text:
            start += self._sign(text)
        self._put(start, end)

    def _sign(self, text: str) -> int:
        """How many characters at the start of a line are a sign of the format."""
        first = not self._text and not self.runs
        match = _FIRST_SIGN.match(text) if first and self.signs else None
        match = match or _LINE_SIGN.match(text)
        if match is None:
            return 0
        if match.lastgroup == "definition":
            self._end_run()
        return match.end()

    def _special(self, token: Token) -> None:
        end = self._at + len(token.markup)
        self._put(self._at, end, token.content)
        self._at = end

    def _line_end(self) -> None:
        """A line end with the blanks around it, of which a listener hears one; a backslash before it is markup."""
        at = _BLANKS.match(self.content, self._at + (self.content[self._at : self._at + 1] == "\\"))
        self._at = at.end() if at else self._at
        self._put(self._at, self._at + 1)
        after = _BLANKS.match(self.content, self._at + 1)
        self._at = after.end() if after else self._at
        self._line_starts = True

    def _code(self, token: Token) -> None:
        ticks = len(token.markup)
        start = self._at + ticks
        end = next(run.start() for run in _TICKS.finditer(self.content, start) if len(run.group()) == ticks)
        self._put(start, end)
        self._at = end + ticks

    def _autolink(self) -> None:
        """`<https://…>`: the address as it is written, which its text token may not be."""
        end = self.content.index(">", self._at)
        self._put(self._at, end)
        self._at = end + 1
        self._in_address = True

    def _image(self, token: Token) -> None:
        start = self._at + 2
        if Why.IMAGES in self.skip:
            self._skip(start, start + len(token.content), Why.IMAGES)
        else:
            inside = InlineWalk(token.content, self.offsets[start : start + len(token.content)], self.skip)
            for run in inside.read(token.children or []):
                self._text.append(run.text)
                self._places.extend(run.offsets)
            self.escapes += inside.escapes
            self.skipped += inside.skipped
        self._at = token.meta.get("end", self._at)

    def _note(self, token: Token, kind: str) -> None:
        start = self._at if kind == "note_mark" else self._at + 2
        end = start + len(token.content)
        why = Why.NOTE_MARKS if kind == "note_mark" else Why.NOTES
        if why in self.skip:
            self._skip(start, end, why)
        else:
            self._put(start, end)
        self._at = end if kind == "note_mark" else end + 1

    def _aside(self, token: Token) -> None:
        """`![[picture.png]]` and `%%comment%%`."""
        start, end = self._at, self._at + len(token.markup)
        inside = start + token.markup.index(token.content)
        if token.type == "comment":
            self._skip(start, end, Why.HIDDEN if Why.HIDDEN in self.skip else Why.MARKUP)
        elif Why.IMAGES in self.skip:
            self._skip(inside, inside + len(token.content), Why.IMAGES)
        else:
            self._put(inside, inside + len(token.content))
        self._at = end

    def _html(self, tag: str) -> None:
        start, self._at = self._at, self._at + len(tag)
        raised = (
            _RAISED.match(self.content, start) if Why.NOTE_MARKS in self.skip and start >= self._mute_until else None
        )
        if raised is not None and note_text(next(text for text in raised.groups() if text is not None)):
            self._skip(start, raised.end(), Why.NOTE_MARKS)
            self._mute_until = raised.end()
            return
        if tag.startswith("<!--"):
            self._skip(start, self._at, Why.HIDDEN if Why.HIDDEN in self.skip else Why.MARKUP)
            return
        match = _TAG.match(tag)
        if match is None:
            return
        if BARE_TAG.fullmatch(tag) and match["name"].lower() not in self._names():
            self._put(start, self._at)  # `<sighs>` is what somebody wrote, not a tag
        else:
            self._tag(tag, match, start)

    def _names(self) -> frozenset[str]:
        if self._tag_names is None:
            self._tag_names = names_of_tags(self.content)
        return self._tag_names

    def _tag(self, tag: str, match: re.Match[str], start: int) -> None:
        name = match["name"].lower()
        if name == "img":
            self._alt(tag, start, match.end())
        elif name in BLOCKS or name in {"br", "hr"}:
            self._put(start, self._at, "\n")
        if match["close"]:
            names = [one.name for one in self._silent]
            if name in names:
                del self._silent[names.index(name) :]
        elif name not in _VOID and not tag.endswith("/>"):
            said, _ = attributes_of(tag, match.end(), len(tag) - 1)
            why = _SILENT.get(name) or (Why.HIDDEN if "hidden" in said else None)
            if why is not None and (why in self.skip or why not in Why.choosable()):
                self._silent.append(_Silent(name, why, self.offsets[start]))

    def _alt(self, tag: str, start: int, name_end: int) -> None:
        _, texts = attributes_of(tag, name_end, len(tag) - 1)
        if "alt" not in texts:
            return
        place = start + texts["alt"][0], start + texts["alt"][1]
        if Why.IMAGES in self.skip:
            self._skip(*place, Why.IMAGES)
        else:
            self._put(*place)

    def _put(self, start: int, end: int, instead: str | None = None) -> None:
        """Say `content[start:end]`, or what it stands for, unless it is inside something silent."""
        if start >= end or start < self._mute_until:
            return
        self._line_starts = False
        if self._silent:
            self._silent[-1].held = self._silent[-1].held or bool(self.content[start:end].strip())
            self._skip(start, end, self._silent[-1].why)
            return
        if instead is None:
            self._text.append(self.content[start:end])
            self._places.extend(self.offsets[start:end])
        elif instead:
            self._text.append(instead)
            self._places.extend([self.offsets[start]] * len(instead))
            self.escapes.append((self.offsets[start], self.offsets[end - 1] + 1))

    def _skip(self, start: int, end: int, why: Why) -> None:
        if start < end and self.content[start:end].strip():
            self.skipped.append(Skip(self.offsets[start], self.offsets[end - 1] + 1, why))

    def _end_run(self) -> None:
        if self._text:
            self.runs.append(Run("".join(self._text), self._places))
        self._text, self._places = [], array("Q")
