"""Finds the cues of SubRip and WebVTT subtitles in their source: times, and where their text is. Pure.

Lenient as players are: numbers may be missing or wrong, cues may overlap, come in any order, have blank lines inside.
"""

from __future__ import annotations

import html
import re
from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jobs.account import Why
from jobs.reading.document import Skip

_STAMP = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[,.:;] ?(\d{1,3}))?"
_TIMING = re.compile(rf"[\s\ufeff]*{_STAMP}[ \t]*-{{1,2}}>[ \t]*(?:\d{{1,4}}:)?\d{{1,2}}:\d{{1,2}}(?!\d)", re.ASCII)
_LINE = re.compile(r"[^\r\n]*(?:\r\n?|\n|\Z)")
_NUMBER = re.compile(r"[\s\ufeff]*(\d{1,9})\s*", re.ASCII)
_ASIDE = re.compile(r"(?P<hidden>NOTE)(?:\s|$)|(?:STYLE|REGION)\s*$")
_HEADER = re.compile(r"\ufeff?WEBVTT(?:\s|$)")
_TAIL = r"(?:\s{1,9}[a-z][\w:-]{0,40}\s?=[^<>]{0,400})?\s{0,9}/?"
"""What a tag may say beside its name: an attribute, and nothing that somebody said."""
_TAG = (
    rf"</?(?:i|b|u|s|em|strong|font|span|p|div|br|c|v|lang|ruby|rt|rp){_TAIL}>|<[biu](?:\.[\w.-]{{1,200}})>"
    r"|<(?:c|v|lang|ruby|rt)\.[\w.-]{1,200}>|<lang(?:\.[\w.-]{1,200})?\s[a-z]{2,3}(?:-[a-z0-9]{1,8}){0,3}>"
    r"|< ?/ ?[ibus] ?>|< ?(?P<spaced>[ibus]) ?>(?=[^<>]{0,400}< ?/ ?(?P=spaced) ?>)"
    r"|<(?:\d{1,4}:)?\d{1,2}:\d{1,2}[.,]\d{1,3}>|\{\\[^{}\r\n]{0,400}\}|\{[A-Za-z]:[^{}\s]{0,80}\}"
)
_SIGN = re.compile(
    rf"(?P<reading><rt>[^<]{{0,400}}</rt>)|(?P<voice><v(?:\.[\w.-]{{1,200}})?[ \t][^<>\r\n]{{1,400}}>)|(?P<tag>{_TAG})"
    r"|(?P<escape>&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});|\\N)",
    re.IGNORECASE,
)
_BREAKING = re.compile(r"< ?/?(?:br|p|div)\b", re.IGNORECASE)


@dataclass(slots=True)
class Cue:
    """One cue: when it begins, and the ranges of the source that are its text (with line ends)."""

    start_s: float
    lines: list[tuple[int, int]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class CueText:
    """What a cue says (not clean yet), where each character is from, and what of its source is something else."""

    text: str
    offsets: Sequence[int]
    escapes: tuple[tuple[int, int], ...]
    skipped: tuple[Skip, ...]


@dataclass
class Cues:
    """Takes a source line by line. `skipped` are passages with words that are in no cue, `lead` those before all."""

    source: str
    web: bool
    found: list[Cue] = field(default_factory=list)
    skipped: list[Skip] = field(default_factory=list)
    lead: str = ""
    _lines: list[tuple[int, int]] = field(default_factory=list)

    def read(self) -> list[Cue]:
        """The cues, in the order of the source."""
        for line in _LINE.finditer(self.source):
            timing = _TIMING.match(line.group())
            if timing is None:
                self._lines.append(line.span())
                continue
            self._drop_name()
            self._end()
            self.found.append(Cue(_seconds(timing)))
        self._end()
        return self.found

    def _drop_name(self) -> None:
        """Take away the line just before a timing line if it is the number or name of its cue."""
        if not self._lines or self._blank(-1):
            return
        last = self.source[slice(*self._lines[-1])]
        alone = len(self._lines) == 1 or self._blank(-2)
        number = _NUMBER.fullmatch(last)
        if number is not None:
            # Right under a line of text it may be text: "… in\n1984"; then only the next numbers are numbers.
            named = alone or abs(int(number[1]) - len(self.found) - 1) <= 1
        else:
            named = self.web and alone and (len(self._lines) > 1 or not self.found)
        if named:
            self._lines.pop()

    def _end(self) -> None:
        """Give the lines since the last timing line to their cue; those before the first are no cue's."""
        kept = list(self._without_asides()) if self.web else self._lines
        if self.found:
            self.found[-1].lines = kept
        elif kept and self.source[kept[0][0] : kept[-1][1]].strip():
            self.skipped.append(Skip(kept[0][0], kept[-1][1], Why.METADATA))
            self.lead = self._words_of(kept)
        self._lines = []

    def _words_of(self, lines: Sequence[tuple[int, int]]) -> str:
        """What stands before the first cue and may be meant to be heard: not the header of WebVTT."""
        told = [self.source[start:end].strip("\ufeff \t\r\n") for start, end in lines]
        if told and self.web and _HEADER.match(told[0]):
            told = told[told.index("") :] if "" in told else []
        return " ".join(" ".join(told).split())

    def _without_asides(self) -> Iterator[tuple[int, int]]:
        """The lines without the blocks of WebVTT that are not for viewers."""
        why: Why | None = None
        after_blank = not self.found
        for index, (start, end) in enumerate(self._lines):
            blank = self._blank(index)
            aside = _ASIDE.match(self.source[start:end]) if after_blank else None
            if aside is not None:
                why = Why.HIDDEN if aside["hidden"] else Why.MARKUP
            elif blank:
                why = None
            if why is None:
                yield start, end
            else:
                self._skip(start, end, why)
            after_blank = blank or (not self.found and _HEADER.match(self.source[start:end]) is not None)

    def _skip(self, start: int, end: int, why: Why) -> None:
        """Skip a line, as one with the line before it if that is the same thing."""
        if self.skipped and (self.skipped[-1].end, self.skipped[-1].why) == (start, why):
            start = self.skipped.pop().start
        self.skipped.append(Skip(start, end, why))

    def _blank(self, index: int) -> bool:
        return not self.source[slice(*self._lines[index])].strip("\ufeff \t\r\n\v\f\xa0")


def said(source: str, cue: Cue) -> CueText:
    """The text of a cue without tags; the reading in `<rt>` is left out, `&amp;` and `\\N` are what they stand for."""
    text: list[str] = []
    offsets: array[int] = array("Q")
    escapes: list[tuple[int, int]] = []
    skipped: list[Skip] = []
    for start, end in cue.lines:
        at = start
        for sign in _SIGN.finditer(source, start, end):
            text.append(source[at : sign.start()])
            offsets.extend(range(at, sign.start()))
            at = sign.end()
            if sign["reading"] or sign["voice"]:
                skipped.append(Skip(*sign.span(), Why.RUBY if sign["reading"] else Why.SPEAKER))
            instead = _instead(sign)
            text.append(instead)
            offsets.extend([sign.start()] * len(instead))
            if instead:
                escapes.append(sign.span())
        text.append(source[at:end])
        offsets.extend(range(at, end))
    return CueText("".join(text), offsets, tuple(escapes), tuple(skipped))


def _instead(sign: re.Match[str]) -> str:
    """What is said for a sign."""
    written = sign.group()
    if sign["escape"]:
        return "\n" if written == "\\N" else html.unescape(written)
    return "\n" if sign["tag"] and _BREAKING.match(written) else ""


def _seconds(timing: re.Match[str]) -> float:
    hours, minutes, seconds, fraction = timing.groups()
    milliseconds = int((fraction or "0").ljust(3, "0"))
    return ((int(hours or 0) * 60 + int(minutes)) * 60 + int(seconds)) + milliseconds / 1000
