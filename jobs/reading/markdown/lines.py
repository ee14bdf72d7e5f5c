"""The lines of a Markdown source as the parser sees them, each with its place in the source. Pure.

The parser gets line ends of one kind and no NUL; every line has the length it has in the source, so places carry over.
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass

from jobs.reading.cleaning import LINE_END

_YAML = re.compile(r"---[ \t]*\n(?P<facts>(?!\s*\n).*?\n)(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.DOTALL)
_TOML = re.compile(r"\+\+\+[ \t]*\n(?P<facts>.*?\n)\+\+\+[ \t]*(?:\n|\Z)", re.DOTALL)
_FACT = re.compile(r"(?P<key>title|author|lang|language)[ \t]*[:=][ \t]*(?P<value>\S.*)$", re.MULTILINE)
_FACT_LINE = re.compile(r"""["']?[\w.-]{1,80}["']?[ \t]*[:=](?:\s|$)|\s|[-#\[\]{}]|$""")
_KNOWN_KEY = re.compile(
    r"""["']?(?:title|subtitle|author|authors|creator|contributor|date|tags|keywords|lang|language|layout|draft|slug|"""
    r"""category|categories|description|summary|abstract|publisher|rights|copyright|licen[cs]e|series|permalink|url|"""
    r"""published|updated|created|modified|lastmod|image|cover|cover-image|alias|aliases|identifier|isbn|uuid|type|"""
    r"""template|toc|weight|version|status|css|cssclass|bibliography|documentclass|output|geometry)["']?[ \t]*:"""
    r"""|[\w.-]{1,80}[ \t]*=""",
    re.IGNORECASE,
)
"""A key that front matter has; names of speakers, `He: said`, are not enough."""
_NO_VALUES = frozenset({"", ">", "|", ">-", "|-", "null", "~"})


@dataclass(frozen=True, slots=True)
class Lines:
    """`starts[n]` is where line n begins in `source`, `text_starts[n]` where it begins in `text`, which is parsed."""

    source: str
    text: str
    starts: Sequence[int]
    text_starts: Sequence[int]

    def line(self, number: int) -> str:
        """A line as the parser sees it, without its end."""
        number = min(number, len(self.starts) - 2)
        return self.text[self.text_starts[number] : self.text_starts[number + 1] - 1]

    def span(self, first: int, last: int) -> tuple[int, int]:
        """The place of the lines [first, last) in the source, without blanks and line ends after them."""
        start, end = self.starts[min(first, len(self.starts) - 1)], self.starts[min(last, len(self.starts) - 1)]
        return start, max(start, start + len(self.source[start:end].rstrip()))

    def offsets(self, content: str, first: int) -> Sequence[int]:
        """The place of each character of what the parser took out of the lines from `first` on.

        It takes away what stands before (quote signs, list signs, indents) and blanks at both ends.
        """
        offsets: array[int] = array("Q")
        if content[:1].strip():  # lines of wide blanks, which the parser takes for text and then strips
            first = next((n for n in range(first, len(self.starts) - 1) if self.line(n).strip()), first)
        for number, piece in enumerate(content.split("\n"), first):
            number = min(number, len(self.starts) - 2)
            line, start = self.line(number), self.starts[number]
            place = _place(line, piece)
            lowest = max(0, place)
            offsets.extend([start] * (lowest - place))
            offsets.extend(range(start + lowest, start + lowest + len(piece) - (lowest - place)))
            offsets.append(start + len(line))  # the line end
        return offsets[: len(content)]


def lines_of(source: str) -> tuple[Lines, dict[str, str], int]:
    """The lines of a source, the facts of its front matter, and how many lines that has: they are blank in `text`."""
    ends = list(LINE_END.finditer(source))
    starts = array("Q", [0, *(end.end() for end in ends), len(source) + 1])
    text = LINE_END.sub("\n", source).replace("\x00", " ") + "\n"
    text_starts = array("Q", [0, *(match.end() for match in re.finditer("\n", text))])
    facts, front_chars = _front_matter(text)
    front = text[:front_chars]
    text = re.sub(r"[^\n]", " ", front) + text[front_chars:]
    return Lines(source, text, starts, text_starts), facts, front.count("\n")


def _place(line: str, piece: str) -> int:
    """Where a piece begins in its line: it is the end of it, but for the `##` that may close a heading."""
    core = piece.strip()
    if not core:
        return 0
    written = line.rstrip()
    found = len(written) - len(core) if written.endswith(core) else max(line.find(core), 0)
    return found - (len(piece) - len(piece.lstrip()))


def _front_matter(text: str) -> tuple[dict[str, str], int]:
    """Facts at the very top between `---` or `+++` lines, and how long they are; a rule there has no facts after it."""
    match = _YAML.match(text) or _TOML.match(text)
    if match is None:
        return {}, 0
    facts = match["facts"].split("\n")
    if not all(map(_FACT_LINE.match, facts)) or not any(map(_KNOWN_KEY.match, facts)):
        return {}, 0
    found = {fact["key"]: _value(fact["value"]) for fact in _FACT.finditer(match["facts"])}
    return {key: value for key, value in found.items() if value not in _NO_VALUES}, match.end()


def _value(written: str) -> str:
    return written.strip().strip("[]").split(" #")[0].strip().strip("\"'")
