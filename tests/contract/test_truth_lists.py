"""Pages of the list of jobs, and which chapters are assembled: the same of both back ends."""

from __future__ import annotations

import pytest

from jobs.errors import UnknownJob
from jobs.state import JobState
from tests.contract.house_of_truth import House
from tests.helpers_truth import record


def ids(records: list) -> list[str]:
    return [found.job for found in records]


def test_pages_are_the_list_from_its_end(house: House):
    for number in range(7):  # some of one time: their order is by id then
        assert house.truth.create_job(record(f"j{number}", created_at_s=float(number // 2)))
    newest = ids(house.truth.jobs())[::-1]
    assert ids(house.truth.newest_jobs(100)) == newest
    pages, after = [], None
    while page := house.truth.newest_jobs(3, after=after):
        pages += ids(page)
        after = page[-1].job
    assert pages == newest
    assert house.truth.newest_jobs(3) == [house.truth.job(job) for job in newest[:3]]


def test_pages_of_some_states_leave_the_others_out(house: House):
    for number in range(6):
        assert house.truth.create_job(record(f"j{number}", created_at_s=float(number)))
    for job in ("j1", "j4"):
        house.truth.cancel(job)
    house.truth.pause("j2")
    of = house.truth.newest_jobs
    assert ids(of(10, states={JobState.CANCELLED})) == ["j4", "j1"]
    assert ids(of(1, states={JobState.CANCELLED}, after="j4")) == ["j1"]
    assert ids(of(10, states={JobState.PAUSED, JobState.CANCELLED})) == ["j4", "j2", "j1"]
    assert of(10, states={JobState.DONE}) == []


def test_a_page_after_an_unknown_job_is_refused(house: House):
    with pytest.raises(UnknownJob, match="nobody"):
        house.truth.newest_jobs(3, after="nobody")
    assert house.truth.newest_jobs(3) == []


def test_assembled_chapters_are_named(house: House):
    house.speak("j", 8)
    assert house.truth.assembled("j") == frozenset()
    house.truth.chapter_assembled("j", 1)
    assert house.truth.assembled("j") == {1}
    assert house.truth.assembled("nobody") == frozenset()


def test_jobs_are_counted_by_state(house: House):
    assert house.truth.job_states() == {}
    for number in range(4):
        assert house.truth.create_job(record(f"j{number}", created_at_s=float(number)))
    house.truth.cancel("j1")
    house.speak("spoken", 3)
    assert house.truth.job_states() == {JobState.PLANNING: 3, JobState.CANCELLED: 1, JobState.ASSEMBLING: 1}
