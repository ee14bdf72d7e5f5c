"""Where in its XHTML each character of an EPUB's text stands, for those who write into those documents.

places = places_of(data, "book.epub", options)
places.ranges(120, 164)  # [Range(file=2, start=1830, end=1874)]
"""

from __future__ import annotations

import re
from array import array
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from jobs.reading.document import SourceFile
from jobs.reading.markup.archive import Archive
from jobs.reading.markup.epub import BookText, walk
from jobs.reading.markup.package import Package
from jobs.reading.options import DEFAULT_OPTIONS, ReadingOptions

_BLANKS = re.compile(r"[ \t\r\n\f]{2,}")
_NOWHERE = 2**64 - 1
"""The place of a character that was put in: it stands in no document."""


class Range(NamedTuple):
    """Characters [start, end) of the decoded text of one document; `file` counts `BookPlaces.files`."""

    file: int
    start: int
    end: int


@dataclass(slots=True)
class PlacedText(BookText):
    """The same text, with the place of each of its characters in the page it came from."""

    places: array[int] = field(default_factory=lambda: array("Q"))

    def put(self, text: str, places: Sequence[int], /, *, spoken: bool) -> tuple[str, Sequence[int]]:
        """As `BookText.put`; remembers `places`."""
        flat, offsets = BookText.put(self, text, places, spoken=spoken)
        if flat:
            kept = _of_flat(text, places)
            self.places.extend([_NOWHERE] * (self.chars - len(flat) - len(self.places)))
            self.places.extend(kept[len(kept) - len(flat) :])
        return flat, offsets

    def closed(self) -> array[int]:
        """The places of all characters, also of what was put in at the end."""
        self.places.extend([_NOWHERE] * (self.chars - len(self.places)))
        return self.places


@dataclass(frozen=True, slots=True)
class BookPlaces:
    """`text` is the document text of the book (`Document.text`), `files` where that of each document begins in it.

    `places` has the place of each of its characters in the decoded text of its document. `ends` leads, for each file,
    from the place of a reference (`&amp;`) to its end: all other characters are one long.
    """

    text: str
    files: tuple[SourceFile, ...]
    places: Sequence[int]
    ends: tuple[dict[int, int], ...]

    def ranges(self, start: int, end: int, without: Iterable[tuple[int, int]] = ()) -> list[Range]:
        """Where the characters [start, end) of the text are, but for ranges `without`; neighbours are one range."""
        found: list[Range] = []
        for first, last in _outside(start, end, without):
            for offset in range(first, last):
                place = self.places[offset]
                if place == _NOWHERE:
                    continue
                file = self._file(offset, found[-1].file if found else 0)
                stop = self.ends[file].get(place, place + 1)
                if found and found[-1].file == file and found[-1].start <= place <= found[-1].end:
                    found[-1] = Range(file, found[-1].start, max(stop, found[-1].end))
                else:
                    found.append(Range(file, place, stop))
        return found

    def file_at(self, offset: int) -> str:
        """The path of the document that a character is in."""
        return self.files[self._file(offset, 0)].name

    def _file(self, offset: int, guess: int) -> int:
        """Which file a character is in; `guess` is that of the one before it."""
        if self.files[guess].start <= offset and (guess + 1 == len(self.files) or offset < self.files[guess + 1].start):
            return guess
        return max(0, bisect_right(self.files, offset, key=lambda one: one.start) - 1)


def places_of(data: bytes, name: str, options: ReadingOptions = DEFAULT_OPTIONS) -> BookPlaces:
    """Read the text of an EPUB as `read_epub` does. Raises as `read_epub`."""
    package = Package.of(Archive.of(data, name))
    sink = PlacedText()
    walked = walk(package, options, sink)
    return BookPlaces(
        text=sink.text,
        files=tuple(SourceFile(min(read.start, sink.chars), read.path) for read in walked.reads),
        places=sink.closed(),
        ends=tuple(dict(walked.pages[read.path].escapes) for read in walked.reads),
    )


def _of_flat(text: str, places: Sequence[int]) -> Sequence[int]:
    """The places of a text in which every run of white space became one sign: its first one's."""
    kept: array[int] = array("Q")
    at = 0
    for match in _BLANKS.finditer(text):
        kept.extend(places[at : match.start() + 1])
        at = match.end()
    kept.extend(places[at : len(text)])
    return kept


def _outside(start: int, end: int, without: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
    """The parts of [start, end) in no range of `without`, which are in order."""
    for first, last in without:
        if last <= start or first >= end:
            continue
        if first > start:
            yield start, first
        start = max(start, last)
    if start < end:
        yield start, end
