"""From a plan to the tasks of the queue. Pure; knows no queue or store."""

from __future__ import annotations

from jobs.attempts import at_attempt
from jobs.errors import BadOption
from jobs.plan import Plan, SegmentPlan
from jobs.spec import JobSpec, SegmentTask


def tasks_of(plan: Plan, spec: JobSpec, job: str, *, chapter: int | None = None) -> list[SegmentTask]:
    """The task of each segment (of one chapter), in order. A segment's own voice and seed go before the job's.

    Raises:
        BadOption: a segment asks for a voice whose revision the spec does not know (`item_voices`).
    """
    return [_task(segment, spec, job) for segment in plan.segments if chapter in (None, segment.chapter)]


def _task(segment: SegmentPlan, spec: JobSpec, job: str) -> SegmentTask:
    voice = segment.voice or spec.voice
    first = SegmentTask(
        job=job,
        segment=segment.segment,
        chapter=segment.chapter,
        model=spec.model,
        spoken=segment.spoken,
        voice=voice,
        language=segment.language,
        speed=spec.speed,
        seed=0,
        take="",
        store_url=spec.store_url,
        live=spec.live,
        takes=spec.checks.takes,
        on_bad=spec.checks.on_bad,
        base_seed=spec.seed if segment.seed is None else segment.seed,
        voice_revision=_revision(voice, spec, segment),
        numerics=spec.numerics,
    )
    return at_attempt(first, 0)


def _revision(voice: str, spec: JobSpec, segment: SegmentPlan) -> str:
    if voice == spec.voice:
        return spec.voice_revision
    if voice not in spec.item_voices:
        known = ", ".join(sorted({spec.voice, *spec.item_voices}))
        msg = f"segment {segment.segment} asks for voice {voice!r}; this job knows {known}: submit it again"
        raise BadOption(msg)
    return spec.item_voices[voice]
