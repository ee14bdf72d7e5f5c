"""The copyright page of plain text: which lines of its first blocks claim rights or say who published. Pure.

A story may say "All rights reserved, the notice said": a claim has to end like one, with names or a stop and no verb,
and the page ends where a chapter or running text begins. What is in doubt is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from jobs.reading.headings import heading_number, keyword_heading
from jobs.reading.text.lines import Block, Line, ends_sentence

_SIGN = r"(?:copyright|©|\(c\))"
_YEARS = r"(?:(?:1[5-9]|20)\d\d(?:(?:[-–]|, ?| and | & )\d{2,4}){0,9}(?!\d)|(?-i:M[MCDLXVI]{2,14})\b)"
_OF = (
    r"(?:(?:text|first|illustrations?|cover|art(?:work)?|design|introduction|foreword|afterword|translation|english|"
    r"photographs?|maps?|this|edition|story|poems?)[, ]{1,2}){0,3}"
)
"""What the rights are for: `Cover art copyright © 2019`."""
_CLAIM = re.compile(
    rf"{_OF}(?:copyright|©|\(c\))(?: ?{_SIGN}|:)?(?:, | | by )?(?:{_YEARS}[,:]?(?P<dated>$|\W.*)"
    r"|(?P<by>(?<=by )\S.*))$"
    rf"|{_OF}(?:copyright ?)?(?:©|\(c\)) ?(?P<signed>[^\W\d_].*)$"
    r"|(?P<rights>all rights(?: are)? reserved)(?:\W{0,3}$"
    r"|,? (?:including|under|worldwide|throughout|in all)\b.{0,300}$)"
    r"|(?P<number>(?:e-?)?isbn(?:[- ]1[03])?(?: \(\w{1,12}\))?[\s:]{0,3}[\dxX–-]{9,20}"
    r"(?:\W{1,3}\(?[\w ]{1,20}\)?)?\W{0,3}$)"
    r"|(?P<part>no part of this (?:book|publication|work) may be (?:reproduced|used|copied|transmitted|stored|scanned|"
    r"distributed|sold|resold|translated)\b.*$)",
    re.IGNORECASE,
)
_IMPRINT = re.compile(
    r"(?:(?:first |re)?(?:published|printed|printing|edition)\b|(?:first|second|third|\d{1,2}(?:st|nd|rd|th)) "
    r"(?:e-?book |paperback |hardcover )?(?:edition|printing)|cover (?:design|art|image|illustration|photograph)\b|"
    r"library of congress|a catalogue record|typeset|set in \d|printed and bound|www\.|https?://|edited by)",
    re.IGNORECASE,
)
_LEGAL = re.compile(
    r"\b(?:reproduced|transmitted|written permission|prior permission|rights reserved|moral rights?|catalogue record|"
    r"permission (?:of|from|in writing from) the (?:publisher|author|copyright)|sold subject to|licensed for|"
    r"infring(?:e|es|ing|ement)|(?:products? of|used in) the author['’]s imagination|"
    r"supports? copyright|copyright (?:holder|owner|law|act|fuels)s?)\b"
    r"|\b(?:resemblance|similarity|characters|persons)\b.{0,160}\b(?:coincidental|fictitious|imaginary)\b"
    r"|^(?:this (?:book|novel|story|ebook)? ?is a work of fiction"
    r"|names, characters,? (?:and )?(?:places?|businesses|events|organi[sz]ations))\b",
    re.IGNORECASE,
)
_TELLS = re.compile(r"\b(?:he|she|I|me|my|him|said|says|asked|told|laughed|thought|was|were|had)\b|[\"“”«»]", re.I)
"""What a story has and the sentences of a copyright page do not."""
_BETWEEN_NAMES = (
    "and by of the in for at on to de la le les des du der den die das van von zu del di da e et y und per para bei im "
    "esta edición traducción ausgabe édition traduction verlag für deutsche deutschen all an a as with from plc ltd "
    "inc pt estate heirs trustees family behalf copyright text illustrations illustration translation introduction "
    "cover art design designed photograph photography image images foreword afterword edition edited printing printed "
    "bound published reprinted first second third paperback hardcover ebook e-book typeset set publication data "
    "cataloging-in-publication cataloguing-in-publication catalog record available"
)
_NAMING = frozenset(_BETWEEN_NAMES.split())
"""Words without a capital that stand between the names on a copyright page."""
_VERBS = re.compile(r"\b(?:is|are|be|means|has|have)\b", re.IGNORECASE)
"""No names, even where all words are capitals."""
_WORD = re.compile(r"[^\s/–—]+")
_ADDRESS = re.compile(r"www\.|https?:|\S@\S|\w\.(?:com|org|net|co|de|fr)\b", re.IGNORECASE)
_KEY = re.compile(r"\d{1,2}(?: \d{1,2}){4,20}$")
"""The row of numbers by which printers count: `10 9 8 7 6 5 4`."""
_SENTENCE = re.compile(r"(?<=[^\W\d_]{3}[.;!?])\s+(?=[^\W_]|©)|(?<=\d[.;])\s+(?=[^\W_]|©)")
_FRONT_BLOCKS = 30
"""A title page and a copyright page have about 20 blocks between them."""
_MAX_UNIT_CHARS = 2000
"""The longest legal paragraphs have about 1,500; what is longer is text."""
_MAX_BODY_CHARS = 400
"""A longer block is running text, whatever its end."""
_MAX_DEDICATION_CHARS = 80
"""A block that ends a sentence and is no longer may be a dedication above the copyright page; two are a story."""
_MAX_LINE_CHARS = 40
"""Longest line that is an address or a name; a longer one may be wrapped."""
_MAX_NAMED_CHARS = 160
"""Two lines of names; more of them are a list of something else."""


def front_lines(found: Sequence[Block]) -> Iterator[tuple[int, int]]:
    """(block, line) of the copyright page: claims of rights and what stands with them, before any running text."""
    page: list[tuple[int, int]] = []
    claimed = False
    sentences = 0
    for index, block in enumerate(found[:_FRONT_BLOCKS]):
        if _begins_text(block):
            break
        taken, claims = _taken(block)
        if not taken:
            yield from page if claimed else ()
            page, claimed = [], False
            sentences += ends_sentence(block.lines[-1].text)
            if sentences > 1 or _is_body(block):
                break
        page += ((index, number) for number in taken)
        claimed = claimed or claims
    yield from page if claimed else ()


def _begins_text(block: Block) -> bool:
    first = block.lines[0].text.lstrip("# ")
    return keyword_heading(first) is not None or heading_number(first) is not None


def _is_body(block: Block) -> bool:
    size = sum(len(line.text) + 1 for line in block.lines)
    return size > _MAX_BODY_CHARS or (size > _MAX_DEDICATION_CHARS and ends_sentence(block.lines[-1].text))


def _taken(block: Block) -> tuple[list[int], bool]:
    """The lines of a block that are of a copyright page, and whether one claims rights."""
    taken: list[int] = []
    claimed = False
    names = 0
    for first, end in _units(block.lines):
        text = " ".join(line.text for line in block.lines[first:end])[: _MAX_UNIT_CHARS + 1]
        sentences = _SENTENCE.split(text)
        claims = [_claims(sentence) for sentence in sentences]
        if len(text) <= _MAX_UNIT_CHARS and all(
            claim or _is_imprint(one) or _is_legal(one) for claim, one in zip(claims, sentences, strict=True)
        ):
            claimed = claimed or any(claims)
            names = _open_names(text)
        elif taken and taken[-1] == first - 1 and names and len(text) <= _MAX_LINE_CHARS and _only_names(text):
            names -= 1
        else:
            names = 0
            continue
        taken += range(first, end)
    return taken, claimed


def _units(lines: Sequence[Line]) -> Iterator[tuple[int, int]]:
    """Lines that belong together: a long one may be wrapped, unless the next begins what it could not go on with."""
    first = 0
    for index in range(1, len(lines) + 1):
        if index < len(lines) and _wraps(lines[index - 1].text, lines[index].text):
            continue
        yield first, index
        first = index


def _wraps(line: str, following: str) -> bool:
    if following[:1].islower() and not following.startswith("www"):
        return True
    begins = _IMPRINT.match(following) or _KEY.match(following) or _claims(following) or keyword_heading(following)
    return len(line) > _MAX_LINE_CHARS and not begins


def _claims(sentence: str) -> bool:
    sentence = sentence.strip("_*= ")
    match = _CLAIM.match(sentence)
    if match is None or _TELLS.search(sentence):
        return False
    names = next((match[group] for group in ("dated", "by", "signed") if match[group] is not None), None)
    return names is None or _only_names(names)


def _is_imprint(sentence: str) -> bool:
    if _KEY.match(sentence):
        return True
    return _IMPRINT.match(sentence) is not None and _TELLS.search(sentence) is None and _only_names(sentence)


def _is_legal(sentence: str) -> bool:
    return _LEGAL.search(sentence) is not None and _TELLS.search(sentence) is None


def _only_names(text: str) -> bool:
    """Whether words are names, years, addresses and what stands between such, and none says what anybody does."""
    if len(text) > _MAX_NAMED_CHARS or _TELLS.search(text) or _VERBS.search(text):
        return False
    words = (word.strip(".,;:()[]'’_*&©|·•") for word in _WORD.findall(text))
    return all(
        not word or not word[0].islower() or word.lower() in _NAMING or _ADDRESS.search(word) is not None
        for word in words
    )


def _open_names(text: str) -> int:
    """How many lines of names may follow: of the publisher and the place, or of who holds the rights."""
    if text.lower().endswith((",", " by")) or re.search(rf"{_YEARS}$", text):
        return 1 + (_IMPRINT.match(text) is not None)
    return 0
