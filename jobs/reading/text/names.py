"""What the parts of a book around its text are called: one pattern for each, for readers of every kind. Pure.

Each is the source of a regular expression in lower case, without anchors and groups, for `IGNORECASE`. A name alone
is never enough: an "Index" may be a chapter of a novel.
"""

from __future__ import annotations

import re

CONTENTS_NAMES = (
    r"(?:table of )?contents(?: of (?:the )?(?:(?:first|second|third|\w{1,12}th) )?"
    r"(?:volumes?|vol\.?|parts?|books?)(?: [\w.]{1,8})?)?|list of (?:illustrations|plates|figures|maps|tables)|"
    r"illustrations|inhalt(?:sverzeichnis)?|table des mati[èe]res|sommaire|[ií]ndice(?: general)?|"
    r"inhoud(?:sopgave)?|目录|目錄|目次"
)
INDEX_NAMES = (
    r"(?:general |subject |author )?index(?: of [\w ,]{1,40})?|(?:sach|personen)?register|[ií]ndice anal[ií]tico"
)
BOOKS_NAMES = (
    r"(?:select(?:ed)? |annotated )?bibliograph(?:y|ie)|references|works cited|literature cited|"
    r"further reading(?: and references)?|literatur(?:verzeichnis)?|bibliograf[íi]a"
)
SURE_NOTES_NAMES = r"foot ?notes?|end ?notes?|fu(?:ß|ss)noten"
"""What heads nothing but notes."""
NOTES_NAMES = rf"{SURE_NOTES_NAMES}|notes?|anmerkungen|notas"
"""What may also head a list of any kind."""


def named_line(names: str) -> re.Pattern[str]:
    """A pattern for a line of plain text that says one of these names and no more; signs of emphasis do not count."""
    return re.compile(rf"[_*=]?(?:{names})[.:_*=]{{0,2}}$", re.IGNORECASE)
