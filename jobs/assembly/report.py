"""The report of a job (`report.json`): what was asked, what was made, where every segment is, what failed and why.

Everything but the section `run` is the same in every run of the same job.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from jobs import keys
from jobs.account import AccountTotals
from jobs.assembly.master_report import MasteringReport
from jobs.assembly.take_report import TakeReport
from jobs.assembly.timeline import Placed, Timeline, seconds_of
from jobs.cost import RunReport, run_report
from jobs.kinds import Grade
from jobs.plan import Plan
from jobs.protocols import Store
from jobs.spec import Frozen, JobRecord, SegmentResult
from jobs.state import SegmentState
from jobs.tariff import Tariff

REPORT_VERSION = 3


class SegmentReport(Frozen):
    """One segment: `text` as it is written, `spoken` as the model got it.

    `start_s` counts from the start of its chapter and is None where there is no common timeline. `take` is that of
    `attempt` (counted from 0) and has this `grade`; `takes` are all attempts on record, the delivered one among them.
    """

    segment: int
    chapter: int
    state: SegmentState
    text: str
    spoken: str
    item: str | None
    voice: str
    take: str | None
    attempt: int
    grade: Grade
    start_s: float | None
    duration_s: float
    late_s: float
    reason: str
    takes: tuple[TakeReport, ...] = ()


class ChapterReport(Frozen):
    """One chapter; `start_s` counts from the start of the book.

    Loudness, true peak and gain are of its file in the first format; None for profile raw.
    """

    chapter: int
    title: str
    start_s: float
    duration_s: float
    failed: int
    loudness_lufs: float | None = None
    true_peak_dbtp: float | None = None
    gain_db: float | None = None


class Totals(Frozen):
    """Sums over all segments. `prompt_chars` are what the model got; `audio_s` is spoken audio without pauses.

    `late` counts cues that began too late, `marked` done segments whose take is not good, `retakes` the attempts beyond
    the first.
    """

    segments: int
    done: int
    failed: int
    skipped: int
    late: int
    marked: int
    retakes: int
    prompt_chars: int
    audio_s: float


class Report(Frozen):
    """The whole report. `licences` are those of all voices, in words for people; `voice`, `seed` and `speed` the job's.

    `account` says what became of the characters of the source (`plan.jsonl` has every passage).
    """

    v: int = REPORT_VERSION
    statement: Literal["synthetic speech"] = "synthetic speech"
    software: str
    job: str
    title: str
    author: str
    source_name: str
    source_sha256: str
    model: str
    voice: str
    voice_revision: str
    language: str
    licences: dict[str, str]
    seed: int
    speed: float
    numerics: str
    sample_rate_hz: int | None
    objects: tuple[str, ...]
    warnings: tuple[str, ...]
    account: AccountTotals
    totals: Totals
    chapters: tuple[ChapterReport, ...]
    segments: tuple[SegmentReport, ...]
    mastering: MasteringReport | None = None
    run: RunReport


def build_report(
    record: JobRecord,
    plan: Plan,
    results: Mapping[int, SegmentResult],
    *,
    objects: Sequence[str],
    timeline: Timeline | None,
) -> Report:
    """The report of a finished job. `timeline`: from `book_timeline`.

    Raises:
        ValueError: a segment has no result.
    """
    missing = [segment.segment for segment in plan.segments if segment.segment not in results]
    if missing:
        msg = f"segment {missing[0]} has no result; a report is written when every segment is finished"
        raise ValueError(msg)
    spec = record.spec
    segments = _segments(plan, results, timeline, default_voice=spec.voice)
    return Report(
        software=f"tts-batch {_version()}",
        job=record.job,
        title=record.title,
        author=record.author,
        source_name=plan.source.name,
        source_sha256=plan.source.sha256,
        model=spec.model,
        voice=spec.voice,
        voice_revision=spec.voice_revision,
        language=spec.language,
        licences=spec.licences,
        seed=spec.seed,
        speed=spec.speed,
        numerics=spec.numerics,
        sample_rate_hz=timeline.sample_rate_hz if timeline else None,
        objects=tuple(objects),
        warnings=plan.source.warnings,
        account=plan.account.totals(),
        totals=_totals(plan, segments, results),
        chapters=_chapters(segments, timeline),
        segments=segments,
        run=run_report(results.values()),
    )


def with_mastering(report: Report, mastering: MasteringReport) -> Report:
    """The report with what its files measure; what they do not hold becomes warnings."""
    files = [file for entry in mastering.chapters for file in entry.files] + list(mastering.book)
    return report.model_copy(
        update={
            "mastering": mastering,
            "warnings": (*report.warnings, *(f"{file.key}: {file.note}" for file in files if file.note)),
            "chapters": tuple(
                chapter
                if (file := mastering.of_chapter(chapter.chapter)) is None
                else chapter.model_copy(
                    update={
                        "loudness_lufs": file.levels.loudness_lufs,
                        "true_peak_dbtp": file.levels.true_peak_dbtp,
                        "gain_db": file.gain_db,
                    }
                )
                for chapter in report.chapters
            ),
        }
    )


def with_price(report: Report, tariff: Tariff) -> Report:
    """The report with what its run cost by a tariff."""
    return report.model_copy(update={"run": report.run.priced(tariff)})


def with_takes(report: Report, takes: Mapping[int, tuple[TakeReport, ...]]) -> Report:
    """A report with every attempt that is on record, by segment."""
    segments = tuple(
        segment.model_copy(update={"takes": takes.get(segment.segment, ())}) for segment in report.segments
    )
    return report.model_copy(update={"segments": segments})


def write_report(store: Store, report: Report) -> str:
    """Put a report into the store and return its key. Raises StoreError."""
    key = keys.job_object(report.job, "report.json")
    store.put(key, (report.model_dump_json(indent=1) + "\n").encode())
    return key


def _segments(
    plan: Plan, results: Mapping[int, SegmentResult], timeline: Timeline | None, *, default_voice: str
) -> tuple[SegmentReport, ...]:
    placed = {entry.segment: entry for chapter in timeline.chapters for entry in chapter.segments} if timeline else {}
    reports = []
    for segment in plan.segments:
        result = results[segment.segment]
        done = result.state is SegmentState.DONE
        place: Placed | None = placed.get(segment.segment)
        rate_hz = timeline.sample_rate_hz if timeline else result.sample_rate_hz
        reports.append(
            SegmentReport(
                segment=segment.segment,
                chapter=segment.chapter,
                state=result.state,
                text=segment.text,
                spoken=segment.spoken,
                item=segment.item,
                voice=segment.voice or default_voice,
                take=result.take if done else None,
                attempt=result.attempt,
                grade=result.grade,
                start_s=seconds_of(place.start_sample, rate_hz) if place else None,
                duration_s=seconds_of(result.samples, rate_hz) if done else 0.0,
                late_s=seconds_of(place.late_samples, rate_hz) if place else 0.0,
                reason=result.reason,
            )
        )
    return tuple(reports)


def _chapters(segments: Sequence[SegmentReport], timeline: Timeline | None) -> tuple[ChapterReport, ...]:
    if timeline is None:
        return ()
    failed = [segment.chapter for segment in segments if segment.state is SegmentState.FAILED]
    return tuple(
        ChapterReport(
            chapter=chapter.chapter,
            title=chapter.title,
            start_s=seconds_of(start, timeline.sample_rate_hz),
            duration_s=seconds_of(chapter.samples, timeline.sample_rate_hz),
            failed=failed.count(chapter.chapter),
        )
        for chapter, start in zip(timeline.chapters, timeline.starts, strict=True)
    )


def _totals(plan: Plan, segments: Sequence[SegmentReport], results: Mapping[int, SegmentResult]) -> Totals:
    states = [segment.state for segment in segments]
    return Totals(
        segments=len(segments),
        done=states.count(SegmentState.DONE),
        failed=states.count(SegmentState.FAILED),
        skipped=states.count(SegmentState.SKIPPED),
        late=sum(segment.late_s > 0 for segment in segments),
        marked=sum(segment.state is SegmentState.DONE and segment.grade is not Grade.GOOD for segment in segments),
        retakes=sum(max(0, result.takes - 1) for result in results.values()),
        prompt_chars=plan.prompt_chars,
        audio_s=round(sum(segment.duration_s for segment in segments), 6),
    )


def _version() -> str:
    try:
        return version("tts-batch")
    except PackageNotFoundError:
        return "(not installed)"
