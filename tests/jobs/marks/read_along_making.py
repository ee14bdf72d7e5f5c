"""A read-along book made on the spot, without a queue: every segment of an epub is spoken by a tone, or has failed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from itertools import count

import numpy as np

from jobs import keys
from jobs.assembly.chapters import assemble_chapter
from jobs.drafts import Source, Wishes, make_draft
from jobs.marks.read_along import write_read_along
from jobs.marks.read_along_places import save_places
from jobs.plan import Plan
from jobs.planning import DEFAULT_PLAN_OPTIONS, PlanOptions
from jobs.protocols import Store
from jobs.spec import AudioFormat, JobRecord, SegmentResult
from jobs.state import JobState, SegmentState
from jobs.stores import open_store
from jobs.takes import TakeOrigin, write_take
from jobs.tasks import tasks_of
from tests.helpers_jobs import OFFER

RATE_HZ = 8000
_numbers = count()


@dataclass(frozen=True)
class Made:
    """A job that was spoken. `data` is the read-along book, None if there is none."""

    store: Store
    record: JobRecord
    plan: Plan
    results: dict[int, SegmentResult]

    @property
    def data(self) -> bytes | None:
        key = write_read_along(self.store, self.record, self.plan, self.results)
        return None if key is None else self.store.get(key)


def made_of(
    data: bytes,
    *,
    failed: Collection[int] = (),
    formats: tuple[AudioFormat, ...] = (AudioFormat.M4B,),
    pack_chars: int = 0,
    options: PlanOptions = DEFAULT_PLAN_OPTIONS,
) -> Made:
    """Speak an epub; `failed` are segments that could not be spoken."""
    store = open_store(f"memory://read-along-{next(_numbers)}")
    offer = OFFER.model_copy(update={"sample_rate_hz": RATE_HZ, "pack_chars": pack_chars, "max_chars": 200})
    wishes = Wishes(offer, store.url, formats=formats, read_along=True, options=options, language="en-US")
    draft = make_draft(Source("book.epub", data), wishes)
    record = JobRecord(
        job=draft.job,
        spec=draft.spec,
        state=JobState.ASSEMBLING,
        title=draft.title,
        author="",
        created_at_s=1.0,
        updated_at_s=1.0,
    )
    store.put(keys.job_object(draft.job, "source"), data)
    save_places(store, draft.job, draft.planned)
    results = {}
    for task in tasks_of(draft.plan, draft.spec, draft.job):
        samples = tone(task.segment, len(task.spoken))
        fields = {"state": SegmentState.FAILED, "reason": "no"}
        if task.segment not in failed:
            origin = TakeOrigin(
                model=task.model,
                voice=task.voice,
                language=task.language,
                spoken=task.spoken,
                seed=task.seed,
                speed=task.speed,
                numerics=OFFER.numerics,
            )
            write_take(store, task.take, samples, sample_rate_hz=RATE_HZ, origin=origin)
            fields = {"state": SegmentState.DONE, "samples": samples.size, "sample_rate_hz": RATE_HZ}
        results[task.segment] = SegmentResult(
            job=draft.job, segment=task.segment, chapter=task.chapter, take=task.take, **fields
        )
    for chapter in draft.plan.chapters:
        assemble_chapter(store, record, draft.plan, chapter.chapter, results)
    return Made(store, record, draft.plan, results)


def pitch_hz(segment: int) -> float:
    """The tone of a segment."""
    return 300.0 * 1.06 ** (segment % 36)


def tone(segment: int, chars: int) -> np.ndarray:
    """What a segment sounds like: [samples] float32, 60 ms for each character."""
    at_s = np.arange(round(0.06 * chars * RATE_HZ)) / RATE_HZ
    return (0.4 * np.sin(2 * np.pi * pitch_hz(segment) * at_s)).astype(np.float32)
