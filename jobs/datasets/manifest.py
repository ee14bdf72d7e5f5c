"""The manifest of a finished job (`manifest.jsonl`): one row for each utterance, from plan, results and take records.

An utterance is a segment of a book, or an item of JSONL: then its audio may be several takes, joined with their pauses
as the item's own file is. What failed has its row too, with the reason and without audio. Determined by the job alone.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, pairwise
from typing import Literal

from pydantic import Field, ValidationError

from jobs import keys
from jobs.assembly.timeline import Placed, common_rate_hz, place_segments, seconds_of
from jobs.checks.hearing import read_heard
from jobs.datasets.names import speaker_name, utterance_id
from jobs.errors import ObjectDamaged
from jobs.kinds import Grade
from jobs.plan import Break, Plan, SegmentPlan
from jobs.protocols import Store
from jobs.spec import Frozen, JobRecord, SegmentResult
from jobs.state import SegmentState
from jobs.takes import check_length, read_take
from jobs.verdict import Reason

MANIFEST_VERSION = 1
_SPACELESS = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u30ff\u3400-\u9fff\uf900-\ufaff\uff00-\uff60\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Chinese and Japanese (not Hangul): no blanks stand between their words."""


class UtteranceTake(Frozen):
    """One take of an utterance. It stands at `start_sample` of the utterance's audio; what no take covers is silence.

    `audio_sha256` and `audio_bytes` are of the take's FLAC object. `transcript` is what a recogniser heard in it (None:
    none listened), `word_error_rate` how much of that is not the text. `grade` and `reason` are the last word of the
    checks, `reasons` and `scores` what they found in this take by itself.
    """

    take: str
    segment: int
    attempt: int
    seed: int
    start_sample: int
    samples: int
    audio_bytes: int
    audio_sha256: str
    grade: Grade
    reason: str = ""
    reasons: tuple[Reason, ...] = ()
    scores: dict[str, float] = Field(default_factory=dict)
    transcript: str | None = None
    word_error_rate: float | None = None


class Utterance(Frozen):
    """One row. `text` is as written, `spoken` as the model got it; `seed` is that of the first take.

    `item` is the id of the JSONL line; `segments` are numbers in the plan, `chapter` is counted from 0. `grade` is the
    worst of its takes. A failed one (`state`) has a `reason`, no takes, and is 0 samples long.
    """

    v: int = MANIFEST_VERSION
    id: str
    synthetic: Literal[True] = True
    state: SegmentState
    grade: Grade
    reason: str
    text: str
    spoken: str
    language: str
    speaker: str
    model: str
    voice: str
    voice_revision: str
    numerics: str
    speed: float
    seed: int
    samples: int
    sample_rate_hz: int
    duration_s: float
    job: str
    title: str
    chapter: int
    chapter_title: str
    item: str | None
    segments: tuple[int, ...]
    takes: tuple[UtteranceTake, ...]

    @property
    def audio_sha256(self) -> str:
        """What its samples are known by: the digest of its FLAC, or of several takes one over all and their places."""
        if len(self.takes) == 1:
            return self.takes[0].audio_sha256
        places = [f"{take.audio_sha256}@{take.start_sample}" for take in self.takes]
        return hashlib.sha256(f"{self.samples} {' '.join(places)}".encode()).hexdigest()

    @property
    def word_error_rate(self) -> float | None:
        """The worst of its takes; None where no recogniser listened."""
        return max((take.word_error_rate for take in self.takes if take.word_error_rate is not None), default=None)

    @property
    def spoken_whole(self) -> bool:
        """Whether there is audio of it."""
        return self.state is SegmentState.DONE


def build_manifest(
    store: Store, record: JobRecord, plan: Plan, results: Mapping[int, SegmentResult]
) -> Iterator[Utterance]:
    """The utterances of a finished job in reading order.

    Raises:
        ObjectMissing, ObjectDamaged: the record of a take is gone or broken.
        BadInput: an item's takes have different sample rates.
        ValueError: a segment has no result.
    """
    missing = [segment.segment for segment in plan.segments if segment.segment not in results]
    if missing:
        msg = f"segment {missing[0]} has no result; a manifest is written when every segment is finished"
        raise ValueError(msg)
    titles = {chapter.chapter: chapter.title for chapter in plan.chapters}
    spoken = (part for part in plan.segments if results[part.segment].state is not SegmentState.SKIPPED)
    for _, group in groupby(spoken, key=lambda part: (part.segment if part.item is None else -1, part.item)):
        parts = list(group)
        yield _utterance(store, record, parts, results, titles[parts[0].chapter])


def write_manifest(store: Store, job: str, utterances: Iterable[Utterance]) -> None:
    """Write `manifest.jsonl`, whole or not at all. Raises StoreError and what makes the rows."""
    with store.writer(keys.manifest(job)) as path, path.open("wb") as file:
        for utterance in utterances:
            file.write(utterance.model_dump_json().encode() + b"\n")


def read_manifest(store: Store, job: str) -> Iterator[Utterance]:
    """The rows of `manifest.jsonl`.

    Raises:
        ObjectMissing: there is none: the job is not finished, or an older version finished it.
        ObjectDamaged: a line is not a row of version 1.
    """
    key = keys.manifest(job)
    with store.open(key) as file:
        for number, line in enumerate(file, 1):
            try:
                row = Utterance.model_validate_json(line)
            except ValidationError as error:
                msg = f"{key} in {store.url}, line {number}: {error}; let the job be finished again"
                raise ObjectDamaged(msg) from error
            if row.v != MANIFEST_VERSION:
                msg = f"{key} in {store.url} has version {row.v}; this program reads version {MANIFEST_VERSION}"
                raise ObjectDamaged(msg)
            yield row


def _utterance(
    store: Store,
    record: JobRecord,
    parts: list[SegmentPlan],
    results: Mapping[int, SegmentResult],
    chapter_title: str,
) -> Utterance:
    first, spec = parts[0], record.spec
    ended = [results[part.segment] for part in parts]
    failed = [result for result in ended if result.state is not SegmentState.DONE]
    rate_hz = common_rate_hz(parts, results) or 0
    takes: tuple[UtteranceTake, ...] = ()
    samples = 0
    if not failed:
        placed, samples = place_segments(parts, results, rate_hz, pause_at_end=False)
        takes = tuple(_take(store, place, results[place.segment], spec.checks.asr) for place in placed)
    voice = first.voice or spec.voice
    return Utterance(
        id=utterance_id(record.job, first.segment, first.item),
        state=SegmentState.FAILED if failed else SegmentState.DONE,
        grade=Grade.UNUSABLE if failed else _worst(takes),
        reason="; ".join(dict.fromkeys(result.reason for result in failed or ended if result.reason)),
        text=joined_text(parts),
        spoken=joined_spoken(parts),
        language=first.language,
        speaker=speaker_name(spec.model, voice),
        model=spec.model,
        voice=voice,
        voice_revision=spec.voice_revision if voice == spec.voice else spec.item_voices.get(voice, ""),
        numerics=spec.numerics,
        speed=spec.speed,
        seed=takes[0].seed if takes else 0,
        samples=samples,
        sample_rate_hz=0 if failed else rate_hz,
        duration_s=0.0 if failed else seconds_of(samples, rate_hz),
        job=record.job,
        title=record.title,
        chapter=first.chapter,
        chapter_title=chapter_title,
        item=first.item,
        segments=tuple(part.segment for part in parts),
        takes=takes,
    )


def joined_text(parts: list[SegmentPlan]) -> str:
    """The text of an item that was divided: pieces that touch in the source are joined as they were, others by a blank.

    No blank is put between characters of a script that writes none between words.
    """
    text = parts[0].text
    for before, part in pairwise(parts):
        touching = before.source_end == part.source_start
        text += ("" if touching else _between(text, part.text)) + part.text
    return text


def joined_spoken(parts: list[SegmentPlan]) -> str:
    """What is spoken of an item that was divided; a piece that was cut inside a word is joined without a blank."""
    spoken = parts[0].spoken
    for before, part in pairwise(parts):
        cut = before.break_after is Break.NONE and before.source_end == part.source_start
        spoken += ("" if cut else _between(spoken, part.spoken)) + part.spoken
    return spoken


def _between(before: str, after: str) -> str:
    return "" if _SPACELESS.match(before[-1:]) or _SPACELESS.match(after[:1]) else " "


def _take(store: Store, placed: Placed, result: SegmentResult, asr: str) -> UtteranceTake:
    info = read_take(store, result.take)
    heard = read_heard(store, result.take, asr) if asr else None
    check_length(store, info, result.samples, result.sample_rate_hz)
    return UtteranceTake(
        take=info.take,
        segment=result.segment,
        attempt=result.attempt,
        seed=info.origin.seed,
        start_sample=placed.start_sample,
        samples=info.samples,
        audio_bytes=info.audio_bytes,
        audio_sha256=info.audio_sha256,
        grade=result.grade,
        reason=result.reason,
        reasons=info.verdict.reasons + (heard.reasons if heard else ()),
        scores=info.verdict.scores | (heard.scores if heard else {}),
        transcript=heard.transcript if heard else None,
        word_error_rate=heard.word_error_rate if heard else None,
    )


def _worst(takes: tuple[UtteranceTake, ...]) -> Grade:
    return max((take.grade for take in takes), key=lambda grade: grade.rank)
