"""One held-out source with the right reading of it, written down before it was tried, and how a plan is held to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jobs.plan import SentencePlan
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


def wrong_in(held: Held) -> dict[str, object]:
    """What of the plan of a source is not as it must be, by name; empty when all is right."""
    planned = plan_held(held)
    written = paragraphs(planned)
    text, voice = "\n".join(written), "\n".join(segment.spoken for segment in planned.plan.segments)
    found: dict[str, tuple[object, object]] = {
        "says": (held.says, tuple(written)),
        "spoken": (held.spoken, tuple(paragraphs(planned, spoken=True))),
        "chapters": (held.chapters, tuple(chapter.title for chapter in planned.plan.chapters)),
        "encoding": (held.encoding, planned.plan.source.encoding),
        "keep": ((), tuple(words for words in held.keep if words not in text)),
        "gone": ((), tuple(words for words in held.gone if words in voice)),
        "why": (dict(held.why), {words: label_of(planned, words) for words in held.why}),
        "problems": (dict(held.problems), {problem.line: problem.code for problem in planned.problems}),
    }
    return {name: pair for name, pair in found.items() if pair[0] is not None and pair[0] != pair[1]}


def paragraphs(planned: Planned, *, spoken: bool = False) -> list[str]:
    """The paragraphs of a plan as they are written, or as they are read."""
    told: list[str] = []
    before: SentencePlan | None = None
    for one in planned.sentences:
        text = one.spoken if spoken else one.text
        if before is None or (one.chapter, one.paragraph) != (before.chapter, before.paragraph):
            told.append(text)
        else:
            told[-1] += ("" if one.source_start == before.source_end else " ") + text
        before = one
    return told


def label_of(planned: Planned, words: str) -> str:
    """Why all of these characters of the source are skipped; empty when they are not, or not in one passage."""
    start = planned.text.index(words)
    covers = (one for one in planned.plan.account.skipped if one.start <= start and start + len(words) <= one.end)
    return next((one.why.value for one in covers), "")
