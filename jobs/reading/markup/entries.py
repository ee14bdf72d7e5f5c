"""Entries of an index and of a bibliography, told from sentences by their shape. Pure.

Knows nothing of headings: who asks has found one. What is in doubt is no entry, so it is spoken.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from jobs.reading.markup.block import TextBlock

_MIN_ENTRIES = 3
"""Two paragraphs that look alike may be chance; three are a list."""
_MOST = 0.6
"""Of the paragraphs are entries: letters, main entries without a page and a remark stand between."""
_IN_ORDER = 0.5
"""Of the entries follow the alphabet: those below a main entry begin it again."""
_MAX_ENTRY_CHARS = 200
_MAX_WEAK_CHARS = 60
"""Of a line of an index without a page (a letter, a main entry above its parts)."""
_STOPPED = re.compile(r"[.!?…][\"'”’»)]?$")
_PAGES = re.compile(r"(?:[,;]\s{0,4}|(?<!\s)[ \t\xa0]{2,40}|[.…·]{2,80}\s?|[\u2002\u2003])\d[\d\s,;\u2013nf-]{0,80}$")
_LINKED_PAGES = re.compile(r"\s\d[\d\s,;\u2013nf-]{0,80}$")
_SEE = re.compile(r"[,;.:(\u2013\u2014]\s{0,4}[Ss]ee (?:also )?\S")
_LETTERS = re.compile(r"[^\W_]{1,20}")
_SURNAME = r"(?:(?:van|von|de|du|der|den|di|la|le) ){0,2}[A-ZÀ-ÖØ-Þ][\w'’-]{1,30}"
_LISTED = re.compile(
    r"(?:\d{1,3}[.)] )?(?:"
    r"\[[\w+-]{1,12}\] ?\S|(?:[\u2014\u2013]{2,6}|[_-]{3,12})[.,]? ?\S|"
    rf"{_SURNAME}(?: {_SURNAME})?, ?[A-ZÀ-ÖØ-Þ]\.|"
    rf"{_SURNAME}(?: {_SURNAME})?, [A-ZÀ-ÖØ-Þ][\w'’-]{{1,30}}(?: [A-ZÀ-ÖØ-Þ][\w'’-]{{0,30}}\.?)?"
    r"(?:\.| \(|,? (?:and|&|eds?|trans)\b)|"
    rf"{_SURNAME}(?:(?:,? (?:and|&) {_SURNAME})|,? et al\.?)?(?:, | \()\d{{4}}[a-z]?\b)"
)
_INITIALS_FIRST = re.compile(rf"(?:\d{{1,3}}[.)] )?(?:[A-ZÀ-ÖØ-Þ]\.[ -]?){{1,3}}{_SURNAME}(?:[,.:]| \(| (?:and|&) )")
_TOLD = re.compile(r"\b(?:he|she|they|we|you|him|her|them|was|were|had|said|asked|who|did|I(?!\.))\b")
"""Words of a sentence that tells something."""
_CITES = re.compile(r"\b(?:1[4-9]|20)\d\d[a-z]?\b|\bdoi\b|https?:|\bISBN\b", re.IGNORECASE)


def in_index(texts: Sequence[TextBlock]) -> list[bool]:
    """Which paragraphs below the heading of an index are of one; none if it is no index.

    Entries are short, end with pages or lead to another entry, have no full stop, and follow the alphabet.
    """
    plain = [block.text.strip() for block in texts]
    entries = [_is_entry(text, block) for text, block in zip(plain, texts, strict=True)]
    names = [_sorted_by(text) for text, entry in zip(plain, entries, strict=True) if entry]
    if not _enough(entries) or sum(one <= two for one, two in pairwise(names)) < _IN_ORDER * (len(names) - 1):
        return [False] * len(texts)
    return [entry or _is_weak(text) for text, entry in zip(plain, entries, strict=True)]


def in_bibliography(texts: Sequence[TextBlock]) -> list[bool]:
    """Which paragraphs below the heading of a bibliography are of one; none if it is no bibliography.

    Entries begin with an author, a number in brackets or a line for the author above, and say a year or an address.
    """
    plain = [" ".join(block.text.split()) for block in texts]
    listed = [_is_listed(text) for text in plain]
    sure = [one and _TOLD.search(text) is None for text, one in zip(plain, listed, strict=True)]
    return listed if _enough(sure) else [False] * len(texts)


def _enough(entries: Sequence[bool]) -> bool:
    return sum(entries) >= max(_MIN_ENTRIES, _MOST * len(entries))


def _is_entry(text: str, block: TextBlock) -> bool:
    if len(text) > _MAX_ENTRY_CHARS or _STOPPED.search(text):
        return False
    linked = block.linked_chars > 0 and _LINKED_PAGES.search(text) is not None
    return linked or _PAGES.search(text) is not None or _SEE.search(text) is not None


def _is_weak(text: str) -> bool:
    return len(text) <= _MAX_WEAK_CHARS and _STOPPED.search(text) is None


def _sorted_by(text: str) -> str:
    return " ".join(_LETTERS.findall(text[:_MAX_WEAK_CHARS])).casefold()


def _is_listed(text: str) -> bool:
    if _CITES.search(text) is None:
        return False
    if _INITIALS_FIRST.match(text):
        return _TOLD.search(text) is None
    return _LISTED.match(text) is not None
