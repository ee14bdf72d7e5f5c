"""Where the sentences of a job's plan stand in the documents of its EPUB: found when the job is made, kept with it.

So the documents are read with the options of that moment, and the last step of the job only writes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from pydantic import ValidationError

from jobs import keys
from jobs.account import Passage
from jobs.errors import BadOption, ObjectDamaged
from jobs.marks.read_along_pages import page_warnings
from jobs.marks.times import stretches_of
from jobs.plan import Plan, SegmentPlan, SentencePlan
from jobs.planning import Planned
from jobs.protocols import Store
from jobs.reading.markup.places import BookPlaces, places_of
from jobs.reading.options import ReadingOptions
from jobs.spec import Frozen, SourceKind


class Part(Frozen):
    """One sentence of a segment: ranges (file, start, end) of the decoded text of the documents.

    `part` counts the sentences of the segment. What is not spoken between the ranges is in none of them.
    """

    segment: int
    part: int
    ranges: tuple[tuple[int, int, int], ...]


class Places(Frozen):
    """All parts of a plan in its order; `files` are the paths of the documents in the archive."""

    v: int = 1
    files: tuple[str, ...]
    parts: tuple[Part, ...]


def with_places(planned: Planned, data: bytes, options: ReadingOptions) -> Planned:
    """A plan with the places of its text in its source, and warnings for people of what cannot be marked there.

    Raises:
        BadOption: the source is no EPUB.
        BadSource: a file in it is damaged.
    """
    source = planned.plan.source
    if source.kind is not SourceKind.EPUB:
        msg = f"--read-along is for epub, {source.name} is {source.kind}: only an epub has pages to mark; leave it out"
        raise BadOption(msg)
    places = places_of(data, source.name, options)
    spoken = dict.fromkeys(places.file_at(segment.source_start) for segment in planned.plan.segments)
    warnings = page_warnings(data, source.name, list(spoken))
    told = source.model_copy(update={"warnings": (*source.warnings, *warnings)})
    return replace(planned, plan=planned.plan.model_copy(update={"source": told}), places=places)


def parts_of(planned: Planned) -> Places | None:
    """The parts of a plan; None if it has no places."""
    if planned.places is None:
        return None
    files = tuple(file.name for file in planned.places.files)
    return Places(files=files, parts=tuple(_parts(planned.plan, planned.sentences, planned.places)))


def save_places(store: Store, job: str, planned: Planned) -> None:
    """Keep the places of a plan's sentences with its job, if it has any. Raises StoreError."""
    places = parts_of(planned)
    if places is not None:
        store.put(keys.places(job), places.model_dump_json().encode())


def load_places(store: Store, job: str) -> Places:
    """Those kept with a job.

    Raises:
        ObjectMissing: there are none.
        ObjectDamaged: what is there are no places.
    """
    key = keys.places(job)
    try:
        return Places.model_validate_json(store.get(key))
    except ValidationError as error:
        msg = f"{key} in {store.url} does not hold places ({error}); cancel the job and submit its source again"
        raise ObjectDamaged(msg) from error


def _parts(plan: Plan, sentences: Sequence[SentencePlan], places: BookPlaces) -> Iterator[Part]:
    skipped = plan.account.skipped
    ends = [passage.end for passage in skipped]
    begins = sorted({sentence.source_start for sentence in sentences})
    for segment in plan.segments:
        unspoken = [(one.start, one.end) for one in _inside(skipped, ends, segment)]
        bounds = [segment.source_start, *_cuts(segment, begins), segment.source_end]
        for part, (start, end) in enumerate(pairwise(bounds)):
            found = places.ranges(start, end, unspoken)
            if found:
                yield Part(
                    segment=segment.segment, part=part, ranges=tuple((one.file, one.start, one.end) for one in found)
                )


def _cuts(segment: SegmentPlan, begins: Sequence[int]) -> Sequence[int]:
    """Where sentences begin inside a segment, if that is as many as it is divided into."""
    first, last = bisect_right(begins, segment.source_start), bisect_left(begins, segment.source_end)
    return begins[first:last] if last - first == len(stretches_of(segment)) - 1 else []


def _inside(skipped: Sequence[Passage], ends: Sequence[int], segment: SegmentPlan) -> Iterator[Passage]:
    """The passages that overlap a segment; `ends` are theirs."""
    index = bisect_right(ends, segment.source_start)
    while index < len(skipped) and skipped[index].start < segment.source_end:
        yield skipped[index]
        index += 1
