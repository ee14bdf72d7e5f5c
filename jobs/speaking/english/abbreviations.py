"""English: abbreviations as words, by what stands around them; initials and dotted letters without their stops. Pure.

An abbreviation that may be another word (`no.`, `fig.`, `Sat.`) is only taken with its evidence. The stop is kept where
the sentence ends with it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from jobs.account import Why
from jobs.speaking.base import Context, Replacement, Rule, without_overlap
from jobs.speaking.english.abbreviation_table import (
    BARE,
    BARE_CAPITALS,
    CALENDAR,
    NO_NAMES_NEXT,
    STARTERS,
    TABLE,
    TITLES,
    Evidence,
)
from jobs.speaking.english.states import in_state

_NEAR_CHARS = 60
_WORD_CHARS = 20
_OPEN = "\"'“‘«(\\["
_CLOSE = "\"'”’»"
_STOPPED = re.compile(r"(?<![\w.'’])([A-Za-z]{1,8})\.(?![a-z])")
_PLAIN = re.compile(rf"(?<![\w.'’-])({'|'.join(sorted(BARE, key=len, reverse=True))})(?![\w.’'-])")
_PLAIN_CAPITALS = re.compile(rf"(?<![\w.'’-])({'|'.join(sorted(BARE_CAPITALS))})(?= [\"“(]?([A-Z][\w'’]*))")
_SPANS = re.compile(rf"(?<![\w-])({'|'.join(CALENDAR)})\.? ?[-–] ?({'|'.join(CALENDAR)})(?![\w-])")
_DOTTED = re.compile(r"(?<![\w.])(?:(?:[A-Za-z]\.){2,10}|[A-Za-z]\.[A-Z](?!\w)|[A-Z]\.(?: [A-Z]\.){1,6}|[ei]\. [ge]\.)")
_DEGREE = re.compile(
    r"(?<![\w.])(Ph|D|B|M|LL|Ed|Litt|Psy|Pharm|Th)\. ?(D|Phil|Sc|Ed|Litt|Mus|B|M|Eng|Tech)(s?)(?:\.|(?![\w]))"
)
_INITIAL = re.compile(rf"(?<![\w.'’])([A-Z])\.(?= ?[{_OPEN}]?[A-Z])")
_SIGNS = re.compile(
    r"(?<![\w/])(?:(?:op|loc)\. cit\.|et al(?:\.|(?!\w))|(?:w/o|c/o|b/c)(?![\w/])|w/(?=\s|[a-z]{3}))|№ ?"
    r"|N[º°]\.? ?(?=\d)"
    r"|&c\.?(?!\w)|(?<=\d) ?ff?\.(?=[\s,;:)\]]|$)|(?<=\d)ff(?!\w)",
    re.IGNORECASE,
)
_SIGN_HINT = re.compile(r"/|№|N[º°]|&c|\bet al|\. cit\.|\d ?f")
_KEYS = frozenset(key.lower() for key in TABLE)
_SIGN_WORDS = {
    "w/o": "without",
    "w/": "with",
    "c/o": "care of",
    "b/c": "because",
    "op. cit.": "op cit",
    "loc. cit.": "loc cit",
}
_DOTTED_WORDS = {
    "i.e.": "that is",
    "e.g.": "for example",
    "a.k.a.": "also known as",
    "q.v.": "which see",
    "c.f.": "compare",
    "v.s.": "versus",
}
_LABEL = re.compile(
    r"\b(?:chapter|part|book|act|scene|section|volume|appendix|canto|letter|figure|table|plate|room|plan|type|class"
    r"|grade|vitamin|exhibit|platform|war|group|block|unit|option|answer|question|step|phase|stage|level) $",
    re.IGNORECASE,
)
_TOUCHES = re.compile(r"(?!s(?!\w))\w")
_ENDS = re.compile(rf"(?:[{_CLOSE}]{{0,4}}\s?|\s[^\w.!?…]{{1,40}})$")
_NEXT_SENTENCE = re.compile(rf"[{_CLOSE}]{{0,3}}\s+[{_OPEN}]{{0,3}}([A-Z][\w'’]*\.?)")
_NAME_NEXT = re.compile(rf"\s?[{_OPEN}]{{0,2}}([A-ZÀ-ÖØ-Þ][\w'’]*\.?)")
_NUMBER_NEXT = re.compile(
    r"\s?[#§(]?\d|\s(?:[IVXLC]{2,7}|[ivxl]{2,7}|[B-HJ-Zvx])(?=[\s,.;:)\]–-]|$)|\s[AI](?=[,;:)\]–-]|\.?$)"
)
_DIGIT_NEXT = re.compile(r"\s?[$£€¥~]?\d")
_YEAR_NEXT = re.compile(r"\s?\d{3,4}(?!\d)")
_WORD_NEXT = re.compile(r"\s[a-z]")
_NAME_BEFORE = re.compile(r"(?:[A-Z][\w'’&.-]*|\d(?:st|nd|rd|th)|&)[)\]\"”’,]{0,2}\s$")
_STREET_NAME = re.compile(r"(?:[A-Z][\w'’&.-]*|\d(?:st|nd|rd|th))\s$")
_HOUSE_BEFORE = re.compile(r"\d[a-z]?\s(?:(?:[NSEW]\.?|[A-Z][\w'’]{0,20})\s){1,3}$|\d(?:st|nd|rd|th)\s$")
_STREET_BEFORE = re.compile(
    r"\b(?:Main|High|Wall|Elm|Oak|Church|Park|Bridge|Market|Mill|Broad|Fleet|Baker|Bond|Pine|Maple|Cedar|Water|King|Queen"
    r"|First|Second|Third|Fourth|Fifth|Sixth|Seventh|Eighth|Ninth|Tenth|Canal|Center|Chestnut|Walnut|Front|State)\s$"
)
_DATE_BEFORE = re.compile(
    r"(?:\b(?:on|in|since|by|until|till|of|last|next|every|this|each|early|late|mid|from|before|after|during)|\d|[-–(]"
    r"|(?:\b[A-Z][a-z]{2,3}\.?|\d|\b[A-Z][a-z]{2,8}day)\s(?:to|and|or|through|until))\s?$",
    re.IGNORECASE,
)
_DATE_NEXT = re.compile(r"(?:\s?,)?\s?\d|[-–/]|\s[a-z]|,|\s(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)")
_ORDINAL_BEFORE = re.compile(
    r"(?:\d(?:st|nd|rd|th)|\b(?:rev|new|first|second|third|fourth|fifth|revised)\.?)\s$", re.IGNORECASE
)
_PLACE_BEFORE = re.compile(r"(?:,|\b[a-z]{1,12})\s$")
_LIST_BEFORE = re.compile(r",\s$|\b[DRI]-$")


def stop_kept(text: str, end: int) -> bool:
    """Whether the stop before `end` also ends a sentence."""
    if _ENDS.match(text, end):
        return True
    following = _NEXT_SENTENCE.match(text, end)
    return following is not None and following.group(1) in STARTERS


def _rule(text: str, context: Context) -> Iterator[Replacement]:
    found: list[Replacement] = []
    if _has_stopped(text):
        found += [_stopped_letters(text, match) for match in _DOTTED.finditer(text)]
        found += [_degree(text, match) for match in _DEGREE.finditer(text)]
        found += _of_table(text, _STOPPED.finditer(text))
        found += _initials(text, context)
    if "-" in text or "–" in text:
        found += [_span(text, match) for match in _SPANS.finditer(text)]
    found += _of_table(text, _PLAIN.finditer(text))
    found += _of_table(text, (match for match in _PLAIN_CAPITALS.finditer(text) if _before_name(match)))
    if _SIGN_HINT.search(text) is not None:
        found += [_sign(text, match) for match in _SIGNS.finditer(text)]
    yield from without_overlap(found)


def _span(text: str, match: re.Match[str]) -> Replacement:
    """`Mon-Fri`, `Jan.–Mar.`, with a full stop of its own."""
    own_stop = text[match.end() : match.end() + 1] == "." and not stop_kept(text, match.end() + 1)
    words = f"{CALENDAR[match[1]]} to {CALENDAR[match[2]]}"
    return Replacement(match.start(), match.end() + own_stop, words, Why.RANGE)


def _before_name(match: re.Match[str]) -> bool:
    """Whether a title in capitals is one: `ST` has to stand before a name, the others are hardly anything else."""
    following = match[2].capitalize()
    return following not in NO_NAMES_NEXT and (match[1] != "ST" or following not in STARTERS)


def _has_stopped(text: str) -> bool:
    """Whether a stop is anywhere but after the last word of the sentence, or that word may be an abbreviation."""
    if text.count(".") != 1 or not text.endswith("."):
        return "." in text
    last = text[text.rfind(" ") + 1 : -1]
    return last.lower() in _KEYS or not last.isalpha()


def _of_table(text: str, matches: Iterable[re.Match[str]]) -> Iterator[Replacement]:
    for match in matches:
        written = match.group(1)
        key = written if written in TABLE else written.capitalize() if written.isupper() else written.lower()
        if key not in TABLE or (len(written) == 1 and not written.islower()):
            continue
        before = text[max(0, match.start() - _NEAR_CHARS) : match.start()]
        after = text[match.end() : match.end() + _NEAR_CHARS]
        reading: tuple[Evidence, str] | None = next((one for one in TABLE[key] if _shown(one[0], before, after)), None)
        if reading is not None:
            yield _spoken(text, match, *reading, goes_on=key in TITLES)


def _spoken(text: str, match: re.Match[str], evidence: Evidence, word: str, *, goes_on: bool) -> Replacement:
    if match.group()[0].isupper() and word.islower():
        word = word.capitalize()
    after = text[match.end() : match.end() + 1]
    kept = _ENDS.match(text, match.end()) is not None if goes_on else stop_kept(text, match.end())
    if match.group().endswith(".") and evidence not in _GOES_ON and kept:
        word += "."
    if after.isalnum():
        word += " "
    return Replacement(match.start(), match.end(), word, Why.ABBREVIATION)


def _stopped_letters(text: str, match: re.Match[str]) -> Replacement:
    written = match.group()
    plain = written.replace(" ", "")
    known = _DOTTED_WORDS.get(plain.lower())
    letters = known or " ".join(plain.replace(".", ""))
    if known and plain[0].isupper():
        letters = known.capitalize()
    if _TOUCHES.match(text, match.end()):
        letters += " "
    stop = "." if written.endswith(".") and stop_kept(text, match.end()) else ""
    return Replacement(match.start(), match.end(), letters + stop, Why.ABBREVIATION)


def _degree(text: str, match: re.Match[str]) -> Replacement:
    parts = [
        part if part in ("Phil", "Litt", "Mus", "Eng", "Tech", "Ed") and index else " ".join(part.upper())
        for index, part in enumerate((match[1], match[2]))
    ]
    stop = "." if match.group().endswith(".") and stop_kept(text, match.end()) else ""
    return Replacement(match.start(), match.end(), " ".join(parts) + match[3] + stop, Why.ABBREVIATION)


def _initials(text: str, context: Context) -> Iterator[Replacement]:
    """`J.` of J. Smith: no stop. Not the end of a sentence, the number of a heading or a label (`Plan B. Then`)."""
    for match in _INITIAL.finditer(text):
        following = _NAME_NEXT.match(text, match.end())
        if following is None or following.group(1) in STARTERS:
            continue
        letter = match.group(1)
        first = not text[: match.start()].strip()
        before = text[max(0, match.start() - _NEAR_CHARS) : match.start()]
        if _LABEL.search(before) or (first and context.heading and letter in "IVXLCDM"):
            continue
        if letter == "I" and before[-2:-1].islower():
            continue
        now = letter + ("" if text[match.end()] == " " else " ")
        yield Replacement(match.start(), match.end(), now, Why.ABBREVIATION)


def _sign(text: str, match: re.Match[str]) -> Replacement:
    written = match.group().lower()
    if written in _SIGN_WORDS:
        glued = text[match.end() : match.end() + 1].isalnum()
        return Replacement(match.start(), match.end(), _SIGN_WORDS[written] + " " * glued, Why.ABBREVIATION)
    if written[0] in "№n":
        return Replacement(match.start(), match.end(), "number ", Why.ABBREVIATION)
    stop = "." if written.endswith(".") and stop_kept(text, match.end()) else ""
    if written.startswith("et"):
        return Replacement(match.start(), match.end(), "and others" + stop, Why.ABBREVIATION)
    if written.startswith("&"):
        return Replacement(match.start(), match.end(), "et cetera" + stop, Why.ABBREVIATION)
    return Replacement(match.start(), match.end(), " " * (written[0] == " ") + "and following" + stop, Why.ABBREVIATION)


def _shown(evidence: Evidence, before: str, after: str) -> bool:
    """Whether what stands around an abbreviation bears a reading out."""
    word_before = before[-_WORD_CHARS:]
    match evidence:
        case Evidence.NAME_NEXT:
            found = _NAME_NEXT.match(after)
            return found is not None and found.group(1) not in STARTERS
        case Evidence.NAME_BEFORE:
            return _NAME_BEFORE.search(word_before) is not None
        case Evidence.STREET:
            if _NAME_NEXT.match(after):
                return (_HOUSE_BEFORE.search(before) or _STREET_BEFORE.search(before)) is not None
            return _STREET_NAME.search(word_before) is not None
        case Evidence.COUNTY:
            return _PLACE_BEFORE.search(word_before) is not None and _NAME_NEXT.match(after) is not None
        case Evidence.CASE_NAMES:
            return _NAME_BEFORE.search(word_before) is not None and _NAME_NEXT.match(after) is not None
        case Evidence.DATE:
            return (_DATE_BEFORE.search(word_before) or _DATE_NEXT.match(after)) is not None
        case Evidence.STATE | Evidence.STATE_IN_DOUBT:
            return in_state(before, after, doubtful=evidence is Evidence.STATE_IN_DOUBT)
        case Evidence.BRACKETS:
            return before.endswith(("(", "[")) and after.startswith((")", "]", ","))
        case Evidence.ANY:
            return True
    pattern = _PATTERNS[evidence]
    return (pattern.search(word_before) if evidence in _BACKWARD else pattern.match(after)) is not None


_PATTERNS = {
    Evidence.NUMBER_NEXT: _NUMBER_NEXT,
    Evidence.LETTER_NEXT: re.compile(r"\s[A-Z](?=[\s,.;:)\]]|$)"),
    Evidence.TITLE_NEXT: re.compile(r"\s(?:and|&)\s(?:Mrs?|Ms|Dr|Miss|Lady|Madame|Mme)\b"),
    Evidence.ROMAN_NEXT: re.compile(r"\s[IVXLC]{2,7}(?!\w)"),
    Evidence.DIGIT_NEXT: _DIGIT_NEXT,
    Evidence.YEAR_NEXT: _YEAR_NEXT,
    Evidence.WORD_NEXT: _WORD_NEXT,
    Evidence.BY_NEXT: re.compile(r"\sby\b"),
    Evidence.OF_NEXT: re.compile(r"\sof\b"),
    Evidence.ORDINAL_BEFORE: _ORDINAL_BEFORE,
    Evidence.LIST_BEFORE: _LIST_BEFORE,
    Evidence.AND_BEFORE: re.compile(r"(?:&|\band)\s$"),
    Evidence.DIGIT_BEFORE: re.compile(r"\d\s?(?:[a-z]{1,6}\s)?$"),
    Evidence.WORD_BEFORE: re.compile(r"[a-z,]\s$"),
    Evidence.IT_BEFORE: re.compile(r"\b[Ii]t(?:['’]s| is| was)(?: (?:now|already|only|still|not))?\s$"),
}
_GOES_ON = frozenset({Evidence.NUMBER_NEXT, Evidence.LETTER_NEXT, Evidence.DIGIT_NEXT, Evidence.YEAR_NEXT})
"""What follows belongs to the abbreviation: its stop ends no sentence."""
_BACKWARD = frozenset(
    {
        Evidence.ORDINAL_BEFORE,
        Evidence.LIST_BEFORE,
        Evidence.AND_BEFORE,
        Evidence.DIGIT_BEFORE,
        Evidence.WORD_BEFORE,
        Evidence.IT_BEFORE,
    }
)
RULES: tuple[Rule, ...] = (_rule,)
