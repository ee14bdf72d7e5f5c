"""Whether a mark ends a sentence: rules for what stands before and after it. Pure; knows no splitter and no file.

A rule says yes, no, or nothing (None): then the general splitter decides.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from jobs.reading.splitting.abbreviations import (
    BOOKS,
    DAYS,
    DESIGNATORS,
    ENDINGS,
    GO_ON_LOUD,
    GREATER_UNITS,
    MONTHS,
    ORDINAL_NOUNS,
    ORDINAL_WORDS,
    PRONOUNS,
    SHORT_WORDS,
    TIMES,
    UNITS,
    Words,
)

OPENERS = "“‘«‹(\\[{„‚\"'¿¡»›"
_OPENING = OPENERS.replace("\\", "") + "”’"
_CLOSING = "”’\"'»)"
_MAY_LEAD = OPENERS + "’-–—―_*"
_LOOK_BACK_CHARS = 48
_LOOK_AHEAD_CHARS = 64
_PLAIN_CHARS = 4
_AFTER = re.compile(rf"([{OPENERS}]{{0,4}})((?:[-–—―]\s?)?)([{OPENERS}]{{0,4}})([\w’']?[\w’'\-]{{0,32}})(.?)")
_LETTERS = re.compile(r"[^\W\d_]+\Z")
_INITIAL = re.compile(r"(?:[^\W\d_]\.-?){0,5}[^\W\d_]\Z")
_DOTTED = re.compile(r"(?:[^\W\d_]{1,2}\.[-–]?){1,6}[^\W\d_]{1,2}\Z")
_LIST_MARK = re.compile(rf"[{OPENERS}\s]*(?:\d{{1,3}}|[^\W\d_]|[IVXLC]{{1,6}})\Z")
_ROMAN = re.compile(r"[IVXLCDM]{1,8}\Z")
_PAGES = re.compile(r"\d+ff?\Z")
_FIGURES = re.compile(r"\d+\Z")
_BARE_OPENER = re.compile(r"[(\[{]\s?\Z")
_QUOTE_MARKS = "“”„‘’«»‹›\"'"
_AFTER_TIME = re.compile(
    r"(?:[ECMP][SD]?T|GMT|UTC|BST|CET|CEST|IST|(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?|Eastern|Pacific|Central|Mountain|Greenwich|(?:January|February|March|April|"
    r"May|June|July|August|September|October|November|December))\Z"
)
_SAID = (
    "said|says|asked|cried|shouted|whispered|replied|answered|called|added|muttered|murmured|exclaimed|yelled|began|"
    "continued|demanded|screamed|snapped|laughed|sighed|growled|thought|wondered|repeated|agreed|insisted|inquired|"
    "observed|remarked|returned|declared|protested|interrupted|gasped|hissed|roared|sobbed|groaned|explained|suggested"
)
_ATTRIBUTION = re.compile(rf"(?:I|[A-Z][\w’'.\-]{{0,24}})(?: [A-Z][\w’'.\-]{{0,24}}){{0,3}} (?:{_SAID})\b")
_ELIDED = re.compile(r"(?:[ldnsmtcjLDNSMTCJ]|qu|dell|nell|all|sull|un)['’](?=[^\W\d_]{2})")
_CAMEL = re.compile(r"[a-z][A-Z]|v\d")
_SLASHED = re.compile(r"[^\W\d_]{1,12}(?:/[^\W_]{1,12}){1,3}\Z")
_SHILLINGS = re.compile(r"(?:\d+s|\d+l)\Z")
_PENCE = re.compile(r"\d{1,2}[½¼¾]?d\Z")
_SHORT_UNITS = frozenset("gmlhs")
_GREAT_UNITS = frozenset("VAWK")
_LETTERS_JOINED = re.compile(r"(?:^|[\s(])[^\W\d_] (?:and|(?:is |was )?[a-z]{3,9} than) [^\W\d_]\Z")
"""`A and B`, `A is more than B`: letters, where `Tom and R. Jones` has an initial."""
_ONE_OF_THEM = re.compile(r"\b(?:the|an?|his|her|its|my|our|your|their|this|that) (?!letter)[a-z]+ [^\W\d_]\Z", re.I)
"""`In the room A. Lee sat`: no label, where `room A` is one."""
_YEAR_LIKE = re.compile(r"(?:1\d|20)\d\d\Z")
_TIME_LEADS = re.compile(
    rf"[{OPENERS}\s]*(?:(?:[Tt]hen|[Aa]nd|[Bb]ut|[Ss]o|[Oo]n [A-Z][a-z]{{2,8}}day),? )?"
    r"(?:[Aa]t|[Bb]y|[Aa]round|[Ff]rom|[Uu]ntil|[Bb]efore|[Aa]fter|[Ss]ince|[Aa]bout)"
    r"(?: (?:about|around|exactly|nearly|almost|only))? \d{1,2}(?:[:.]\d\d)?\s?[aApP]\.[mM]\Z"
)
"""`At 7 a.m.`: a sentence that has no more than a time so far goes on with a name."""
_DATE_AHEAD = re.compile(
    r"\d{1,2}(?:st|nd|rd|th)?(?: of)? (?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
    r"|(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]{0,6}\.? \d"
)
_CIRCA = re.compile(r"ca?\. \d{3,4} [a-z]")


@dataclass(frozen=True, slots=True)
class Mark:
    """A run of marks in a text: `text[start:end]` is the marks, the closing signs after them and white space."""

    text: str
    start: int
    end: int
    marks: str
    closers: str


@dataclass(frozen=True, slots=True)
class _After:
    """What follows: the opening signs, a dash, a word, the character behind it, and a little of the text."""

    openers: str
    dash: str
    word: str
    then: str
    ahead: str


@dataclass(frozen=True, slots=True)
class Ends:
    """The rules with the words of a language. `small`: the text is written without capitals at sentence starts."""

    words: Words
    language: str
    small: bool

    def verdict(self, mark: Mark, *, sentence_start: int, quoted: bool) -> bool | None:
        """Whether a sentence ends here; None where no rule speaks. `quoted`: inside a pair of quotes or brackets."""
        following = mark.text[mark.end : mark.end + 1]
        if not following.isalnum() and following not in _MAY_LEAD:
            return None
        before = mark.text[max(sentence_start, mark.start - _LOOK_BACK_CHARS) : mark.start]
        if _BARE_OPENER.search(before):
            return False  # (!) and (?) comment on a word
        after = _after(mark)
        if mark.marks == "." and _bullet(before):
            return False
        if after.word[:1].islower():
            return self._before_small(mark, before, after)
        if mark.marks == ".":
            verdict = self._full_stop(before, after)
            if verdict is not None:
                return verdict
        if after.word[:1].isupper():
            return self._before_capital(mark, before, after, quoted=quoted)
        if after.word[:1].isalpha() and not quoted and not mark.closers and set(mark.marks) <= set("!?؟"):
            return True  # a script without capitals
        return self._before_figure(mark, before, after, quoted=quoted)

    def _before_small(self, mark: Mark, before: str, after: _After) -> bool | None:
        if _CAMEL.match(after.word) and mark.marks == "." and not self._known(_last_word(before)):
            return None  # eBay, iPhone
        word = _last_word(before)
        if mark.marks == "." and _CIRCA.match(after.ahead) and self._plain(word):
            return True  # He was in line. c. 1450 it was new.
        if not self.small or mark.closers or "." in mark.marks[1:] or "…" in mark.marks or self._known(word):
            return False
        return True if mark.marks != "." or (word.isalpha() and len(word) > 1) else None

    def _before_capital(self, mark: Mark, before: str, after: _After, *, quoted: bool) -> bool | None:
        if any(sign in _QUOTE_MARKS for sign in mark.closers) and _ATTRIBUTION.match(after.ahead):
            return self._starts(after) and after.word != "I"  # “Stop!” John said.
        if mark.closers or after.dash or "…" in mark.marks or ".." in mark.marks:
            return True
        if mark.marks != "." or quoted:
            return None
        word = _last_word(before)
        return (self._starts(after) and len(word) > 1) or self._plain(word) or None

    def _before_figure(self, mark: Mark, before: str, after: _After, *, quoted: bool) -> bool | None:
        """`He left. 12 men stayed.`"""
        if mark.marks != "." or mark.closers or quoted or not after.word[:1].isdigit():
            return None
        word = _last_word(before)
        return True if self._plain(word) and word.title() not in MONTHS else None

    def _full_stop(self, before: str, after: _After) -> bool | None:
        word = _last_word(before)
        if self.language in {"fr", "it"}:
            word = _ELIDED.sub("", word)  # l'art. 5
        small = word.lower()
        previous = _last_word(before[: len(before) - len(word)].rstrip())
        unit = word in _GREAT_UNITS and previous[-1:].isdigit()  # 12 V. Add
        if small in self.words.always and not unit:
            return False
        if _FIGURES.match(word):
            return self._after_figures(word, previous, after)
        if _SHILLINGS.match(word) and _PENCE.match(after.word):
            return False  # 2s. 6d.
        if word in BOOKS and after.word[:1].isdigit() and after.then == ":":
            return False
        if word in TIMES:
            return after.word[:1].isupper() and not (_AFTER_TIME.match(after.word) or self._after_lead(before, after))
        if _INITIAL.match(word) or (_DOTTED.match(word) and small not in self.words.soft):
            return self._after_letters(word, previous, after, within=before)
        return self._after_word(word, previous, after)

    def _after_word(self, word: str, previous: str, after: _After) -> bool | None:
        small = word.lower()
        figure = after.word[:1].isdigit() or after.openers[:1] in {"[", "("}
        capital = after.word[:1].isupper()
        if small in ENDINGS:
            return capital and not figure
        if word in DAYS and _DATE_AHEAD.match(after.ahead):
            return False
        if word in MONTHS or word in DAYS:
            return not (after.word in MONTHS and after.then == ".") if capital else None
        if _PAGES.match(word):
            return capital
        if small in UNITS and previous[-1:].isdigit() and not (small == "ft" and after.word in {"Worth", "Lauderdale"}):
            return False if figure and small in GREATER_UNITS else capital or None
        if small == "al" and previous.lower() == "et":
            return self._starts(after) and not figure
        if small in self.words.references and not self._is_title(word):
            if figure or self._numeral(word, after):
                return False
            return capital if word in {"no", "No", "NO"} or (word.islower() and len(word) > 2) else None
        if self._is_title(word):
            return previous == "the" and after.word in PRONOUNS
        if small in self.words.soft:
            return self._starts(after) or ("“" in after.openers and capital)
        return None

    def _after_figures(self, word: str, previous: str, after: _After) -> bool | None:
        if not after.word[:1].isupper():
            return None
        if self.language != "de" or len(word) > 2:
            return True
        if after.word.lower() in ORDINAL_NOUNS:
            return False
        return self._starts(after) or previous.lower() not in ORDINAL_WORDS

    def _after_letters(self, word: str, previous: str, after: _After, *, within: str) -> bool | None:
        """After an initial (`J.`) or letters with full stops between (`U.S.`, `Ph.D.`)."""
        one = len(word) == 1
        if not after.word[:1].isupper():
            numbered = after.word[:1].isdigit() and word.islower() and one  # p. 5
            cited = after.openers[:1] in {"(", "["} and not one  # Ph.D. (1990)
            return False if numbered or cited else None
        if self._is_title(word) and one:
            return False
        if one and word in _SHORT_UNITS and previous[-1:].isdigit():
            return True  # for 24 h. H. pylori
        if self._starts(after):
            return not (one and word.isupper() and not previous)
        if "“" in after.openers:
            return not one
        if word.islower() and not one and self.language == "en":
            return None  # a file name: b.py
        if word.islower() or (len(after.word) == 1 and after.then == "."):
            return False
        if not one:
            return previous[-1:].isdigit()  # 44 B.C. Rome …
        counted = previous[-1:].isdigit() and not _YEAR_LIKE.match(previous)  # In 1914 W. Churchill
        labelled = previous.lower() in DESIGNATORS and not _ONE_OF_THEM.search(within)
        named = labelled or counted or previous == "°" or _LETTERS_JOINED.search(within) is not None
        return named or (word == "I" and previous.islower())

    def _numeral(self, word: str, after: _After) -> bool:
        """A Roman numeral or a letter that numbers something (`Fig. A`)."""
        roman = _ROMAN.match(after.word) is not None and after.word != "I"
        letter = len(after.word) == 1 and after.word.isupper() and word.lower() not in {"no", "nos"}
        return roman or (letter and (word[:1].isupper() or not self._starts(after)))

    def _starts(self, after: _After) -> bool:
        """Whether a capitalised word opens a sentence rather than going on with a name. `A.` is an initial."""
        if not after.word[:1].isupper() or (len(after.word) == 1 and after.then == ".") or _loud(after):
            return False
        small = after.word.lower().replace("’", "'").rstrip("'")
        return small in self.words.starters or small.partition("'")[0] in self.words.starters

    def _after_lead(self, before: str, after: _After) -> bool:
        """Whether a sentence goes on after a time (`At 7 a.m. Mr. Smith left.`, `AT 5 P.M. OR`)."""
        if _loud(after):
            return True
        return _TIME_LEADS.match(before) is not None and (after.word == "I" or not self._starts(after))

    def _is_title(self, word: str) -> bool:
        small = word.lower()
        return small in self.words.titles and (small in self.words.lower_titles or word[:1].isupper())

    def _plain(self, word: str) -> bool:
        """Whether an English word is written out: small, of some length, in no table."""
        if _SLASHED.match(word):
            return not self._known(word)  # km/h, and/or
        long = (len(word) >= _PLAIN_CHARS and word.isalpha() and word.islower()) or word in SHORT_WORDS
        return long and self.language == "en" and not self._known(word)

    def _known(self, word: str) -> bool:
        small = word.lower()
        words = self.words
        known = small in words.soft or small in words.references or small in words.always or self._is_title(word)
        return known or small in ENDINGS or word in MONTHS or word in DAYS or word in TIMES or "." in word


def _after(mark: Mark) -> _After:
    match = _AFTER.match(mark.text, mark.end)
    ahead = mark.text[mark.end : mark.end + _LOOK_AHEAD_CHARS]
    if match is None:
        return _After("", "", "", "", "")
    return _After(match[1] + match[3], match[2], match[4].lstrip("’'"), match[5], ahead)


def _loud(after: _After) -> bool:
    return after.word in GO_ON_LOUD and after.then == " "


def _bullet(before: str) -> bool:
    """Whether the sentence so far is only the number of a list: `1.`, `A.`, `IV.`"""
    return len(before) < _LOOK_BACK_CHARS and _LIST_MARK.match(before) is not None


def _last_word(before: str) -> str:
    parts = before.rsplit(None, 1)
    return parts[-1].lstrip(_OPENING).rstrip(_CLOSING) if parts else ""
