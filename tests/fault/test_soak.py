"""A minute of bad weather on a small cluster, and the auditor on worlds that were tampered with: it finds it all."""

from __future__ import annotations

import json
import random
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jobs import keys
from jobs.events import Event, EventKind
from jobs.spec import SegmentResult
from jobs.state import JobState
from jobs.submit import accept
from jobs.truth.calls import Calls, make_client
from jobs.truth.redis_truth import RedisTruth
from tests.fault.soak import audit
from tests.fault.soak.sources import KINDS, Sent, make
from tests.helpers_jobs import OFFER, World
from tests.helpers_truth import record, tasks, worker
from tests.helpers_valkey import shared_server

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
@pytest.mark.services
@pytest.mark.timeout(290)
def test_a_minute_of_bad_weather_leaves_everything_right() -> None:
    command = [sys.executable, "-m", "tests.fault.soak", "--minutes", "0.7", "--seed", "3", "--compare", "4"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=280, check=False)
    report = json.loads(done.stdout.splitlines()[-1]) if done.stdout else {}
    assert (done.returncode, report.get("wrong")) == (0, []), done.stderr[-2000:]
    assert sum(report["weather"].values()) > 2
    assert report["ends"].get("done", 0) > 2
    assert report["compared_jobs"] > 2


def finished(**changes: Any) -> tuple[World, Sent, str]:
    """A world with one job that ended well, as the auditor wants it."""
    world = World()
    draft = world.draft("One sentence is here. Another one is there.", "book.txt")
    accept(draft, world.truth, world.store)
    world.speak_all()
    world.truth.chapter_assembled(draft.job, 0)
    world.truth.move_job(draft.job, JobState.DONE)
    total = world.truth.job(draft.job).total
    world.store.put(keys.job_object(draft.job, "report.json"), json.dumps({"segments": [{}] * total}).encode())
    world.store.put(keys.chapter_object(draft.job, 0, "one", "flac"), b"audio")
    return world, Sent("book", None, {}, job=draft.job, **changes), draft.job  # type: ignore[arg-type]


def faults(world: World, sent: Sent) -> list[str]:
    """What all checks of one job say."""
    found = [*audit.jobs_ended(world.truth, [sent])]
    for one in world.truth.jobs():
        results = world.truth.results(one.job)
        found += audit.events_tell_it(world.streams, one, results)
        found += audit.store_has_it(world.store, one, results)
    return [*found, *audit.store_has_nothing_else(world.store, [one.job for one in world.truth.jobs()])]


def test_a_sound_world_has_no_faults() -> None:
    world, sent, _ = finished()
    assert faults(world, sent) == []


def _lose_take(world: World, job: str) -> None:
    world.store.delete(keys.take_audio(world.truth.results(job)[0].take))


def _tear_take(world: World, job: str) -> None:
    key = keys.take_audio(world.truth.results(job)[0].take)
    world.store.put(key, world.store.get(key)[:-10])


def _double_chapter(world: World, job: str) -> None:
    world.store.put(keys.chapter_object(job, 0, "another title", "flac"), b"audio")


def _lose_report(world: World, job: str) -> None:
    world.store.delete(keys.job_object(job, "report.json"))


def _short_report(world: World, job: str) -> None:
    world.store.put(keys.job_object(job, "report.json"), b'{"segments": []}')


def _lose_audio(world: World, job: str) -> None:
    world.store.delete(keys.chapter_object(job, 0, "one", "flac"))


def _orphan(world: World, job: str) -> None:
    world.store.put(keys.job_object("nobody", "source"), b"text")


def _leave_a_deletion(world: World, job: str) -> None:
    world.store.put(f"{keys.PURGES}nobody", b"")


def _tell_twice(world: World, job: str) -> None:
    about = {"job": job, "state": JobState.DONE, "total": 1, "done": 1, "failed": 0, "audio_s": 1.0, "at_s": 1.0}
    world.streams.write_event(
        Event.model_validate({"kind": EventKind.SEGMENT_DONE, "segment": 0, "chapter": 0, **about})
    )


def _tell_another_end(world: World, job: str) -> None:
    about = {"job": job, "state": JobState.FAILED, "total": 1, "done": 1, "failed": 0, "audio_s": 1.0, "at_s": 1.0}
    world.streams.write_event(Event.model_validate({"kind": EventKind.JOB, **about}))


def _stranger(world: World, job: str) -> None:
    world.truth.create_job(record("stranger"))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (_lose_take, "no object"),
        (_tear_take, "damaged"),
        (_double_chapter, "2 files for chapters/001.flac"),
        (_lose_report, "no whole report"),
        (_short_report, "its report has 0 of"),
        (_lose_audio, "no finished audio"),
        (_orphan, "objects of job nobody"),
        (_leave_a_deletion, "a deletion that was not finished"),
        (_tell_twice, "told other than once"),
        (_tell_another_end, "its events end with failed"),
        (_stranger, "stranger was never asked for"),
    ],
)
def test_each_fault_is_found(fault: Callable[[World, str], None], told: str) -> None:
    world, sent, job = finished()
    fault(world, job)
    assert any(told in line for line in faults(world, sent)), faults(world, sent)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"bad": 1}, "0 segments failed, 1 had to"),
        ({"end": "purge"}, "was deleted and is there"),
        ({"job": "lost"}, "is lost"),
    ],
)
def test_what_was_asked_for_must_have_become(changes: dict[str, Any], told: str) -> None:
    world, sent, _ = finished()
    for name, value in changes.items():
        setattr(sent, name, value)
    assert any(told in line for line in audit.jobs_ended(world.truth, [sent]))


def test_what_was_heard_is_compared_with_the_take() -> None:
    world, _, job = finished()
    results = world.truth.results(job)
    heard = SimpleNamespace(job=job, faults=[], heard={0: (results[0].take, b"other")})
    assert [*audit.heard_right(world.store, heard, results)] == [f"{job}: segment 0 sounded other than its take"]
    none: dict[int, SegmentResult] = {}
    assert [*audit.heard_right(world.store, heard, none)] == [f"{job}: segment 0 was heard and is not done"]


def test_files_are_compared_byte_for_byte() -> None:
    world, _, job = finished()
    calm, _, calm_job = finished()
    assert [*audit.same_files(world.store, calm.store, job, calm_job)] == []
    calm.store.put(keys.chapter_object(calm_job, 0, "one", "flac"), b"audi0")
    calm.store.put(keys.chapter_object(calm_job, 1, "two", "flac"), b"audio")
    assert len([*audit.same_files(world.store, calm.store, job, calm_job)]) == 2


def test_a_batch_must_have_each_line_once() -> None:
    lines = [json.dumps({"custom_id": name}) for name in ("a", "b")]
    assert [*audit.batch_is_whole(["a", "b"], "completed", lines)] == []
    assert [*audit.batch_is_whole(["a", "b"], "in_progress", lines)]
    assert [*audit.batch_is_whole(["a", "b"], "completed", [*lines, lines[0]])]
    assert [*audit.batch_is_whole(["a", "b"], "completed", lines[:1])]


@pytest.mark.services
def test_a_truth_with_something_left_over_is_not_clean() -> None:
    server = shared_server()
    server.flush()
    client = make_client(server.url)
    truth = RedisTruth(Calls(client))
    truth.create_job(record("a"))
    truth.enqueue("a", tasks("a", 2), [])
    for step in truth.take_steps("c", limit=9, timeout_s=0):
        truth.step_sent(step)
    truth.move_job("a", JobState.FAILED)
    assert [*audit.truth_is_clean(client, ["a"])] == []
    assert [*audit.truth_is_clean(client, [])]  # its keys belong to nobody then
    client.set(f"{keys.PREFIX}left:over", 1)
    truth.register(worker("w"))
    client.setbit(keys.done("a"), 0, 1)
    told = [*audit.truth_is_clean(client, ["a"])]
    assert any("1 workers are left" in line for line in told)
    assert any("left:over" in line for line in told)
    assert any("invariant" in line for line in told)
    server.flush()


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_source_becomes_a_job_that_speaks_of_nothing_else(kind: str) -> None:
    drafts = [make(kind, number, random.Random(5)).draft(OFFER, "memory://x") for number in (1, 2)]
    assert len({draft.job for draft in drafts}) == 2
    assert all(draft.plan.segments for draft in drafts)
