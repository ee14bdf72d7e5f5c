"""After the storm: what the truth, the events and the store say must agree with each other and with what was asked.

Every check gives lines of text, one for each thing that is wrong; `tests/fault/test_soak.py` plants faults of
each kind and sees them found.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import redis

from jobs import keys
from jobs.errors import ObjectDamaged, ObjectMissing
from jobs.events import Event, EventKind
from jobs.protocols import Store, Streams, Truth
from jobs.spec import JobRecord, SegmentResult
from jobs.state import FINAL_JOB_STATES, JobState, SegmentState
from jobs.takes import load_take
from tests.fault.soak.listeners import Listener
from tests.fault.soak.sources import Sent
from tests.helpers_truth import audit as check_invariants

ENDED_WELL = {JobState.DONE, JobState.DONE_WITH_FAILURES}
SHARED_KEYS = {
    *(
        keys.JOBS,
        keys.WORKERS,
        keys.SPEECH,
        keys.OUTBOX,
        keys.DEAD,
        keys.WAKE,
        keys.TOTALS,
        keys.OPEN_BUILT,
        keys.SWEPT,
    ),
    *(keys.AUDIO_BYTES, keys.AUDIO_TOTAL, keys.AUDIO_ENDED, *(keys.virtual_now(number) for number in range(3))),
}
"""Keys that stay though no job is open."""


def jobs_ended(truth: Truth, sent: Sequence[Sent]) -> Iterator[str]:
    """Every job is where it was meant to be, and only the segments that had to fail have failed."""
    records = {record.job: record for record in truth.jobs()}
    for one in sent:
        record = records.get(one.job)
        if one.end == "purge":
            if record is not None:
                yield f"{one.job} was deleted and is there"
        elif record is None:
            yield f"{one.job} ({one.kind}) is lost"
        elif record.state not in FINAL_JOB_STATES:
            yield f"{one.job} ({one.kind}) never ended: {record.state}, {record.done} of {record.total}"
        elif record.state is JobState.FAILED:
            yield f"{one.job} ({one.kind}) failed: {record.reason}"
        elif record.state in ENDED_WELL:
            yield from _segments_of(one, record, truth.results(one.job))
        elif one.end != "cancel":
            yield f"{one.job} ({one.kind}) is {record.state}, and nobody asked for that"
    known = {one.job for one in sent}
    strangers = [job for job in records if job not in known and not job.startswith("batch-")]
    yield from (f"{job} was never asked for" for job in strangers)


def _segments_of(one: Sent, record: JobRecord, results: Mapping[int, SegmentResult]) -> Iterator[str]:
    if set(results) != set(range(record.total)):
        yield f"{one.job}: {len(results)} results for {record.total} segments"
    failed = sorted(segment for segment, result in results.items() if result.state is SegmentState.FAILED)
    if len(failed) != one.bad or record.failed != len(failed):
        reasons = {results[segment].reason for segment in failed}
        yield f"{one.job} ({one.kind}): {len(failed)} segments failed, {one.bad} had to: {failed} {sorted(reasons)}"


def truth_is_clean(client: redis.Redis, jobs: Sequence[str]) -> Iterator[str]:
    """The invariants hold, nothing is on its way, and no key is left that nothing accounts for."""
    try:
        check_invariants(client)
    except AssertionError as error:
        yield f"invariant of the truth: {error}"
    counts = {
        "workers": client.zcard(keys.WORKERS),
        "steps in the outbox": client.xlen(keys.OUTBOX),
        "suspects": client.llen(keys.SUSPECTS),
        "blamed segments": client.hlen(keys.BLAME),
        "open speech requests": client.scard(keys.SPEECH),
        "jobs on the list of open ones": client.scard(keys.OPEN),
    }
    yield from (f"{number} {what} are left" for what, number in counts.items() if number)
    known = set(jobs)
    for raw in client.scan_iter(f"{keys.PREFIX}*"):
        name = raw.decode()
        job = name.split(":", 2)[-1]
        if name in SHARED_KEYS or name.startswith(keys.CELERY_PREFIX) or job in known:
            continue
        if client.ttl(raw) < 0:  # what is left of a speech request goes away by itself
            yield f"key {name} belongs to nothing"


def events_tell_it(streams: Streams, record: JobRecord, results: Mapping[int, SegmentResult]) -> Iterator[str]:
    """The story of a job has every segment once (or once more for each time it was taken back) and the right end."""
    told: Counter[int] = Counter()
    last: dict[int, Event] = {}
    chapters: set[int] = set()
    state, before = "", (0, 0)
    for identity, event in _all_events(streams, record.job):
        place = (int(identity.split("-")[0]), int(identity.split("-")[1]))
        if place <= before:
            yield f"{record.job}: event {identity} is not after the one before"
        before = place
        state = event.state
        if event.segment is not None:
            told[event.segment] += {EventKind.SEGMENT_DONE: 1, EventKind.SEGMENT_AGAIN: -1}.get(event.kind, 0)
            told[event.segment] += event.kind is EventKind.SEGMENT_FAILED
            last[event.segment] = event
        if event.kind is EventKind.CHAPTER_ASSEMBLED and event.chapter is not None:
            chapters.add(event.chapter)
    if state != record.state:
        yield f"{record.job}: its events end with {state}, it is {record.state}"
    if record.state not in ENDED_WELL:
        return
    twice = {segment: number for segment, number in told.items() if number != 1}
    if set(told) != set(results) or (twice and not record.retakes and not record.failed):
        yield f"{record.job}: segments told other than once: {twice or set(results) ^ set(told)}"
    if len(chapters) != record.chapters:
        yield f"{record.job}: {len(chapters)} of {record.chapters} chapters are told to be assembled"
    for segment, event in last.items():
        result = results.get(segment)
        if result is not None and event.take is not None and event.take != result.take:
            yield f"{record.job}: segment {segment} is take {result.take}, its last event says {event.take}"


def _all_events(streams: Streams, job: str) -> Iterator[tuple[str, Event]]:
    after = "0"
    while batch := streams.events(job, after=after):
        yield from batch
        after = batch[-1][0]


def store_has_it(store: Store, record: JobRecord, results: Mapping[int, SegmentResult]) -> Iterator[str]:
    """Every take is whole, every file that a finished job has is there, and no chapter is there twice."""
    for segment, result in results.items():
        if result.state is SegmentState.DONE:
            try:
                info, _pcm = load_take(store, result.take)
            except (ObjectMissing, ObjectDamaged) as error:
                yield f"{record.job}: take of segment {segment}: {error}"
            else:
                if info.samples != result.samples:
                    yield f"{record.job}: segment {segment} has {info.samples} samples, its result {result.samples}"
    names = [key.removeprefix(keys.job_object(record.job, "")) for key in store.list(keys.job_object(record.job, ""))]
    numbered = Counter(_number_of(name) for name in names if name.startswith(("chapters/", "items/")))
    yield from (f"{record.job}: {number} files for {name}" for name, number in numbered.items() if number > 1)
    try:
        report = json.loads(store.get(keys.job_object(record.job, "report.json")))
    except (ObjectMissing, ValueError) as error:
        yield f"{record.job}: no whole report: {error}"
        return
    if len(report["segments"]) != record.total:
        yield f"{record.job}: its report has {len(report['segments'])} of {record.total} segments"
    made = sum(name.startswith(("chapters/", "items/")) for name in names)
    if not made:
        yield f"{record.job}: no finished audio"


def _number_of(name: str) -> str:
    """`chapters/001.flac` of `chapters/001-title.flac`: a chapter whose title changed is still one chapter."""
    return f"{name.split('-')[0]}.{name.rpartition('.')[2]}"


def store_has_nothing_else(store: Store, jobs: Sequence[str]) -> Iterator[str]:
    """No object belongs to a job that is not there, and nothing unfinished is left."""
    known = set(jobs)
    strangers = {key.split("/")[1] for key in store.list("jobs/")} - known
    yield from (f"objects of job {job}, which is not there" for job in sorted(strangers))
    store.sweep_unfinished(older_than_s=0)  # the killed leave some, for a day
    left = store.sweep_unfinished(older_than_s=0)
    if left:
        yield f"{left} unfinished uploads or files are left by a sweep"
    yield from (f"{key}: a deletion that was not finished" for key in store.list(keys.PURGES))
    yield from (f"{key} is a probe that nobody deleted" for key in store.list("probes/"))


def heard_right(store: Store, listener: Listener, results: Mapping[int, SegmentResult]) -> Iterator[str]:
    """What was heard whole is the take, sample for sample."""
    yield from (f"{listener.job}: {fault}" for fault in listener.faults)
    for segment, (take, data) in listener.heard.items():
        result = results.get(segment)
        if result is None or result.state is not SegmentState.DONE:
            yield f"{listener.job}: segment {segment} was heard and is not done"
        elif result.take == take and load_take(store, take)[1].tobytes() != data:
            yield f"{listener.job}: segment {segment} sounded other than its take"


def same_files(store: Store, reference: Store, job: str, reference_job: str) -> Iterator[str]:
    """The finished audio is, byte for byte, that of a calm run."""
    ours, theirs = (_audio_of(place, name) for place, name in ((store, job), (reference, reference_job)))
    if set(ours) != set(theirs):
        yield f"{job}: other files than in a calm run: {sorted(set(ours) ^ set(theirs))}"
    different = [name for name in ours if name in theirs and ours[name] != theirs[name]]
    yield from (f"{job}: {name} has other bytes than in a calm run" for name in different)


def _audio_of(store: Store, job: str) -> dict[str, bytes]:
    prefix = keys.job_object(job, "")
    names = [key.removeprefix(prefix) for key in store.list(prefix)]
    audio = [name for name in names if name.startswith(("chapters/", "items/", "book."))]
    return {name: store.get(prefix + name) for name in audio}


def batch_is_whole(ids: Sequence[str], status: str, lines: Sequence[str]) -> Iterator[str]:
    """A batch has ended, and each of its lines is in its files once."""
    if status != "completed":
        yield f"a batch is {status}"
        return
    answered = Counter(json.loads(line)["custom_id"] for line in lines)
    if answered != Counter(ids):
        yield f"a batch answered {dict(answered)} for lines {list(ids)}"
