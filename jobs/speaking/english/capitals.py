"""English: acronyms by letters against shouted words. Pure.

`BBC` is spelled, `NASA` is said as it stands, `STOP` and whole runs of capitals become ordinary words. The lists are in
`acronyms.py`; a user's lexicon goes before all of it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, replace

from jobs.account import Why
from jobs.speaking.base import Context, Replacement, Rule
from jobs.speaking.english.acronyms import AS_WORDS, BY_LETTERS, COMMON, EITHER, KEPT, MIXED, SOUNDED, SOUNDS, WITH_IT
from jobs.speaking.english.roman import roman_value
from jobs.speaking.letters import pronounceable, spelled, word_set

_CAPITALS = re.compile(r"[A-ZÀ-ÖØ-ÞĀ-Ž](?:['’]?[A-ZÀ-ÖØ-ÞŠŽ]|s(?!\w))")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)*")
_MIXED = re.compile(rf"(?<!\w)(?:{'|'.join(MIXED)})(?!\w)")
_BETWEEN = re.compile(r"[\s\d,;:'’‘()–—/&-]*$")
_DOTTED_BEFORE = re.compile(r"[A-Z]\.[A-Z]\. $")
"""Inside a sentence (`AT 5 P.M. OR`): its stop ended none."""
_STARTS = re.compile(r"(?:^|[.!?…:]|\n)[\"'”’»)\]]{0,3}\s*[\"'“‘«(\[¡¿–—-]{0,3}\s?$|[\"“‘«(\[]$")
_PLURAL = re.compile(r"([A-Z]{2,6})s(?!\w)")
_SAME = re.compile(r"(.)\1+")
_TO_US = word_set(
    "tell told give gave let help helped save saved trust join leave left show showed follow for with of to"
)
_BEFORE_NO_NAME = word_set(
    "a an the my your his her its our their this that these those no some any every each so very too such more most"
    " really absolutely totally completely quite am are be been being was were is not"
)
_NO_NOUN = re.compile(r"[,.!?;:\"”’)]|$| (?:to|all|and|or|not|both|the|a|is|are|out|down|up|go|be|that|what|why)\b")
_CODED = re.compile(r"-[0-9]{2}|\)[0-9₂-₉]")
_LONGEST_CODE_CHARS = 3
_NEAR_CHARS = 12
_LONGEST_SPELLED_CHARS = 5
_STRETCHED_CHARS = 3


@dataclass(frozen=True, slots=True)
class _Word:
    """A word of capitals: `core` without a possessive or plural ending, `tail` that ending.

    `shouted`: its run is; `echoed`: the word beside it in its run is the same.
    """

    start: int
    end: int
    core: str
    tail: str
    shouted: bool = False
    echoed: bool = False


def _rule(text: str, context: Context) -> Iterator[Replacement]:
    if _CAPITALS.search(text) is None:
        if "Ph" in text or "Sc" in text:
            yield from _mixed(text)
        return
    mixed = list(_mixed(text))
    taken = {one.start for one in mixed}
    found = [*mixed, *(one for one in _words(text, context) if one.start not in taken)]
    found.sort(key=lambda one: one.start)
    yield from found


def _mixed(text: str) -> Iterator[Replacement]:
    for match in _MIXED.finditer(text):
        yield Replacement(match.start(), match.end(), MIXED[match.group()], Why.ACRONYM)


def _words(text: str, context: Context) -> Iterator[Replacement]:
    run: list[_Word] = []
    end = 0
    for match in _WORD.finditer(text):
        word = _capital_word(match)
        if run and (word is None or not _BETWEEN.match(text[end : match.start()][-_NEAR_CHARS:])):
            yield from _run(text, run, context)
            run = []
        if word is not None:
            run.append(word)
        end = match.end()
    yield from _run(text, run, context)


def _capital_word(match: re.Match[str]) -> _Word | None:
    written = match.group()
    plural = _PLURAL.fullmatch(written)
    if plural is not None:
        return _Word(match.start(), match.end(), plural.group(1), "s")
    core, mark, tail = written.partition("’" if "’" in written else "'")
    if not core.isupper() or (tail and not (tail.isupper() or tail == "s")):
        return None
    return _Word(match.start(), match.end(), core, mark + tail)


def _run(text: str, run: list[_Word], context: Context) -> Iterator[Replacement]:
    if not run:
        return
    words = sum(_says_word(text, word, context) for word in run if len(word.core) > 1)
    shouted = words >= 2 or (words == 1 and len(run) > 1)
    cores = ["", *(word.core for word in run), ""]
    for index, word in enumerate(run):
        echoed = word.core in (cores[index], cores[index + 2])
        yield from _said(text, replace(word, shouted=shouted, echoed=echoed), context)


def _says_word(text: str, word: _Word, context: Context) -> bool:
    """Whether it is plainly a shouted word, seen alone."""
    core = word.core
    if (
        core in AS_WORDS
        or core in BY_LETTERS
        or core in KEPT
        or core in EITHER
        or _glued(text, word)
        or word.tail == "s"
    ):
        return False
    return core.lower() in context.vocabulary or core in COMMON or (len(core) > 2 and pronounceable(core))


def _said(text: str, word: _Word, context: Context) -> Iterator[Replacement]:
    core = word.core
    if len(core) == 1:
        yield from _single(word, first=_at_start(text, word.start))
    elif core in AS_WORDS or core in KEPT:
        return
    elif _glued(text, word) or word.tail == "s" or (core in EITHER and _meant(text, word)):
        if len(core) <= _LONGEST_SPELLED_CHARS + 1:
            yield _letters(word)
    elif core in BY_LETTERS and _called_out(text, word, context):
        yield Replacement(word.start, word.end, _cased(text, word, name=False), Why.CAPITALS)
    elif core in BY_LETTERS:
        if len(core) <= _LONGEST_SPELLED_CHARS + 1:
            yield _letters(word)
    elif _is_word(word, context):
        name = not word.shouted and core.lower() not in context.vocabulary and core not in COMMON and len(core) > 2
        name = name and not _determined(text, word.start) and "_" not in text[max(0, word.start - 1) : word.end + 1]
        yield Replacement(word.start, word.end, _cased(text, word, name=name), Why.CAPITALS)
    elif roman_value(core) is None:
        yield _letters(word)


def _single(word: _Word, *, first: bool) -> Iterator[Replacement]:
    """`A` inside a shouted run is the article; `I` and other single letters stay. `I'M` is a word."""
    if word.tail[1:].isupper():
        now = word.core + word.tail.lower()
        yield Replacement(word.start, word.end, now, Why.CAPITALS)
    elif word.core == "A" and word.shouted and not first:
        yield Replacement(word.start, word.end, "a", Why.CAPITALS)


def _is_word(word: _Word, context: Context) -> bool:
    core = word.core
    if core.lower() in context.vocabulary or core in COMMON or core in EITHER or word.tail[1:].upper() == "T":
        return True
    if roman_value(core) is not None:
        return False
    if _SAME.sub(r"\1", core) in SOUNDS or len(core) > _LONGEST_SPELLED_CHARS:
        return True
    if len(core) == 2 and not word.shouted:
        return False
    stretched = any(len(match.group()) >= _STRETCHED_CHARS for match in _SAME.finditer(core))
    return pronounceable(core) or (stretched and pronounceable(_SAME.sub(r"\1", core)))


def _meant(text: str, word: _Word) -> bool:
    """Whether `US`, `IT`, `WHO` are the acronym: the article stands before it, or what goes with it after."""
    before = text[max(0, word.start - _NEAR_CHARS) : word.start].lower().split()
    article = bool(before) and before[-1] == "the"
    if word.core == "US" and before and before[-1] in _TO_US and _NO_NOUN.match(text, word.end):
        return False  # `Tell US, not them.`
    following = _WORD.match(text, word.end + 1)
    if word.core == "IT":
        return following is not None and following.group().lower() in WITH_IT
    return article or (word.core not in ("WHO", "AM", "AIR") and not word.shouted)


def _called_out(text: str, word: _Word, context: Context) -> bool:
    """Whether letters of an acronym are a word here: sung (`LA LA`), shouted, or a word of the document."""
    if not pronounceable(word.core):
        return False
    known = word.core.lower() in context.vocabulary
    before = text[max(0, word.start - _NEAR_CHARS) : word.start].lower().split()
    if word.core in SOUNDED:
        meant = bool(before) and before[-1] in SOUNDED[word.core].split()
        return word.echoed or ((word.shouted or known) and not meant)
    return known and (word.echoed or word.shouted)


def _glued(text: str, word: _Word) -> bool:
    """Whether it touches a digit or `&`: part of a name (`MP3`, `R&D`)."""
    around = text[max(0, word.start - 1) : word.start] + text[word.end : word.end + 1]
    if any(char.isdigit() or char == "&" for char in around):
        return True
    coded = _CODED.match(text, word.end) is not None  # AB-1234, Ca(OH)2
    return coded and len(word.core) <= _LONGEST_CODE_CHARS


def _letters(word: _Word) -> Replacement:
    """Digits that it touches are kept apart by the rules of numbers."""
    return Replacement(word.start, word.end, spelled(word.core) + word.tail.lower(), Why.ACRONYM)


def _determined(text: str, start: int) -> bool:
    """Whether a word stands before that no name follows: `a LAMP`, `so ANGRY`."""
    before = text[max(0, start - _NEAR_CHARS) : start].lower().split()
    return bool(before) and before[-1] in _BEFORE_NO_NAME


def _cased(text: str, word: _Word, *, name: bool) -> str:
    """In lower case; capitalised at the start of a sentence and where it may be a `name`."""
    lower = unicodedata.normalize("NFC", (word.core + word.tail).lower())
    if name or _at_start(text, word.start):
        return lower[:1].upper() + lower[1:]
    return lower


def _at_start(text: str, start: int) -> bool:
    before = text[max(0, start - _NEAR_CHARS) : start]
    return not start or (_STARTS.search(before) is not None and _DOTTED_BEFORE.search(before) is None)


RULES: tuple[Rule, ...] = (_rule,)
