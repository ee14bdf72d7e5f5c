"""One held-out source with the right reading of it, written down before it was tried, and how a plan is held to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path

from jobs.planning import Planned, PlanOptions
from tests.helpers_account import check_account
from tests.helpers_reading import planned_of

FOLDER = Path(__file__).parents[2] / "data" / "held_out"


@dataclass(frozen=True)
class Held:
    """A source and what must hold of its plan; what is left out here is not looked at.

    `says` are all its paragraphs as they are written, `spoken` all of them as they are read. `keep` must be spoken
    (written form), `gone` must not reach the voice. `why`: characters of the source that are skipped, and the label.
    """

    id: str
    source: str | bytes
    says: tuple[str, ...] | None = None
    name: str = "book.txt"
    chapters: tuple[str, ...] | None = None
    spoken: tuple[str, ...] | None = None
    keep: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    why: Mapping[str, str] = field(default_factory=dict)
    encoding: str | None = None
    problems: Mapping[int, str] = field(default_factory=dict)
    language: str = "en"
    options: PlanOptions | None = None


def held_file(name: str) -> bytes:
    """The bytes of a longer source."""
    return (FOLDER / name).read_bytes()


def plan_held(held: Held) -> Planned:
    """Its plan, with the account checked."""
    planned = planned_of(held.source, held.name, language=held.language, options=held.options)
    check_account(planned)
    return planned


def check_held(held: Held) -> None:
    """Hold the plan of a source to what must hold."""
    planned = plan_held(held)
    written, spoken = paragraphs(planned), paragraphs(planned, spoken=True)
    if held.says is not None:
        assert written == list(held.says)
    if held.spoken is not None:
        assert spoken == list(held.spoken)
    if held.chapters is not None:
        assert [chapter.title for chapter in planned.plan.chapters] == list(held.chapters)
    if held.encoding is not None:
        assert planned.plan.source.encoding == held.encoding
    text, voice = "\n".join(written), "\n".join(segment.spoken for segment in planned.plan.segments)
    assert [words for words in held.keep if words not in text] == []
    assert [words for words in held.gone if words in voice] == []
    assert {words: label_of(planned, words) for words in held.why} == dict(held.why)
    assert {problem.line: problem.code for problem in planned.problems} == dict(held.problems)


def paragraphs(planned: Planned, *, spoken: bool = False) -> list[str]:
    """The paragraphs of a plan as they are written, or as they are read."""
    groups = groupby(planned.sentences, lambda sentence: (sentence.chapter, sentence.paragraph))
    return [" ".join(one.spoken if spoken else one.text for one in group) for _, group in groups]


def label_of(planned: Planned, words: str) -> str:
    """Why all of these characters of the source are skipped; empty when they are not, or not in one passage."""
    start = planned.text.index(words)
    covers = (one for one in planned.plan.account.skipped if one.start <= start and start + len(words) <= one.end)
    return next((one.why.value for one in covers), "")
