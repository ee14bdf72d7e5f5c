"""`times.json`: when every segment, sentence and word of a finished job is heard, for programs (`docs/marks.md`)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import BinaryIO, Literal

from jobs.assembly.timeline import Placed, seconds_of
from jobs.marks.times import PartTime
from jobs.spec import Frozen

TIMES_VERSION = 1


class SentenceTimes(Frozen):
    """A sentence as it is written, or what of it is in one segment (`begins` False: it goes on with the one before).

    `words`: (word as it is spoken, start, end), none where the model told none. `approximate`: the bound to the next
    sentence of its segment was looked for in the audio.
    """

    text: str
    start_s: float
    end_s: float
    begins: bool
    approximate: bool
    words: tuple[tuple[str, float, float], ...]


class SegmentTimes(Frozen):
    """A segment that was spoken."""

    segment: int
    take: str
    start_s: float
    end_s: float
    sentences: tuple[SentenceTimes, ...]


class ChapterTimes(Frozen):
    """A chapter of a book with all its pauses; its file begins at `start_s` of the book."""

    chapter: int
    title: str
    start_s: float
    end_s: float
    segments: tuple[SegmentTimes, ...]


class ItemTimes(Frozen):
    """An item of a JSONL job; its times count from the start of its own file. Each may have a rate of its own."""

    item: str
    sample_rate_hz: int
    end_s: float
    segments: tuple[SegmentTimes, ...]


class Times(Frozen):
    """All of a job. Seconds to six places: `round(seconds * sample_rate_hz)` is the sample that is meant.

    Times of a book count from its start. `sample_rate_hz` is that of the book's takes; None where there are items.
    """

    v: int = TIMES_VERSION
    statement: Literal["synthetic speech"] = "synthetic speech"
    job: str
    sample_rate_hz: int | None
    chapters: tuple[ChapterTimes, ...] = ()
    items: tuple[ItemTimes, ...] = ()

    def write(
        self, target: BinaryIO, *, chapters: Iterable[ChapterTimes] = (), items: Iterable[ItemTimes] = ()
    ) -> None:
        """Write this, which has none yet, with chapters or items as JSON, one after the other: a job has many words."""
        target.write(self.model_dump_json(exclude={"chapters", "items"}).removesuffix("}").encode())
        lists: tuple[tuple[str, Iterable[Frozen]], ...] = (("chapters", chapters), ("items", items))
        for name, members in lists:
            target.write(f',"{name}":['.encode())
            for number, member in enumerate(members):
                target.write((b"," if number else b"") + member.model_dump_json().encode())
            target.write(b"]")
        target.write(b"}\n")


def segment_times(
    placed: Sequence[Placed], parts: Sequence[PartTime], sample_rate_hz: int, *, start_sample: int = 0
) -> tuple[SegmentTimes, ...]:
    """The spoken segments of a chapter or item that begins at `start_sample`."""

    def seconds(sample: int) -> float:
        return seconds_of(start_sample + sample, sample_rate_hz)

    of = {segment: tuple(found) for segment, found in groupby(parts, key=lambda part: part.segment)}
    return tuple(
        SegmentTimes(
            segment=place.segment,
            take=place.take,
            start_s=seconds(place.start_sample),
            end_s=seconds(place.end_sample),
            sentences=tuple(
                SentenceTimes(
                    text=part.text,
                    start_s=seconds(part.start_sample),
                    end_s=seconds(part.end_sample),
                    begins=part.begins,
                    approximate=part.approximate,
                    words=tuple(
                        (word.text, seconds(word.start_sample), seconds(word.end_sample)) for word in part.words
                    ),
                )
                for part in of.get(place.segment, ())
            ),
        )
        for place in placed
        if place.take is not None
    )
