"""Jobs, segments and results for tests of the queue, and the audit 'every segment is in exactly one place'."""

from __future__ import annotations

import json
from collections import Counter

import redis

from jobs import keys
from jobs.attempts import at_attempt
from jobs.kinds import OnBad
from jobs.spec import JobRecord, JobSpec, Priority, SegmentResult, SegmentTask, SourceKind, WorkerInfo, engine_name
from jobs.state import JobState, SegmentState

NUMERICS = "1"

RATE_HZ = 24_000


def spec(*, priority: Priority = Priority.NORMAL, model: str = "m") -> JobSpec:
    return JobSpec(
        source_name="book.txt",
        source_kind=SourceKind.TXT,
        model=model,
        voice="v",
        language="en",
        voice_revision="r",
        numerics=NUMERICS,
        store_url="file:///nowhere",
        priority=priority,
    )


def record(job: str, *, priority: Priority = Priority.NORMAL, model: str = "m", created_at_s: float = 1.0) -> JobRecord:
    return JobRecord(
        job=job,
        spec=spec(priority=priority, model=model),
        state=JobState.PLANNING,
        title="Ein Titel: »Ä« | 1",
        author="",
        created_at_s=created_at_s,
        updated_at_s=created_at_s,
    )


def first_attempt(**changes: object) -> SegmentTask:
    """A segment at attempt 0 of three."""
    task = SegmentTask(
        job="j",
        segment=3,
        chapter=1,
        model="m",
        spoken="A line.",
        voice="v",
        language="en",
        speed=1.0,
        seed=0,
        take="",
        store_url="memory://x",
        takes=3,
        on_bad=OnBad.MARK,
        base_seed=9,
    )
    return at_attempt(task.model_copy(update=changes), 0)


def tasks(job: str, count: int, *, first: int = 0, per_chapter: int = 4, model: str = "m") -> list[SegmentTask]:
    return [
        SegmentTask(
            job=job,
            segment=segment,
            chapter=segment // per_chapter,
            model=model,
            spoken=f"Sentence {segment}.",
            voice="v",
            language="en",
            speed=1.0,
            seed=2**62 + segment,  # more than a Lua number can hold
            take=f"{segment:032x}",
            store_url="file:///nowhere",
        )
        for segment in range(first, first + count)
    ]


def result(task: SegmentTask, *, state: SegmentState = SegmentState.DONE, reused: bool = False) -> SegmentResult:
    good = state is SegmentState.DONE
    return SegmentResult(
        job=task.job,
        segment=task.segment,
        chapter=task.chapter,
        state=state,
        take=task.take,
        samples=12_000 if good else 0,
        sample_rate_hz=RATE_HZ if good else 0,
        compute_s=0.25,
        reused=reused,
        reason="" if good else 'it said "no"',
    )


def worker(name: str, *models: str) -> WorkerInfo:
    engines = tuple(model if "@" in model else engine_name(model, NUMERICS) for model in models or ("m",))
    return WorkerInfo(
        worker=name, host="h", pid=1, device="cpu", slots=8, models=engines, started_at_s=1_764_444_444.125
    )


def audit(client: redis.Redis) -> dict[str, int]:
    """Check the invariants on a Redis; returns how many unfinished segments each job has."""
    held = Counter(ref.decode() for key in client.scan_iter(keys.held("*")) for ref in client.smembers(key))
    suspects = Counter(ref for group in client.lrange(keys.SUSPECTS, 0, -1) for ref in json.loads(group))
    assert {key.decode() for key in client.scan_iter(keys.held("*"))} <= {
        keys.held(name.decode()) for name in client.zrange(keys.WORKERS, 0, -1)
    }, "a held set without a living worker"
    unfinished = {}
    speech = {entry.decode() for entry in client.smembers(keys.SPEECH)}
    for name in (*(entry.decode() for entry in client.zrange(keys.JOBS, 0, -1)), *speech):
        unfinished[name] = _audit_job(client, name, held, suspects)
        assert (name in speech) == client.hexists(keys.job(name), "speech_ttl_ms")
    return unfinished


def _audit_job(client: redis.Redis, name: str, held: Counter[str], suspects: Counter[str]) -> int:
    fields = {key.decode(): value.decode() for key, value in client.hgetall(keys.job(name)).items()}
    total, done, failed = (int(fields[key]) for key in ("total", "done", "failed"))
    waiting = {segment.decode() for segment in client.zrange(keys.waiting(name), 0, -1)}
    payloads = {segment.decode() for segment in client.hkeys(keys.segments(name))}
    finished = {segment.decode() for segment in client.hkeys(keys.results(name))}
    assert client.bitcount(keys.done(name)) == len(finished) == done + failed
    lanes = {number for number in range(3) if client.zscore(keys.ready(number), name) is not None}
    is_open = fields["state"] in (JobState.QUEUED, JobState.RUNNING)
    assert lanes == ({int(fields["class"])} if is_open and waiting else set())
    if fields["state"] == JobState.CANCELLED:
        assert not waiting
        assert not payloads
        return 0
    for segment in {*waiting, *payloads, *finished}:
        ref = f"{name}|{segment}"
        places = (segment in waiting) + held[ref] + suspects[ref] + (segment in finished)
        assert places == 1, f"{ref} is in {places} places"
    mine = {ref for ref in held if ref.startswith(f"{name}|")}
    assert int(fields["held"]) == len(mine)
    assert len(payloads - finished) == total - done - failed
    if "speech_ttl_ms" in fields:
        assert is_open, "a speech request that is over, or waits for something else than its segments"
        assert not client.exists(keys.left(name))
        return total - done - failed
    assert sum(map(int, client.hvals(keys.left(name)))) == total - done - failed
    assert client.scard(keys.assembled(name)) == int(fields["chapters_assembled"])
    return total - done - failed
