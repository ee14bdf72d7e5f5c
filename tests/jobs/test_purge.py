"""Deleting: only what is finished, only what nobody uses."""

from __future__ import annotations

import pytest

from jobs import keys
from jobs.attempts import at_attempt
from jobs.errors import IllegalMove, ObjectMissing, UnknownJob
from jobs.plan_store import load_plan
from jobs.purge import ended_before, finish_purges, purge_jobs, purge_takes
from jobs.spec import Checks
from jobs.state import JobState
from jobs.stores import FolderStore, open_store
from jobs.tasks import tasks_of
from tests.helpers_jobs import World

SHARED, FIRST, SECOND = "Shared is here.", "First is here.", "Second is here."


def finished(world: World, text: str, name: str, **wishes: object) -> str:
    """A job that is done."""
    job = world.submit(text, name, **wishes).job
    world.speak_all()
    world.truth.chapter_assembled(job, 0)
    world.truth.move_job(job, JobState.DONE)
    world.store.put(keys.job_object(job, "report.json"), b"{}")
    return job


def objects(world: World, prefix: str) -> list[str]:
    return list(world.store.list(prefix))


def test_takes_that_another_job_uses_survive():
    world = World()
    first = finished(world, f"{SHARED} {FIRST}", "first.txt")
    second = finished(world, f"{SHARED} {SECOND}", "second.txt")
    assert world.truth.job(second).reused == 1
    assert len(objects(world, keys.TAKES)) == 2 * 3
    assert purge_takes(world.truth, open_store, world.store) == 0
    purge_jobs(world.truth, open_store, [first])
    assert [record.job for record in world.truth.jobs()] == [second]
    assert objects(world, keys.job_object(first, "")) == []
    assert purge_takes(world.truth, open_store, world.store) == 1
    used = {result.take for result in world.truth.results(second).values()}
    assert set(objects(world, keys.TAKES)) == {key for t in used for key in (keys.take_audio(t), keys.take_info(t))}
    purge_jobs(world.truth, open_store, [second])
    assert purge_takes(world.truth, open_store, world.store) == 2
    assert objects(world, "") == []


def test_every_attempt_a_job_may_make_stays_and_what_was_heard_in_it():
    world = World()
    job = finished(world, FIRST, "first.txt", checks=Checks(takes=3, asr="base.en"))
    (task,) = tasks_of(load_plan(world.store, job), world.truth.job(job).spec, job)
    kept = [at_attempt(task, attempt).take for attempt in range(3)]
    for take in [*kept[1:], at_attempt(task, 3).take, "f" * 32]:
        world.store.put(keys.take_info(take), b"{}")
    heard = [keys.take_heard(take, "base.en") for take in (kept[0], kept[2], "f" * 32)]
    for key in heard:
        world.store.put(key, b"{}")
    assert purge_takes(world.truth, open_store, world.store) == 2
    there = objects(world, keys.TAKES)
    assert set(there) == {keys.take_audio(kept[0]), *map(keys.take_info, kept), *heard[:2]}


def test_attempts_of_a_retry_stay():
    world = World()
    job = finished(world, FIRST, "first.txt", checks=Checks(takes=2))
    (task,) = tasks_of(load_plan(world.store, job), world.truth.job(job).spec, job)
    made = world.truth._state.jobs[job].results
    made[0] = made[0].model_copy(update={"takes": 4})
    for attempt in range(1, 6):
        world.store.put(keys.take_info(at_attempt(task, attempt).take), b"{}")
    assert purge_takes(world.truth, open_store, world.store) == 2


def test_an_unfinished_job_is_refused_and_nothing_is_deleted():
    world = World()
    done = finished(world, FIRST, "first.txt")
    running = world.submit(SECOND, "second.txt").job
    before = objects(world, "")
    with pytest.raises(IllegalMove, match=f"job {running} is queued; only finished jobs are deleted"):
        purge_jobs(world.truth, open_store, [done, running])
    with pytest.raises(UnknownJob):
        purge_jobs(world.truth, open_store, [done, "nobody"])
    assert objects(world, "") == before
    assert len(world.truth.jobs()) == 2


@pytest.mark.parametrize("end", [JobState.CANCELLED, JobState.FAILED])
def test_a_job_that_was_given_up_can_be_deleted(end):
    world = World()
    job = world.submit(FIRST).job
    world.truth.move_job(job, end)
    purge_jobs(world.truth, open_store, [job, job])  # named twice is deleted once
    assert (world.truth.jobs(), objects(world, "")) == ([], [])


def test_takes_of_a_job_that_waits_are_in_use():
    world = World()
    world.submit(f"{FIRST} {SECOND}")
    world.speak(world.lease()[0])
    assert purge_takes(world.truth, open_store, world.store) == 0


@pytest.mark.parametrize("spelling", ["{root}/", "{root}/.", "/{root}", "{root}/../store", "{link}"])
def test_takes_of_a_store_that_is_spelled_in_another_way_are_in_use(tmp_path, spelling):
    root, link = tmp_path / "store", tmp_path / "link"
    root.mkdir()
    link.symlink_to(root)
    world = World(FolderStore(root))
    finished(world, FIRST, "first.txt", store_url="file://" + spelling.format(root=root, link=link))
    assert purge_takes(world.truth, open_store, FolderStore(root)) == 0
    assert purge_takes(world.truth, open_store, FolderStore(link)) == 0
    assert len(objects(world, keys.TAKES)) == 2


def test_jobs_of_another_store_do_not_count():
    world, other = World(), World()
    world.submit(FIRST, store_url=other.store.url)
    finished(other, FIRST, "first.txt")
    world.store.put(keys.take_info("ab" * 16), b"{}")
    world.store.put(keys.take_audio("ab" * 16), b"")
    other.store.put(keys.job_object(world.truth.jobs()[0].job, "plan.jsonl"), b"never read")
    assert purge_takes(world.truth, open_store, world.store) == 1


def test_without_the_plan_of_a_job_no_take_is_deleted():
    world = World()
    job = finished(world, FIRST, "first.txt")
    world.store.delete(keys.job_object(job, "plan.jsonl"))
    with pytest.raises(ObjectMissing, match=r"plan\.jsonl"):
        purge_takes(world.truth, open_store, world.store)
    assert len(objects(world, keys.TAKES)) == 2


@pytest.mark.parametrize("stop_at", range(6))
def test_a_deletion_that_was_killed_is_finished_by_the_next(monkeypatch: pytest.MonkeyPatch, stop_at: int) -> None:
    """Killed before the first object went, after it, and so on: in the end nothing of the job is left."""
    world = World()
    job = finished(world, f"{SHARED} {FIRST}", "first.txt")
    kept = finished(world, SECOND, "second.txt")
    ours = {key for key in objects(world, "jobs/") if key.startswith(f"jobs/{job}/")}
    delete, deleted = world.store.delete, list[str]()

    def killed(key: str) -> None:
        if len(deleted) >= stop_at:
            raise KeyboardInterrupt
        deleted.append(key)
        delete(key)

    monkeypatch.setattr(world.store, "delete", killed)
    try:
        purge_jobs(world.truth, lambda _url: world.store, [job])
    except KeyboardInterrupt:
        monkeypatch.setattr(world.store, "delete", delete)
        assert objects(world, keys.PURGES) == [keys.PURGES + job]
        assert finish_purges(world.truth, world.store) == 1
    assert ours
    assert not ours & set(objects(world, ""))
    assert objects(world, keys.PURGES) == []
    assert objects(world, keys.job_object(kept, ""))


def test_a_job_that_was_submitted_anew_is_not_deleted_by_an_old_mark() -> None:
    world = World()
    job = finished(world, FIRST, "first.txt")
    world.store.put(keys.PURGES + job, b"")
    before = objects(world, "jobs/")
    assert finish_purges(world.truth, world.store) == 1
    assert objects(world, "jobs/") == before
    assert objects(world, keys.PURGES) == []


def test_only_what_ended_long_enough_ago_is_old() -> None:
    world = World()
    done = finished(world, FIRST, "first.txt")
    world.submit(SECOND, "second.txt")
    ended_s = world.truth.job(done).updated_at_s
    assert [record.job for record in ended_before(world.truth, 60.0, now_s=ended_s + 61)] == [done]
    assert ended_before(world.truth, 60.0, now_s=ended_s + 59) == []
