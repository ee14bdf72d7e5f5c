"""When each word of the written text is heard, from the times of the spoken ones (`1984` is spoken as three). Pure.

Words that are spoken as they are written carry their times over; those between them share the time of what is spoken
between them by their letters. Without any spoken times all words share the time of the part.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import accumulate, pairwise

from jobs.marks.times import PartTime, Word
from jobs.marks.widths import clean_text, pieces_of


@dataclass(frozen=True, slots=True)
class Token:
    """What no line is broken in: a word, or one sign of a script without spaces. Samples as those of its part."""

    text: str
    blank_before: bool
    start_sample: int
    end_sample: int


def tokens_of(part: PartTime) -> list[Token]:
    """The written text of a part in tokens with their times, in order and without overlaps."""
    written = clean_text(part.text).split()
    if not written:
        return []
    if part.words:
        times = _matched(written, part.words)
    else:
        times = _shared([_weight(word) for word in written], part.start_sample, part.end_sample)
    tokens: list[Token] = []
    for word, (start, end) in zip(written, times, strict=True):
        pieces = pieces_of(word)
        shares = _shared([_weight(piece) for piece in pieces], start, end)
        for at, (piece, (first, last)) in enumerate(zip(pieces, shares, strict=True)):
            blank = at == 0 and (bool(tokens) or part.blank_before)
            tokens.append(Token(piece, blank, first, last))
    return tokens


def _matched(written: Sequence[str], spoken: Sequence[Word]) -> list[tuple[int, int]]:
    """Start and end of each written word."""
    times: list[tuple[int, int]] = []
    matcher = SequenceMatcher(
        None, [_key(word) for word in written], [_key(word.text) for word in spoken], autojunk=False
    )
    for kind, first, last, begin, stop in matcher.get_opcodes():
        if kind == "equal":
            times += [(word.start_sample, word.end_sample) for word in spoken[begin:stop]]
        elif begin == stop:  # not spoken: it takes no time
            at = times[-1][1] if times else spoken[0].start_sample
            times += [(at, at)] * (last - first)
        elif first < last:
            weights = [_weight(word) for word in written[first:last]]
            times += _shared(weights, spoken[begin].start_sample, spoken[stop - 1].end_sample)
        elif times:  # spoken and not written: it belongs to the word before
            times[-1] = (times[-1][0], spoken[stop - 1].end_sample)
    times[0] = (min(times[0][0], spoken[0].start_sample), times[0][1])
    return times


def _shared(weights: Sequence[int], start: int, end: int) -> list[tuple[int, int]]:
    """A stretch of time dealt out by weight."""
    total = sum(weights)
    if not total:
        weights, total = [1] * len(weights), len(weights)
    edges = [start + (end - start) * done // total for done in accumulate(weights, initial=0)]
    return list(pairwise(edges))


def _key(word: str) -> str:
    """A word as it is compared: letters and digits alone."""
    kept = "".join(sign for sign in unicodedata.normalize("NFKC", word) if sign.isalnum())
    return kept.casefold() or word


def _weight(word: str) -> int:
    return sum(sign.isalnum() for sign in word)
