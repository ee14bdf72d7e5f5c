"""Where sentences end in a paragraph: sentencex, with atoms it must not cut and ends it does not see. Pure.

Spans are half-open, follow each other and cover the whole text; white space belongs to the sentence before it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentencex import get_sentence_boundaries

from jobs.reading.cleaning import speakable

_WINDOW_CHARS = 4096
"""sentencex takes time quadratic in the quotes it is given at once; a text is handed over in windows of this size."""
_CLOSERS = "”’»›)\\]}」』）】》〉"
_OPENERS = "“‘«‹(\\[{„‚\"'"
# Without a space a sentence ends only at these marks of unspaced scripts (and the closers after them).
_UNSPACED_END = re.compile(rf"[。！？｡．…][{_CLOSERS}\"']*$")
_END_TAIL_CHARS = 8
_ABBREVIATION = re.compile(r"(?:^|\W)(?:Mr|Mrs|Ms|Dr|St|Prof|Jr|Sr|Rev|Gen|Col|Capt|Lt|Sgt|Mt)\.\W*$")
_REFERENCE = r"(?i:pp?|vols?|chs?|secs?|figs?|nos?|nr|vv?|ll?|arts?|cf|ca|al|eds?|op|approx)"
# No sentence ends after these: page and figure references, `et al.`, running page numbers, a leading list number.
_ATOMS = (
    re.compile(rf"(?:^|(?<=[\s(\[])){_REFERENCE}\.\s+(?=[\d\[(a-z])"),
    re.compile(r"\d+ff?\.\s+(?=[a-z])"),
    re.compile(r"^\(?(?:\d{1,3}|[a-zA-Z])[.)]\s+"),
    re.compile(r"(?:…|\.{3})\s+(?=[a-zà-ÿ])"),
)
# Ends sentencex joins over; an upper-case letter (after opening marks) has to follow.
_ENDS = (
    re.compile(rf"[.…][”’»]+\s+(?=[{_OPENERS}]*\w)"),  # “Not yet.” She left.
    re.compile(rf"[.!?…][)\]]+\s+(?=[{_OPENERS}]*\w)"),  # (She woke!) Then …
    re.compile(rf"(?:…|\.{{3}})\s+(?=[{_OPENERS}]*\w)"),  # … and ... alike
    re.compile(r"[.!?…]\s+(?=[-–—]\s+\w)"),  # – Who is it? – Me.
    re.compile(rf"\bno\.\s+(?=[{_OPENERS}]*\w)"),  # She said no. He left.
    re.compile(rf"\w/\w{{1,3}}\.\s+(?=[{_OPENERS}]*\w)"),  # 30 km/h. A loss …
)
_CLOSING_RUN = re.compile(rf"[{_CLOSERS}]+\s*")
_FIRST_LETTER = re.compile(r"\w")


def sentence_spans(text: str, language: str) -> list[tuple[int, int]]:
    """The sentences of a paragraph of clean text; `language` is a tag such as `en` or `pt-BR`."""
    if not text:
        return []
    ends = {_after_closers(text, end) for end in _boundaries(text, language) if _may_end(text, end)}
    ends |= set(_missed(text))
    for atom in _ATOMS:
        ends -= {match.end() for match in atom.finditer(text)}
    ends.discard(0)
    ends.add(len(text))
    starts = sorted(ends)
    return _with_words(text, list(zip([0, *starts[:-1]], starts, strict=True)))


def _boundaries(text: str, language: str) -> Iterator[int]:
    """sentencex's ends, window by window; the last sentence of a window is looked at again with what follows it."""
    base = language.replace("_", "-").split("-")[0].lower()
    start = 0
    while start < len(text):
        window = text[start : start + _WINDOW_CHARS]
        ends = [int(found["end_index"]) for found in get_sentence_boundaries(base, window)]
        last = start + len(window) == len(text)
        kept = ends if last else ends[:-1]
        yield from (start + end for end in kept)
        start += kept[-1] if kept else len(window)


def _may_end(text: str, end: int) -> bool:
    before = text[max(0, end - _END_TAIL_CHARS) : end]
    return before[-1:].isspace() or _UNSPACED_END.search(before) is not None


def _after_closers(text: str, end: int) -> int:
    match = _CLOSING_RUN.match(text, end)
    return match.end() if match else end


def _missed(text: str) -> Iterator[int]:
    for pattern in _ENDS:
        for match in pattern.finditer(text):
            letter = _FIRST_LETTER.search(text, match.end())
            before = text[max(0, match.start() - _END_TAIL_CHARS) : match.end()]
            if letter is not None and letter.group().isupper() and not _ABBREVIATION.search(before):
                yield match.end()


def _with_words(text: str, spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """The spans, each with a letter or digit: what has none belongs to the one before (at the start: after) it."""
    joined: list[tuple[int, int]] = []
    for start, end in spans:
        if joined and not (speakable(text[start:end]) and speakable(text[slice(*joined[-1])])):
            joined[-1] = (joined[-1][0], end)
        else:
            joined.append((start, end))
    return joined
