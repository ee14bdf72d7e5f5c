"""A user's own words: a table of words or patterns and what is spoken for them (`--lexicon words.tsv`). Pure.

    Xanadu<TAB>zan uh doo
    Siobhan<TAB>/ʃɪvˈɔːn/
    US<TAB>U S<TAB>case
    re:(\\d+)bn<TAB>\\1 billion

`#` begins a comment line. Words are found whole, whatever their case (`case`: as written), the longest first; an accent
may be a sign of its own, in the table or in the text. A pattern is searched in stretches of a sentence, so that none
takes long on a text without stops.
"""

from __future__ import annotations

import re
import unicodedata
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from jobs.account import Why
from jobs.errors import BadSource, SourceProblem
from jobs.speaking.base import Context, Replacement
from jobs.speaking.comparing import atoms, composed, lowered, wordlike
from jobs.speaking.safe_patterns import problem_of

BAD_LEXICON = "bad_lexicon"
"""`SourceProblem.code` of every error of a lexicon."""
_Key = TypeVar("_Key")
_Value = TypeVar("_Value")
OPEN, CLOSE = "⟦", "⟧"
"""Around phonemes in a spoken text; none of a source reaches it."""
_FLAGS = ("case",)
_LONGEST_PATTERN_CHARS = 500
_STRETCH_CHARS = 2000
_LONGEST_PHONEMES_CHARS = 100
"""As long as a long word; far below every model's limit, for phonemes are never cut."""
_NO_SOUNDS = "_^$"
"""What voices frame phonemes with; digits are no sounds either."""
_ALIKE = str.maketrans({"’": "'", "‘": "'", OPEN: " ", CLOSE: " ", "\u00a0": " "})
_BRACKETS_OUT = str.maketrans({OPEN: " ", CLOSE: " "})


@dataclass(frozen=True, slots=True)
class _Entry:
    """One line: `key` as it is compared, `now` as it is spoken."""

    key: str
    now: str
    case: bool


@dataclass(frozen=True, slots=True)
class _Pattern:
    pattern: re.Pattern[str]
    now: str


@dataclass(frozen=True, slots=True)
class Lexicon:
    """The entries of a lexicon file. `words`: by first word, then by length, then by text as it is compared."""

    words: dict[str, dict[int, dict[str, tuple[_Entry, ...]]]] = field(default_factory=dict)
    patterns: tuple[_Pattern, ...] = ()

    @classmethod
    def parse(cls, text: str, name: str) -> Lexicon:
        """Read a table; `name` is for error texts.

        Raises:
            BadSource: `bad_lexicon`, with every line that is wrong.
        """
        entries: dict[tuple[str, bool], tuple[int, _Entry]] = {}
        patterns: dict[tuple[str, bool], tuple[int, _Pattern]] = {}
        problems: list[SourceProblem] = []
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
            if not line.strip() or line.lstrip().startswith("#"):
                continue
            try:
                word, now, case = _columns(line)
                if word.startswith("re:"):
                    _add(patterns, (word, case), _pattern(word[len("re:") :], now, case), number)
                else:
                    entry = _entry(word, now, case=case)
                    _add(entries, (entry.key, case), entry, number)
            except _Wrong as error:
                problems.append(SourceProblem(BAD_LEXICON, f"{name}: {error}", number))
        if problems:
            raise BadSource(*problems)
        return cls(_indexed(entry for _, entry in entries.values()), tuple(pattern for _, pattern in patterns.values()))

    @property
    def has_phonemes(self) -> bool:
        """Whether an entry is spoken as phonemes, which not every model can."""
        words = (entry.now for lengths in self.words.values() for keys in lengths.values() for entry in _all(keys))
        return any(OPEN in now for now in (*words, *(pattern.now for pattern in self.patterns)))

    def rule(self, text: str, _context: Context) -> Iterator[Replacement]:
        """Its words in a sentence."""
        if unicodedata.is_normalized("NFC", text):
            return self._found(text)
        whole, starts, ends = composed(text)
        return (Replacement(starts[one.start], ends[one.end - 1], one.now, one.why) for one in self._found(whole))

    def _found(self, text: str) -> Iterator[Replacement]:
        """Its words in a text whose letters are one sign with their accents, where there is one."""
        found = list(self._words(text))
        if self.patterns:
            claimed = bytearray(len(text))
            for one in found:
                claimed[one.start : one.end] = b"\1" * (one.end - one.start)
            for one in self._matches(text.translate(_BRACKETS_OUT)):
                if not any(claimed[one.start : one.end]):
                    claimed[one.start : one.end] = b"\1" * (one.end - one.start)
                    found.append(one)
            found.sort(key=lambda one: one.start)
        yield from found

    def _words(self, text: str) -> Iterator[Replacement]:
        if not self.words:
            return
        plain = text.translate(_ALIKE)
        lower = lowered(plain)
        end = 0
        for start, first in atoms(lower):
            if start < end:
                continue
            entry = self._longest(plain, lower, start, first)
            if entry is not None:
                end = start + len(entry.key)
                yield Replacement(start, end, entry.now, Why.LEXICON)

    def _longest(self, plain: str, lower: str, start: int, first: str) -> _Entry | None:
        """The longest entry that stands here (`first` is the word here), in its own case if that matters."""
        if start and lower[start].isalnum() and wordlike(lower[start - 1]):
            return None
        for length, keys in self.words.get(first, {}).items():
            end = start + length
            entries = keys.get(lower[start:end], ())
            if not entries or (wordlike(lower[end - 1]) and wordlike(lower[end : end + 1])):
                continue
            for entry in entries:
                if not entry.case or entry.key == plain[start:end]:
                    return entry
        return None

    def _matches(self, text: str) -> Iterator[Replacement]:
        for pattern in self.patterns:
            for start, end in _stretches(text):
                for match in pattern.pattern.finditer(text, start, end):
                    if match.group():
                        yield Replacement(*match.span(), match.expand(pattern.now), Why.LEXICON)


class _Wrong(Exception):
    """What is wrong with a line."""


def lexicon_text(data: bytes, called: str) -> str:
    """The text of a table, for `Lexicon.parse`; `called` is for the error. Raises BadSource: it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{called} is not UTF-8 (byte {error.start}); save it as UTF-8"
        raise BadSource(SourceProblem(BAD_LEXICON, msg)) from error


def _columns(line: str) -> tuple[str, str, bool]:
    """Word or pattern, what is spoken, whether case matters."""
    word, tab, rest = line.partition("\t")
    if not tab:
        msg = f"{line.strip()!r} has no tab; write the word, a tab, and what is spoken"
        raise _Wrong(msg)
    now, _, flags = rest.partition("\t")
    word, named = word.strip(), flags.split()
    unknown = [flag for flag in named if flag not in _FLAGS]
    if unknown:
        msg = f"the flag {unknown[0]!r} is not known; the third column may hold: {', '.join(_FLAGS)}"
        raise _Wrong(msg)
    if not word or word == "re:":
        msg = f"no {'pattern' if word else 'word'} before the tab; write one, or delete the line"
        raise _Wrong(msg)
    return word, _spoken(now.strip(), pattern=word.startswith("re:")), "case" in named


def _spoken(now: str, *, pattern: bool) -> str:
    """What is spoken, with phonemes in their brackets."""
    if OPEN in now or CLOSE in now:
        msg = f"{now!r} holds {OPEN} or {CLOSE}; write phonemes between slashes: /ɪpə/"
        raise _Wrong(msg)
    if not (len(now) > 1 and now.startswith("/") and now.endswith("/")):
        return now
    phonemes = " ".join(now[1:-1].split())
    if not any(char.isalpha() for char in phonemes) or "/" in phonemes or (pattern and "\\" in phonemes):
        msg = f"{now!r} are no phonemes; write IPA between two slashes: /ɪpə/"
        raise _Wrong(msg)
    wrong = sorted({sign for sign in phonemes if sign in _NO_SOUNDS or sign.isdigit()})
    if wrong:
        msg = f"{now!r} holds {' '.join(wrong)}, which no voice can speak; write IPA between two slashes: /ɪpə/"
        raise _Wrong(msg)
    if len(phonemes) > _LONGEST_PHONEMES_CHARS:
        msg = (
            f"the phonemes have {len(phonemes)} characters; allowed are {_LONGEST_PHONEMES_CHARS}: divide them into "
            "entries of one word each"
        )
        raise _Wrong(msg)
    return f"{OPEN}{phonemes}{CLOSE}"


def _entry(word: str, now: str, *, case: bool) -> _Entry:
    plain = " ".join(composed(word)[0].translate(_ALIKE).split())
    if next(atoms(plain), None) is None:
        msg = f"{word!r} holds nothing that could be found in a text; write a word"
        raise _Wrong(msg)
    return _Entry(plain if case else lowered(plain), now, case)


def _pattern(source: str, now: str, case: bool) -> _Pattern:  # noqa: FBT001  # a column of the table
    if len(source) > _LONGEST_PATTERN_CHARS:
        msg = f"the pattern has {len(source)} characters; allowed are {_LONGEST_PATTERN_CHARS}: split it"
        raise _Wrong(msg)
    problem = problem_of(source)
    if problem:
        msg = f"the pattern {source!r} {problem}"
        raise _Wrong(msg)
    pattern = re.compile(source, 0 if case else re.IGNORECASE)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pattern.sub(now, "")
    except (re.error, IndexError) as error:
        msg = f"{now!r} cannot replace {source!r}: {error}; name groups of the pattern only: \\1"
        raise _Wrong(msg) from error
    return _Pattern(pattern, now)


def _add(table: dict[_Key, tuple[int, _Value]], key: _Key, value: _Value, line: int) -> None:
    if key in table:
        msg = f"the same entry stands in line {table[key][0]} already; delete one of them"
        raise _Wrong(msg)
    table[key] = (line, value)


def _indexed(entries: Iterable[_Entry]) -> dict[str, dict[int, dict[str, tuple[_Entry, ...]]]]:
    """By first word, then longest first; entries that mind their case before the one that does not."""
    table: dict[str, dict[int, dict[str, tuple[_Entry, ...]]]] = {}
    for entry in sorted(entries, key=lambda entry: (-len(entry.key), not entry.case)):
        lower = lowered(entry.key)
        _, first = next(atoms(lower))
        keys = table.setdefault(first, {}).setdefault(len(lower), {})
        keys[lower] = (*keys.get(lower, ()), entry)
    return table


def _all(keys: dict[str, tuple[_Entry, ...]]) -> Iterator[_Entry]:
    for entries in keys.values():
        yield from entries


def _stretches(text: str) -> Iterator[tuple[int, int]]:
    """A long text in stretches that end at a space where there is one."""
    start = 0
    while len(text) - start > _STRETCH_CHARS:
        cut = text.rfind(" ", start + 1, start + _STRETCH_CHARS)
        end = cut if cut > start else start + _STRETCH_CHARS
        yield start, end
        start = end
    yield start, len(text)
