"""What a speech recogniser heard in takes: objects in the store, and which takes still lack one.

An object belongs to one take and one recogniser (`keys.take_heard`), so whatever was heard once is heard for every job.
Knows no recogniser (`workers.hearing` listens) and not how words are compared (`jobs.checks.words`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import Field, ValidationError

from jobs import keys
from jobs.errors import BadOption, ObjectMissing
from jobs.protocols import Store
from jobs.spec import Frozen
from jobs.verdict import Reason

ItemT = TypeVar("ItemT")

PART_SEGMENTS = 64
"""Segments of a chapter that one CHECK step listens to: a few minutes of work of one core."""
HEARING_VERSION = 1
"""Raised whenever takes are listened to or compared otherwise: an object of another version is made anew."""
USUAL_ASR = "usual"
"""Stands for the recogniser that is taken where none is named, until the languages of a job are known."""
ENGLISH_ASR, OTHER_ASR = "base.en", "base"
"""What it is then: 74 million weights, where tiny has 39 and small 244; the time of a CPU grows with them."""
_ENGLISH_ONLY = ".en"


class HeardWord(Frozen):
    """One word as the recogniser wrote it, and from when to when in the take it heard it."""

    text: str
    start_s: float
    end_s: float


class Heard(Frozen):
    """What one recogniser heard in one take, and what follows from it.

    `language` is what it was told to expect (a base language). `word_errors` are the words (in scripts without spaces
    the characters) that are missing, added or others, `word_error_rate` their number for each word of the text, `hits`
    the words that are the same. `reasons` speak against the take, empty: none; `scores` are all figures.
    """

    take: str
    asr: str
    language: str
    transcript: str
    words: tuple[HeardWord, ...] = ()
    hits: int = 0
    word_errors: int = 0
    word_error_rate: float = 0.0
    reasons: tuple[Reason, ...] = ()
    scores: dict[str, float] = Field(default_factory=dict)
    version: int = HEARING_VERSION


def read_heard(store: Store, take: str, asr: str) -> Heard | None:
    """What a recogniser heard in a take; None if it has not listened yet, or by another version of this program."""
    try:
        heard = Heard.model_validate_json(store.get(keys.take_heard(take, asr)))
    except (ObjectMissing, ValidationError):
        return None
    return heard if (heard.version, heard.take, heard.asr) == (HEARING_VERSION, take, asr) else None


def write_heard(store: Store, heard: Heard) -> None:
    """Keep what was heard. Raises StoreError."""
    store.put(keys.take_heard(heard.take, heard.asr), heard.model_dump_json().encode())


def unheard(store: Store, asr: str, takes: Iterable[str]) -> list[str]:
    """Those of some takes that a recogniser has not listened to yet, in their order."""
    return [take for take in takes if read_heard(store, take, asr) is None]


def parts_of(segments: Sequence[ItemT]) -> list[Sequence[ItemT]]:
    """The segments of a chapter, in order, as the parts that CHECK steps listen to; a part's number is its place."""
    return [segments[start : start + PART_SEGMENTS] for start in range(0, len(segments), PART_SEGMENTS)]


def named_asr(asr: str, languages: Collection[str]) -> str:
    """The recogniser of a job by name: `asr` as it was asked for ("": none), for a job in some base languages.

    Raises:
        BadOption: the one that was named knows English alone, and the job is in other languages.
    """
    others = sorted(set(languages) - {"en"})
    if asr == USUAL_ASR:
        return OTHER_ASR if others else ENGLISH_ASR
    if asr.endswith(_ENGLISH_ONLY) and others and not Path(asr).is_absolute():
        names = ", ".join(others)
        msg = f"recogniser {asr!r} knows English alone, and the text is in {names}; use --check asr:{OTHER_ASR}"
        raise BadOption(msg)
    return asr
