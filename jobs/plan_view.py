"""What people and programs see of a plan: the public JSON form (`docs/plan.md`), and rows and lines of text.

Pure. Knows no source, model or door: everything is in what was planned.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import attrgetter
from typing import Any

from jobs.account import Account, Passage, Why
from jobs.errors import SourceProblem
from jobs.plan import SegmentPlan, SentencePlan
from jobs.planning import Planned
from jobs.progress import clock
from jobs.reading.document import SourceFile
from jobs.spec import SourceKind

EXAMPLE_CHARS = 50
"""Longest piece of text in an example."""
EXAMPLES = 3
TOLD = 4
"""Kinds of replacements that one line names; the others are counted."""
_WORDS: dict[Why, tuple[str, str]] = {
    Why.LICENCE: ("licence", "pieces of licence"),
    Why.FRONT: ("front page", "front pages"),
    Why.CONTENTS: ("contents list", "contents lists"),
    Why.NOTES: ("note", "notes"),
    Why.NOTE_MARKS: ("note mark", "note marks"),
    Why.ILLUSTRATIONS: ("illustration", "illustrations"),
    Why.IMAGES: ("image", "images"),
    Why.TABLES: ("table", "tables"),
    Why.CODE: ("piece of code", "pieces of code"),
    Why.INDEX: ("index", "index parts"),
    Why.BIBLIOGRAPHY: ("bibliography", "bibliographies"),
    Why.PAGE_NUMBERS: ("page number", "page numbers"),
    Why.HIDDEN: ("hidden part", "hidden parts"),
    Why.HEADINGS: ("heading", "headings"),
    Why.DIRECTIONS: ("direction", "directions"),
    Why.OUTSIDE: ("part outside the reading order", "parts outside the reading order"),
    Why.METADATA: ("piece of metadata", "pieces of metadata"),
    Why.RUBY: ("ruby reading", "ruby readings"),
    Why.BAD_LINE: ("bad line", "bad lines"),
    Why.EMOJI: ("emoji", "emoji"),
    Why.SYMBOL: ("symbol", "symbols"),
    Why.COMPATIBILITY: ("special form", "special forms"),
    Why.NUMBER: ("number", "numbers"),
    Why.ORDINAL: ("ordinal", "ordinals"),
    Why.YEAR: ("year", "years"),
    Why.DATE: ("date", "dates"),
    Why.TIME: ("time", "times"),
    Why.MONEY: ("amount of money", "amounts of money"),
    Why.UNIT: ("unit", "units"),
    Why.FRACTION: ("fraction", "fractions"),
    Why.RANGE: ("range", "ranges"),
    Why.ROMAN: ("roman numeral", "roman numerals"),
    Why.ABBREVIATION: ("abbreviation", "abbreviations"),
    Why.ACRONYM: ("acronym", "acronyms"),
    Why.CAPITALS: ("word in capitals", "words in capitals"),
    Why.ADDRESS: ("address", "addresses"),
    Why.LEXICON: ("word of the lexicon", "words of the lexicon"),
    Why.EDIT: ("edited line", "edited lines"),
}
"""What one line of text names, one and many. The others are signs that nobody hears, and marks that were obeyed."""


@dataclass(frozen=True, slots=True)
class Sum:
    """Passages of one why: how many, how many characters of the source, and all of them in order."""

    why: Why
    chars: int
    passages: tuple[Passage, ...]


def plan_document(planned: Planned) -> dict[str, Any]:
    """The public JSON form of a plan; `docs/plan.md` says what each field is."""
    plan, files = planned.plan, planned.files
    source = plan.source.model_dump(mode="json", exclude={"sha256", "cover_type"})
    segments: dict[int, list[SegmentPlan]] = {}
    for segment in plan.segments:
        segments.setdefault(segment.chapter, []).append(segment)
    sentences = {number: list(group) for number, group in groupby(planned.sentences, attrgetter("chapter"))}
    return {
        "source": source,
        "chapters": [
            {
                "title": chapter.title,
                "paragraphs": _paragraphs(sentences.get(chapter.chapter, ()), files),
                "segments": [_segment(segment, files) for segment in segments.get(chapter.chapter, ())],
            }
            for chapter in plan.chapters
        ],
        "account": _account(planned),
        "errors": _errors(planned.problems),
    }


def problem_document(name: str, kind: SourceKind | None, problems: Iterable[SourceProblem]) -> dict[str, Any]:
    """The same form for a source of which nothing can be spoken: all but its name, kind and errors is empty."""
    source: dict[str, Any] = {
        "name": name,
        "kind": kind.value if kind else "",
        "chars": 0,
        "encoding": "",
        "warnings": [],
    }
    return {
        "source": {**source, "title": "", "author": "", "language": ""},
        "chapters": [],
        "account": {"spoken_chars": 0, "replaced": [], "skipped": []},
        "errors": _errors(problems),
    }


def chapter_rows(planned: Planned, *, chars_per_s: float) -> list[tuple[str, ...]]:
    """Rows of number, title, paragraphs, sentences, segments, characters the model gets, expected audio."""
    plan = planned.plan
    chars = plan.chapter_chars
    sentences = Counter(sentence.chapter for sentence in planned.sentences)
    paragraphs = Counter(chapter for chapter, _ in {(one.chapter, one.paragraph) for one in planned.sentences})
    return [
        (
            str(chapter.chapter + 1),
            shown(chapter.title),
            str(paragraphs[chapter.chapter]),
            str(sentences[chapter.chapter]),
            str(chapter.segments),
            f"{chars[chapter.chapter]:,}",
            clock(chars[chapter.chapter] / chars_per_s),
        )
        for chapter in plan.chapters
    ]


def sums(passages: Sequence[Passage]) -> list[Sum]:
    """Passages by why: what a listener may miss or hear first, and the one with most characters first."""
    found: dict[Why, list[Passage]] = {}
    for passage in passages:
        found.setdefault(passage.why, []).append(passage)
    made = [Sum(why, sum(one.chars for one in group), tuple(group)) for why, group in found.items()]
    return sorted(made, key=lambda one: (one.why not in _WORDS, -one.chars, one.why))


def sum_rows(passages: Sequence[Passage], *, everything: bool = False) -> list[tuple[str, ...]]:
    """Rows of why, number, characters and examples; `everything`: a row for each passage, whole, with its place."""
    if everything:
        return [
            (one.why.value, f"{one.start:,}-{one.end:,}", f"{one.chars:,}", _example(one, whole=True))
            for one in passages
        ]
    rows: list[tuple[str, ...]] = []
    for one in sums(passages):
        distinct = dict.fromkeys(_example(passage) for passage in one.passages)
        more = ["…"] if len(distinct) > EXAMPLES else []
        shown = ", ".join([*list(distinct)[:EXAMPLES], *more])
        rows.append((one.why.value, f"{len(one.passages):,}", f"{one.chars:,}", shown))
    return rows


def totals_line(account: Account) -> str:
    """How the characters of the source add up."""
    found = account.totals()
    return (
        f"{found.source_chars:,} characters: {found.spoken_chars:,} spoken as they stand, "
        f"{found.replaced_chars:,} replaced, {found.skipped_chars:,} skipped"
    )


def short_line(account: Account) -> str:
    """One line of what a listener may miss, or hear otherwise; empty if there is nothing of that kind."""
    told: list[str] = []
    skipped = [one for one in sums(account.skipped) if one.why in _WORDS]
    if skipped:
        chars = sum(one.chars for one in skipped)
        told.append(f"not spoken: {', '.join(map(_counted, skipped))} ({chars:,} characters)")
    replaced = sorted((one for one in sums(account.replaced) if one.why in _WORDS), key=lambda one: -len(one.passages))
    if replaced:
        rest = sum(len(one.passages) for one in replaced[TOLD:])
        named = [*map(_counted, replaced[:TOLD]), *([f"{rest:,} more"] if rest else [])]
        told.append(f"replaced: {', '.join(named)}")
    return f"{'; '.join(told)}; see `tts-batch plan`" if told else ""


def short(text: str) -> str:
    """A text, or its beginning where it is longer than EXAMPLE_CHARS."""
    return text if len(text) <= EXAMPLE_CHARS else f"{text[: EXAMPLE_CHARS - 1].rstrip()}…"


def shown(text: str) -> str:
    """A text that stays in its line of a terminal and cannot do anything to it."""
    return "".join(char if char.isprintable() else char.encode("unicode_escape").decode() for char in text)


def _counted(one: Sum) -> str:
    singular, plural = _WORDS[one.why]
    return singular if len(one.passages) == 1 else f"{len(one.passages):,} {plural}"


def _example(passage: Passage, *, whole: bool = False) -> str:
    was = passage.was if whole else short(passage.was)
    if not passage.now:
        return f'"{shown(was)}"'
    return f'"{shown(was)}" -> "{shown(passage.now if whole else short(passage.now))}"'


def _paragraphs(sentences: Iterable[SentencePlan], files: Sequence[SourceFile]) -> list[dict[str, Any]]:
    return [
        {"sentences": [_sentence(sentence, files) for sentence in group]}
        for _, group in groupby(sentences, attrgetter("paragraph"))
    ]


def _sentence(sentence: SentencePlan, files: Sequence[SourceFile]) -> dict[str, Any]:
    return {
        "text": sentence.text,
        "spoken": sentence.spoken,
        "source": [sentence.source_start, sentence.source_end],
        "lang": sentence.language,
        **_voice(sentence.voice),
        **_file(sentence.source_start, files),
    }


def _segment(segment: SegmentPlan, files: Sequence[SourceFile]) -> dict[str, Any]:
    return {
        "index": segment.segment,
        "spoken": segment.spoken,
        "source": [segment.source_start, segment.source_end],
        **_voice(segment.voice),
        **_file(segment.source_start, files),
    }


def _account(planned: Planned) -> dict[str, Any]:
    account = planned.plan.account
    return {
        "spoken_chars": account.spoken_chars,
        "replaced": [_passage(passage, planned, now=True) for passage in account.replaced],
        "skipped": [_passage(passage, planned, now=False) for passage in account.skipped],
    }


def _passage(passage: Passage, planned: Planned, *, now: bool) -> dict[str, Any]:
    """A passage with the whole of its text, of which a plan that is stored keeps only the beginning."""
    return {
        "source": [passage.start, passage.end],
        "was": planned.text[passage.start : passage.end],
        **({"now": passage.now} if now else {}),
        "why": passage.why.value,
        **_file(passage.start, planned.files),
    }


def _errors(problems: Iterable[SourceProblem]) -> list[dict[str, Any]]:
    return [
        {**({} if one.line is None else {"line": one.line}), "code": str(one.code), "message": one.message}
        for one in problems
    ]


def _voice(voice: str | None) -> dict[str, str]:
    return {} if voice is None else {"voice": voice}


def _file(start: int, files: Sequence[SourceFile]) -> dict[str, str]:
    """The file that a character of an EPUB is in."""
    index = bisect_right(files, start, key=attrgetter("start")) - 1
    return {"file": files[index].name} if index >= 0 else {}
