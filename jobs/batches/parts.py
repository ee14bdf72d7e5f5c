"""From the lines of a batch to its jobs: ordinary JSONL jobs of class bulk, each of lines that are alike.

Which line is in which job depends on the input file and on what is pinned alone, and so do the ids of the jobs: whoever
makes the parts again makes the same.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePath

from jobs.batches.lines import Group, Speakable
from jobs.batches.records import Line, LineError, PartJob, Pinned
from jobs.drafts import Draft, Source, Wishes, make_draft
from jobs.errors import BadOption, BadSource
from jobs.live_formats import LiveFormat
from jobs.offers import offer_named
from jobs.plan import SegmentPlan
from jobs.spec import AudioFormat, ModelOffer, Priority

MAX_PART_LINES = 2_000
MAX_PART_BYTES = 8 * 1024 * 1024
"""A job of a batch has no more: one is planned in memory, and its first lines are spoken while the next is planned."""
JOB_FORMATS = {
    LiveFormat.MP3: AudioFormat.MP3,
    LiveFormat.OPUS: AudioFormat.OPUS,
    LiveFormat.FLAC: AudioFormat.FLAC,
    LiveFormat.WAV: AudioFormat.WAV,
}
"""Formats that jobs write; audio in another one is converted from flac at the end of the batch."""


@dataclass(frozen=True, slots=True)
class Part:
    """The lines of one job: their JSONL, the number of each and its id."""

    group: Group
    voice: str
    source: bytes
    lines: tuple[tuple[int, str], ...]


@dataclass
class _Open:
    """A part that takes more lines."""

    group: Group
    voice: str
    texts: list[bytes] = field(default_factory=list)
    lines: list[tuple[int, str]] = field(default_factory=list)
    size_bytes: int = 0

    @property
    def part(self) -> Part:
        return Part(self.group, self.voice, b"\n".join(self.texts) + b"\n", tuple(self.lines))


class Parting:
    """Takes lines in order and gives parts that are full."""

    def __init__(self) -> None:
        self._open: dict[Group, _Open] = {}

    def take(self, line: int, custom_id: str, asked: Speakable) -> Part | None:
        """Put a line to those like it; the part that has no more room then."""
        part = self._open.setdefault(asked.group, _Open(asked.group, asked.voice))
        item = {"id": custom_id, "text": asked.text, "voice": asked.voice, "lang": asked.group.language}
        fields: dict[str, object] = dict(item) if asked.seed is None else item | {"seed": asked.seed}
        text = json.dumps(fields, ensure_ascii="\x7f" in asked.text).encode()  # a source has few control bytes
        part.texts.append(text)
        part.lines.append((line, custom_id))
        part.size_bytes += len(text)
        if len(part.lines) < MAX_PART_LINES and part.size_bytes < MAX_PART_BYTES:
            return None
        return self._open.pop(asked.group).part

    @property
    def groups(self) -> int:
        """Parts that are not full."""
        return len(self._open)

    def rest(self) -> Iterator[Part]:
        """The parts that are not full."""
        for group in list(self._open):
            yield self._open.pop(group).part


def draft_of(part: Part, number: int, *, batch: str, pinned: Pinned, store_url: str) -> Draft | None:
    """The job of a part, which is the `number`-th of its batch; None if nothing in it can be spoken.

    Its name has the batch's: no other batch can have the same job, and cancel it.

    Raises:
        BadOption: the offers that are pinned do not fit the part (they are not those that it was made by).
    """
    wishes = Wishes(
        offer=_offer(pinned, part.group.model),
        store_url=store_url,
        voice=part.voice,
        language=part.group.language,
        speed=part.group.speed,
        formats=(job_format(part.group.audio_format),),
        priority=Priority.BULK,
        skip_bad_lines=True,
    )
    try:
        return make_draft(Source(f"{batch}-{number:04d}.jsonl", part.source), wishes)
    except BadSource:
        return None


def belongs_to(source_name: str, batch: str) -> bool:
    """Whether a job of that source is of a batch."""
    return PurePath(source_name).stem.rpartition("-")[0] == batch


def job_format(audio_format: LiveFormat) -> AudioFormat:
    """What the job of a line writes."""
    return JOB_FORMATS.get(audio_format, AudioFormat.FLAC)


def part_job(draft: Draft) -> PartJob:
    """What is kept of the job of a part."""
    segments = draft.plan.segments
    return PartJob(job=draft.job, items=len({segment.item for segment in segments}), segments=len(segments))


def placed(part: Part, draft: Draft | None, job: int) -> Iterator[Line]:
    """Where the lines of a part are: `job` is the place of its job; a line of which no word is left is refused."""
    segments = () if draft is None else draft.plan.segments
    items = {name: list(group) for name, group in groupby(segments, key=_item)}
    for line, custom_id in part.lines:
        found = items.get(custom_id)
        if found:
            yield Line(
                line=line,
                custom_id=custom_id,
                audio_format=part.group.audio_format,
                job=job,
                segment=found[0].segment,
                segments=len(found),
            )
        else:
            told = "nothing of the input can be spoken"
            error = LineError(status=400, code="empty_text", message=told, param="input")
            yield Line(line=line, custom_id=custom_id, error=error)


def _item(segment: SegmentPlan) -> str:
    return segment.item or ""


def _offer(pinned: Pinned, model: str) -> ModelOffer:
    offer = offer_named(pinned.offers, model)
    if offer is None:
        msg = f"model {model!r} is not among the offers that were pinned; create the batch anew"
        raise BadOption(msg)
    return offer
