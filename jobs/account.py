"""The account of a source: what became of every character. Wire forms and the words for it.

A character is spoken as it stands, replaced by other words, or skipped; each is exactly one of the three, so
`spoken_chars` and the lengths of all `replaced` and `skipped` ranges add up to the length of the source. White space
between spoken words counts as spoken. The form is public (`docs/plan.md`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from jobs.spec import Frozen

ACCOUNT_SAMPLE_CHARS = 200
"""Longest `was` that is kept whole: of a licence or an index the beginning tells what it was."""


class Why(StrEnum):
    """Why characters are not spoken as they stand. Values are public and stable: programs compare them."""

    # Not spoken. The first group can be chosen with --skip and --keep (`Why.choosable`).
    LICENCE = "licence"
    """Header and licence of a transcribed book, transcriber's notes."""
    FRONT = "front"
    """Copyright page, half title, colophon."""
    CONTENTS = "contents"
    NOTES = "notes"
    """Texts of footnotes and endnotes."""
    NOTE_MARKS = "note_marks"
    ILLUSTRATIONS = "illustrations"
    """`[Illustration: …]` and captions of pictures that are marked as such."""
    IMAGES = "images"
    """The text that stands for an image (`alt`)."""
    TABLES = "tables"
    CODE = "code"
    INDEX = "index"
    BIBLIOGRAPHY = "bibliography"
    PAGE_NUMBERS = "page_numbers"
    HIDDEN = "hidden"
    """Marked as not to be shown."""
    HEADINGS = "headings"
    DIRECTIONS = "directions"
    """`(laughs)` at the start of a turn of a script."""
    # Not spoken, whatever was chosen.
    OUTSIDE = "outside"
    """A document beside the reading order (`linear="no"`) or navigation."""
    METADATA = "metadata"
    """`Title:` lines, front matter, the head of a page: they name the job."""
    SCENE_BREAK = "scene_break"
    MARKUP = "markup"
    """Signs of the format: tags, emphasis, JSON and subtitle syntax, link targets."""
    RUBY = "ruby"
    """The reading beside its base."""
    MARK = "mark"
    """`[pause: …]` and `[voice: …]`, obeyed."""
    SPEAKER = "speaker"
    """The name before a turn, obeyed by a cast."""
    WHITE_SPACE = "white_space"
    INVISIBLE = "invisible"
    CONTROL = "control"
    LINE_HYPHEN = "line_hyphen"
    """The hyphen and line end inside a divided word."""
    BAD_LINE = "bad_line"
    """A line of JSONL with an error that was passed over."""
    EMOJI = "emoji"
    # Replaced, or not spoken where nothing stands for it.
    SYMBOL = "symbol"
    PUNCTUATION = "punctuation"
    ESCAPE = "escape"
    """`&amp;`, `\\u00e9`: signs that stand for a character."""
    COMPATIBILITY = "compatibility"
    """Ligatures, full-width and other forms of plain characters."""
    NUMBER = "number"
    ORDINAL = "ordinal"
    YEAR = "year"
    DATE = "date"
    TIME = "time"
    MONEY = "money"
    UNIT = "unit"
    FRACTION = "fraction"
    RANGE = "range"
    ROMAN = "roman"
    ABBREVIATION = "abbreviation"
    ACRONYM = "acronym"
    CAPITALS = "capitals"
    ADDRESS = "address"
    """URL, e-mail address, path, file name."""
    LEXICON = "lexicon"
    EDIT = "edit"

    @classmethod
    def choosable(cls) -> frozenset[Why]:
        """What `--skip` and `--keep` may name."""
        return frozenset(list(cls)[: list(cls).index(cls.OUTSIDE)])


DEFAULT_SKIP = Why.choosable() - {Why.HEADINGS, Why.DIRECTIONS}
"""What a listener does not want to hear, unless asked for."""


class Passage(Frozen):
    """Source characters [start, end). `was` is their text (its first `ACCOUNT_SAMPLE_CHARS`); `now` what is spoken."""

    start: int
    end: int
    was: str
    why: Why
    now: str = ""

    @property
    def chars(self) -> int:
        """How many source characters it covers."""
        return self.end - self.start


class Account(Frozen):
    """What became of a source of `chars` characters; `replaced` and `skipped` are in order and overlap nowhere."""

    chars: int
    spoken_chars: int
    replaced: tuple[Passage, ...] = ()
    skipped: tuple[Passage, ...] = ()

    def with_changes(self, *, replaced: Sequence[Passage], skipped: Sequence[Passage], text: str) -> Account:
        """The account of a source `text` after ranges were given another fate; none of them overlap.

        What was said of those characters before no longer counts; of a passage that lies there in part, the part
        outside stays.
        """
        new = sorted((*replaced, *skipped), key=_start)
        now_replaced = sorted((*_outside(self.replaced, new, text), *replaced), key=_start)
        now_skipped = sorted((*_outside(self.skipped, new, text), *skipped), key=_start)
        return Account(
            chars=self.chars,
            spoken_chars=self.chars - sum(passage.chars for passage in (*now_replaced, *now_skipped)),
            replaced=tuple(now_replaced),
            skipped=tuple(now_skipped),
        )

    def totals(self) -> AccountTotals:
        """The sums."""
        skipped: Counter[str] = Counter()
        replaced: Counter[str] = Counter()
        for passages, sums in ((self.skipped, skipped), (self.replaced, replaced)):
            for passage in passages:
                sums[passage.why.value] += passage.chars
        return AccountTotals(
            source_chars=self.chars,
            spoken_chars=self.spoken_chars,
            replaced_chars=sum(replaced.values()),
            skipped_chars=sum(skipped.values()),
            replaced=dict(sorted(replaced.items())),
            skipped=dict(sorted(skipped.items())),
        )


class AccountTotals(Frozen):
    """Source characters by what became of them; `replaced` and `skipped` by why."""

    source_chars: int
    spoken_chars: int
    replaced_chars: int
    skipped_chars: int
    replaced: dict[str, int]
    skipped: dict[str, int]


def _start(passage: Passage) -> int:
    return passage.start


def _outside(passages: Iterable[Passage], changes: Sequence[Passage], text: str) -> Iterator[Passage]:
    """What of passages lies outside of changes; both are in order and overlap nowhere among themselves."""
    index = 0
    for passage in passages:
        while index < len(changes) and changes[index].end <= passage.start:
            index += 1
        start, now, later = passage.start, passage.now, index
        while later < len(changes) and changes[later].start < passage.end:
            if changes[later].start > start:
                yield _part(passage, start, changes[later].start, now=now, text=text)
                now = ""  # what is spoken for a passage is told once
            start = changes[later].end
            later += 1
        if start < passage.end:
            yield _part(passage, start, passage.end, now=now, text=text)


def _part(passage: Passage, start: int, end: int, *, now: str, text: str) -> Passage:
    """A passage's characters [start, end)."""
    was = text[start : min(end, start + ACCOUNT_SAMPLE_CHARS)]
    return passage.model_copy(update={"start": start, "end": end, "was": was, "now": now})
