"""Cuts a sentence that is too long: at sentence marks inside it, clause marks, spaces, and at last anywhere. Pure.

Linear in the length of the text: every step looks at no more than one piece. Where words may part is in `places`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from jobs.language_tags import base_language
from jobs.plan import Break
from jobs.reading.splitting import places
from jobs.reading.splitting.places import CLOSERS

# Possessive, and a run of marks is looked at once: hostile input is nothing but marks.
_SENTENCE = re.compile(rf"(?<![.!?…؟।])[.!?…؟।]++[{CLOSERS}]*+\s+|(?<![。！？｡])[。！？｡]++[{CLOSERS}]*+\s*")
_CLAUSE = re.compile(rf"[,;:،؛][{CLOSERS}]*+\s+|[，、；：][{CLOSERS}]*+\s*|\s[-–—]\s+|(?<!—)—++[{CLOSERS}]*+\s*")
_CONJUNCTION = re.compile(
    r"\s+(?=(?:and|or|but|nor|which|who|because|when|while|where|that|if|though|although|until|unless|since|und|oder|aber"
    r"|weil|dass|denn|et|ou|mais|parce|qui|que|y|o|pero|porque|perché|che|e|mas|en|maar|omdat|и|или|но|что)\s)"
)
_SPACE = re.compile(r"\s+")
_JOINT = re.compile(r"(?<=[^\W\d_])[-–/&?=_.,](?=[^\W\d_])")
_SHORTEST = 0.4
"""A mark nearer to the start than this share of the limit is passed over: it would leave a scrap."""
_LAST_CUT = 0.6
"""Where the last cut of a sentence is looked for at most, as a share of what is left: two halves, not a scrap."""
_FAR = 5
"""How many limits ahead a word is looked for that the next piece could speak."""
_LATE = 0.65
"""A conjunction is a better place than another space only in the last third of what may be taken."""

# Letters of these languages take longer to speak than those of English, because one stands for more sounds. People
# speak 5 to 6 syllables a second in all languages (Pellegrino, Coupé, Marsico: A cross-language perspective on speech
# information rate, 2011), so what differs is syllables per character: one or more in Chinese, Japanese and Korean,
# about 0.4 in English; scripts that leave vowels out lie between.
_TIME_PER_CHAR = {
    **dict.fromkeys(("zh", "ja", "ko", "yue", "wuu", "cmn"), 2.0),
    **dict.fromkeys(("th", "lo", "km", "my", "am", "ti"), 1.3),
    **dict.fromkeys(("ar", "he", "fa", "ur", "ps", "yi", "ckb", "sd"), 1.2),
}


@dataclass(frozen=True, slots=True)
class Piece:
    """`text[start:end]` of a paragraph; `after` is what stands at its end."""

    start: int
    end: int
    after: Break


def safe_chars(max_chars: int, language: str) -> int:
    """How many characters of a language take as long to speak as `max_chars` of English; 1 or more."""
    base = base_language(language)
    return max(1, int(max_chars / _TIME_PER_CHAR.get(base, 1.0)))


def visible_chars(text: str, start: int, end: int) -> int:
    """How long a piece is without the white space at its ends."""
    while end > start and text[end - 1].isspace():
        end -= 1
    while start < end and text[start].isspace():
        start += 1
    return end - start


def cut(text: str, piece: Piece, max_chars: int) -> list[Piece]:
    """The piece in pieces of at most `max_chars` visible characters; they follow each other and cover it.

    Phonemes `⟦…⟧` that are longer are a piece of their own.
    """
    pieces: list[Piece] = []
    start = piece.start
    while visible_chars(text, start, piece.end) > max_chars:
        end, after = _place(text, start, piece.end, max_chars)
        if end >= piece.end or (end - start > max_chars and _only_marks(text, end, piece.end)):
            break
        pieces.append(Piece(start, end, after))
        start = end
    return [*pieces, Piece(start, piece.end, piece.after)]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """What is left of a sentence, and where its first word begins and the last one that counts for the next piece."""

    text: str
    start: int
    end: int
    max_chars: int
    first_word: int
    last_word: int

    def last(self, pattern: re.Pattern[str], lower: int, upper: int) -> int | None:
        """The last place after a match with `lower` to `upper` characters before it that parts nothing."""
        text, start = self.text, self.start
        for place in reversed(list(_ends(text, pattern, start, start + upper))):
            if _without_space(text, place) < start + max(lower, 1):
                return None
            speaks = self.first_word < place <= self.last_word
            if speaks and places.may_part(text, start, place, self.max_chars):
                return place
        return None


def _place(text: str, start: int, end: int, max_chars: int) -> tuple[int, Break]:
    """Where to cut next: the best mark that leaves at most `max_chars`, the last one of its rank."""
    left = end - start
    upper, shortest = max_chars, round(max_chars * _SHORTEST)
    if left <= 2 * max_chars:
        upper = min(max_chars, max(left - max_chars, round(left * _LAST_CUT)))
        shortest = min(shortest, round(left * _SHORTEST))
    stretch = _Stretch(text, start, end, max_chars, *_words(text, start, min(end, start + _FAR * max_chars)))
    spaceless = places.spaceless(text[start + upper - 1])
    ranks = [
        (_SENTENCE, shortest, upper, Break.SENTENCE),
        (_CLAUSE, shortest, upper, Break.CLAUSE),
        (_CONJUNCTION, round(upper * _LATE), upper, Break.NONE),
        (_SPACE, shortest if spaceless else 1, upper, Break.NONE),
    ]
    if not spaceless:
        ranks += [(_SPACE, 1, max_chars, Break.NONE), (_JOINT, 1, max_chars, Break.NONE)]
    for pattern, lower, most, after in ranks:
        place = stretch.last(pattern, lower, most)
        if place is not None:
            return place, after
    return places.between_letters(text, start, start + max(1, upper), start + max_chars), Break.NONE


def _only_marks(text: str, start: int, end: int) -> bool:
    """Whether what is left are a few marks, which stay with what is before them."""
    return end - start <= places.LOOK_CHARS and not any(char.isalnum() for char in text[start:end])


def _words(text: str, start: int, end: int) -> tuple[int, int]:
    """Where the first and the last letter or digit of a stretch are; (end, start) when it has none."""
    first = next((place for place in range(start, end) if text[place].isalnum()), end)
    last = next((place for place in range(end - 1, first, -1) if text[place].isalnum()), start)
    return first, last


def _ends(text: str, pattern: re.Pattern[str], start: int, upper: int) -> Iterator[int]:
    """Where matches end that leave no more than may be taken. A look-ahead may see a little more of the text."""
    for match in pattern.finditer(text, start, min(len(text), upper + places.LOOK_CHARS)):
        if _without_space(text, match.end()) > upper:
            return
        if match.end() > start:
            yield match.end()


def _without_space(text: str, place: int) -> int:
    """`place` without the white space before it (clean text has no two in a row)."""
    return place - text[place - 1].isspace()
