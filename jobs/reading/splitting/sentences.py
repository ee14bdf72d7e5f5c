"""Where sentences end in a paragraph: sentencex, with atoms it must not cut and ends it does not see. Pure.

Spans are half-open, follow each other and cover the whole text; white space belongs to the sentence before it.
The rules for marks between words are in `ends`; here are the text's windows, quotes and marks. Linear in the length.
"""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from sentencex import get_sentence_boundaries

from jobs.language_tags import base_language
from jobs.reading.cleaning import speakable
from jobs.reading.splitting.abbreviations import words_of
from jobs.reading.splitting.ends import Ends, Mark

_WINDOW_CHARS = 2048
"""sentencex takes time quadratic in the quotes it is given at once; a text is handed over in windows of this size."""
_CLOSERS = "”’»›)\\]}」』）】》〉"
_STRAIGHT = "\"'"
# Marks, the closing signs and note numbers after them, white space. Possessive: a run of marks is looked at once.
_MARK = re.compile(
    rf"(?<![.!?…‽؟])([.!?…‽؟]++)([{_CLOSERS}“‘{_STRAIGHT}]*+(?:\[\d{{1,4}}\]|[¹²³⁰⁴-⁹*†‡])*+(?: [»›”](?= |$))?)\s++"
)
# Without a space a sentence ends only at these marks of unspaced scripts (and the closers after them).
_UNSPACED_END = re.compile(rf"([。！？｡．…])([{_CLOSERS}{_STRAIGHT}]*)$")
_UNSPACED_CLOSED = re.compile(rf"[。！？｡][{_CLOSERS}]+(?=[^\s{_CLOSERS}。！？])")
# “What did you—” “Nothing.”, “You can’t—” He stopped. (not: “You can’t—” John said.)
_BROKEN_OFF = re.compile(r"[—–-](?:[”»’\"]\s+(?=[“«‘\"])|[”»\"]\s+(?=(?:He|She|They|It|We|The|Then|But|And)\b))")
_END_TAIL_CHARS = 8
_CLOSING_RUN = re.compile(rf"[{_CLOSERS}{_STRAIGHT}]+(?:\s+|$|(?=[。、，！？\u3040-\u30ff\u4e00-\u9fff]))")
# What goes on with a quotation: 「行こう！」と言った, “走吧！”他说.
_QUOTED_ON = re.compile(r"[とっのはがをにもでな、，]|[^，。！？,：“「]{0,10}(?:说|道|问|喊|叫|答|嚷|說|問)")
_FIRST_LETTER = re.compile(r"[^\W\d_]")
_SPACELESS_FROM = "\u2e80"
_PAIRS = {"“": "”", "«": "»", "(": ")", "[": "]", "「": "」", "『": "』", "（": "）"}
_PAIRED = re.compile(r"[“”«»()\[\]「」『』（）\"]")
_MAX_DEPTH = 32


def sentence_spans(text: str, language: str) -> list[tuple[int, int]]:
    """The sentences of a paragraph of clean text; `language` is a tag such as `en` or `pt-BR`."""
    if not text:
        return []
    base = base_language(language)
    found = {_after_closers(text, end) for end in _boundaries(text, base)}
    found |= {match.end() for pattern in (_UNSPACED_CLOSED, _BROKEN_OFF) for match in pattern.finditer(text)}
    ends = [*_ends(text, base, sorted(end for end in found if _may_end(text, end))), len(text)]
    return _with_words(text, [span for span in zip([0, *ends[:-1]], ends, strict=True) if span[0] < span[1]])


def _boundaries(text: str, base: str) -> Iterator[int]:
    """sentencex's ends, window by window; the last sentence of a window is looked at again with what follows it."""
    start = 0
    while start < len(text):
        window = text[start : start + _WINDOW_CHARS]
        ends = [int(found["end_index"]) for found in get_sentence_boundaries(base, window)]
        last = start + len(window) == len(text)
        kept = ends if last else ends[:-1]
        yield from (start + end for end in kept)
        start += kept[-1] if kept else len(window)


def _ends(text: str, base: str, found: list[int]) -> Iterator[int]:
    """The ends in order: at each mark the rules decide, or else sentencex (`found`); elsewhere only sentencex."""
    first = _FIRST_LETTER.search(text)
    rules = Ends(words_of(base), base, small=first is not None and first.group().islower())
    quoted = _quoted(text)
    opens = [start for start, _ in quoted]
    place = sentence_start = 0
    for match in _MARK.finditer(text):
        while place < len(found) and found[place] <= match.start():
            sentence_start = found[place]
            yield sentence_start
            place += 1
        inside = bisect_right(opens, match.start()) - 1
        within = inside >= 0 and match.start() < quoted[inside][1] and match.end(2) <= quoted[inside][1]
        mark = Mark(text, match.start(), match.end(), match[1], match[2])
        ends = rules.verdict(mark, sentence_start=sentence_start, quoted=within)
        after = bisect_left(found, match.end() + 1, place)
        if ends is None or (ends and within):  # what is quoted is left whole, as sentencex does
            ends = after > place
        place = after
        if ends:
            sentence_start = match.end()
            yield sentence_start
    yield from (end for end in found[place:] if end < len(text))


def _may_end(text: str, end: int) -> bool:
    """Whether an end is one: after white space, or after a mark of an unspaced script that no quotation goes on."""
    before = text[max(0, end - _END_TAIL_CHARS) : end]
    if before[-1:].isspace():
        return True
    match = _UNSPACED_END.search(before)
    if match is None or (match[2] and _QUOTED_ON.match(text, end)):
        return False
    return match[1] not in "．…" or text[end : end + 1] >= _SPACELESS_FROM


def _after_closers(text: str, end: int) -> int:
    match = _CLOSING_RUN.match(text, end)
    return match.end() if match else end


def _quoted(text: str) -> list[tuple[int, int]]:
    """Outermost pairs of quotes or brackets, as spans of what is between them, in order."""
    spans: list[tuple[int, int]] = []
    stack: list[tuple[str, int]] = []
    for match in _PAIRED.finditer(text):
        sign, at = match.group(), match.start()
        if stack and stack[-1][0] == sign:
            start = stack.pop()[1]
            while spans and spans[-1][0] > start:
                spans.pop()
            spans.append((start, at))
        elif len(stack) < _MAX_DEPTH and (sign in _PAIRS or (sign == '"' and not text[at - 1 : at].isalnum())):
            stack.append((_PAIRS.get(sign, sign), at))
    return spans


def _with_words(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, each with a letter or digit: what has none belongs to the one before (at the start: after) it."""
    joined: list[tuple[int, int]] = []
    last_speaks = False
    for start, end in spans:
        speaks = speakable(text[start:end])
        if joined and not (speaks and last_speaks):
            joined[-1] = (joined[-1][0], end)
            last_speaks = last_speaks or speaks
        else:
            joined.append((start, end))
            last_speaks = speaks
    return joined
