"""Batches that are cancelled, run out of time, or whose jobs people lay hands on: what is finished is kept."""

from __future__ import annotations

import pytest

from jobs import keys
from jobs.batches.records import Counts, Status, Why
from jobs.errors import IllegalMove, UnknownBatch
from jobs.purge import purge_jobs
from jobs.retry import tasks_to_retry
from jobs.state import JobState, SegmentState
from tests.jobs.batches.office import NOW_S, Office, request

DAY_S = 86_400


def some(count: int = 6, **body: object) -> list[dict[str, object]]:
    return [request(f"line {n}", f"Line {'abcdefghijkl'[n]} is here.", **body) for n in range(count)]


def assert_no_address(office: Office, batch: str) -> None:
    """Callers learn nothing of where things are kept."""
    end = office.now(batch).end
    assert end is not None
    told = str(office.lines(end.error_file_id))
    assert office.store.url not in told
    assert "disk" not in told


def begun(office: Office, spoken: int = 2, **body: object) -> str:
    """A batch of six lines of which so many are spoken, and one more is at a worker."""
    batch = office.begin(*some(**body))
    assert office.speak(spoken) == spoken
    office.lease(1)
    return batch


@pytest.mark.parametrize("audio_format", ["mp3", "aac"])
def test_cancelled_in_the_middle_it_keeps_what_is_finished(office: Office, audio_format: str) -> None:
    batch = begun(office, response_format=audio_format)
    office.now_s += 10
    now = office.batches.cancel(batch)
    assert (now.status, now.counts) == (Status.CANCELLING, Counts(total=6, completed=2))
    assert office.truth.job(office.jobs(batch)[0]).state is JobState.CANCELLED
    assert office.lease() == []
    office.now_s += 10
    office.clerk.round()
    now = office.now(batch)
    assert (now.status, now.counts) == (Status.CANCELLED, Counts(total=6, completed=2, failed=4))
    assert [line["custom_id"] for line in office.outputs(batch)] == ["line 0", "line 1"]
    assert office.errors(batch) == {f"line {n}": "batch_cancelled" for n in range(2, 6)}
    for n in range(2):
        audio = office.batches.audio(batch, f"line {n}")
        assert office.store.size_bytes(audio.key) > 1000
    with pytest.raises(UnknownBatch):
        office.batches.audio(batch, "line 2")
    assert now.stop is not None
    assert now.end is not None
    assert (now.stop.at, now.end.at) == (NOW_S + 10, NOW_S + 20)


def test_cancelling_twice_is_cancelling_once(office: Office) -> None:
    batch = begun(office)
    first = office.batches.cancel(batch)
    office.now_s += 10
    assert office.batches.cancel(batch) == first
    office.clerk.round()
    with pytest.raises(IllegalMove, match="cancelled"):
        office.batches.cancel(batch)


def test_cancelled_before_it_was_looked_at(office: Office) -> None:
    batch = office.begin(*some(), rounds=0)
    assert office.batches.cancel(batch).status is Status.CANCELLING
    office.clerk.round()
    now = office.now(batch)
    assert (now.status, now.counts, now.end and now.end.output_file_id) == (Status.CANCELLED, Counts(), None)
    assert office.truth.jobs() == []


def test_cancelled_while_its_jobs_are_made_none_of_them_goes_on(office: Office) -> None:
    lines = [request(f"line {n}", speed=1 + n / 10) for n in range(5)]
    batch = office.begin(*lines, rounds=0)

    def cancel_after_two(name: str, _arguments: tuple[object, ...]) -> None:
        if name == "put" and len(office.truth.jobs()) == 2 and office.now(batch).stop is None:
            office.batches.cancel(batch)

    office.other_clerk(cancel_after_two).round()
    assert office.now(batch).status is Status.CANCELLING
    office.clerk.round()
    assert office.now(batch).status is Status.CANCELLED
    assert {record.state for record in office.truth.jobs()} == {JobState.CANCELLED}
    assert office.lease() == []


def test_a_batch_whose_time_is_up_keeps_what_is_finished(office: Office) -> None:
    batch = begun(office)
    office.now_s = NOW_S + DAY_S - 1
    office.clerk.round()
    assert office.now(batch).status is Status.IN_PROGRESS
    office.now_s = NOW_S + DAY_S
    office.clerk.round()
    now = office.now(batch)
    assert (now.status, now.counts) == (Status.EXPIRED, Counts(total=6, completed=2, failed=4))
    assert [line["custom_id"] for line in office.outputs(batch)] == ["line 0", "line 1"]
    assert office.errors(batch) == {f"line {n}": "batch_expired" for n in range(2, 6)}
    assert now.stop is not None
    assert now.stop.why is Why.EXPIRED
    assert office.lease() == []


def test_a_batch_that_nobody_could_look_at_expires(office: Office) -> None:
    office.offers = []
    batch = office.begin(*some(), window="2h")
    office.now_s += 7200
    office.clerk.round()
    assert office.now(batch).status is Status.EXPIRED


def test_a_batch_that_is_spoken_in_time_is_completed_however_late_its_files_are_written(office: Office) -> None:
    batch = office.begin(*some())
    office.work()
    office.now_s += 2 * DAY_S
    office.clerk.round()
    assert office.now(batch).status is Status.COMPLETED


def test_a_job_that_somebody_holds_holds_its_batch(office: Office) -> None:
    batch = office.begin(*some())
    (job,) = office.jobs(batch)
    office.truth.pause(job)
    office.work()
    office.clerk.round()
    assert office.now(batch).status is Status.IN_PROGRESS
    office.truth.unpause(job)
    office.work()
    office.clerk.round()
    assert office.now(batch).counts == Counts(total=6, completed=6)


def test_a_held_job_does_not_outlive_its_batch(office: Office) -> None:
    batch = office.begin(*some())
    office.truth.pause(office.jobs(batch)[0])
    office.now_s += DAY_S
    office.clerk.round()
    assert (office.now(batch).status, office.lease()) == (Status.EXPIRED, [])


def test_lines_of_a_job_that_somebody_cancelled_say_so(office: Office) -> None:
    batch = begun(office)
    office.truth.cancel(office.jobs(batch)[0])
    office.clerk.round()
    assert office.now(batch).status is Status.COMPLETED
    assert office.now(batch).counts == Counts(total=6, completed=2, failed=4)
    assert office.errors(batch) == {f"line {n}": "job_cancelled" for n in range(2, 6)}


def test_lines_of_a_job_that_failed_say_so(office: Office) -> None:
    batch = begun(office)
    office.truth.move_job(office.jobs(batch)[0], JobState.FAILED, reason="finish: the disk is full")
    office.clerk.round()
    assert office.errors(batch) == {f"line {n}": "job_failed" for n in range(2, 6)}
    assert_no_address(office, batch)
    assert office.now(batch).counts == Counts(total=6, completed=2, failed=4)


def test_lines_of_a_job_that_somebody_deleted_say_so(office: Office) -> None:
    batch = office.begin(*some())
    (job,) = office.jobs(batch)
    office.work()
    purge_jobs(office.truth, lambda _url: office.store, [job])
    assert office.now(batch).status is Status.FINALIZING
    office.clerk.round()
    assert set(office.errors(batch).values()) == {"job_deleted"}
    assert_no_address(office, batch)


def test_audio_that_somebody_deleted_is_not_promised(office: Office) -> None:
    batch = office.begin(*some(2))
    office.work()
    office.store.delete(office.batches.audio(batch, "line 1").key)
    office.clerk.round()
    assert [line["custom_id"] for line in office.outputs(batch)] == ["line 0"]
    assert office.errors(batch) == {"line 1": "audio_lost"}
    assert_no_address(office, batch)


def test_audio_that_was_damaged_is_not_promised(office: Office) -> None:
    batch = office.begin(*some(2, response_format="aac"))
    (job,) = office.jobs(batch)
    office.work()
    damaged = next(key for key in office.store.list(keys.job_object(job, "items/")) if "line-1" in key)
    office.store.put(damaged, b"no flac")
    office.clerk.round()
    assert [line["custom_id"] for line in office.outputs(batch)] == ["line 0"]
    assert office.errors(batch) == {"line 1": "audio_lost"}
    assert_no_address(office, batch)


def test_a_job_that_is_tried_again_in_time_is_waited_for(office: Office) -> None:
    batch = office.begin(*some(3))
    (job,) = office.jobs(batch)
    for task in office.lease():
        if task.segment == 1:
            office.finish(task, SegmentState.FAILED, reason="it was cold")
        else:
            office.speak_one(task)
    office.work()
    record = office.truth.job(job)
    assert record.state is JobState.DONE_WITH_FAILURES
    again = tasks_to_retry(office.store, record, office.truth.results(job), failed=True, segments=[])
    assert office.truth.retry_failed(job, again) == 1
    office.clerk.round()
    assert (office.now(batch).status, office.now(batch).counts) == (Status.IN_PROGRESS, Counts(total=3, completed=2))
    office.work()
    office.clerk.round()
    assert office.now(batch).counts == Counts(total=3, completed=3)


def test_a_retry_after_the_end_changes_nothing_of_the_batch(office: Office) -> None:
    batch = office.begin(*some(2))
    (job,) = office.jobs(batch)
    for task in office.lease():
        office.finish(task, SegmentState.FAILED, reason="no")
    office.work()
    office.clerk.round()
    end = office.now(batch).end
    record = office.truth.job(job)
    again = tasks_to_retry(office.store, record, office.truth.results(job), failed=True, segments=[])
    office.truth.retry_failed(job, again)
    office.work()
    office.clerk.round()
    assert (office.now(batch).status, office.now(batch).end) == (Status.COMPLETED, end)
    assert office.errors(batch) == {"line 0": "speech_failed", "line 1": "speech_failed"}


def test_a_job_that_was_accepted_after_the_cancel_is_cancelled_too(office: Office) -> None:
    """Another server cancels and ends the batch between the last look at its stop and the job."""
    batch = office.begin(*some(), rounds=0)

    def stopped_first(name: str, arguments: tuple[object, ...]) -> None:
        if name == "put" and str(arguments[0]).endswith("/source"):
            office.batches.cancel(batch)
            office.clerk.round()

    office.other_clerk(stopped_first).round()
    assert office.now(batch).status is Status.CANCELLED
    assert [record.state for record in office.truth.jobs()] == [JobState.CANCELLED]
    assert office.lease() == []
    assert office.now(batch).submitted is None


def test_a_server_that_is_late_at_the_end_brings_no_deleted_file_back(office: Office) -> None:
    batch = office.begin(*some(response_format="aac"))
    office.work()
    seen: list[str] = []

    def ended_first(name: str, _arguments: tuple[object, ...]) -> None:
        if name == "writer" and not seen:
            office.clerk.round()
            end = office.now(batch).end
            assert end is not None
            seen.append(end.output_file_id or "")
            office.desk.files.delete(seen[0])

    office.other_clerk(ended_first).round()
    assert [record.purpose for record in office.desk.files.all()] == ["batch"]
    assert not office.store.exists(keys.file_content(seen[0]))
    assert (office.now(batch).status, office.now(batch).counts.completed) == (Status.COMPLETED, 6)
