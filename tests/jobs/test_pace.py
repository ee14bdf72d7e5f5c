"""The pace of a job: from what was seen in the last minute, None where nothing was."""

from __future__ import annotations

from typing import Any

from jobs.pace import KEPT_JOBS, WINDOW_S, Paces
from jobs.state import JobState
from tests.helpers_truth import record


class Watch:
    def __init__(self) -> None:
        self.now_s = 0.0
        self.paces = Paces(clock=lambda: self.now_s)

    def see(self, at_s: float, done: int, *, job: str = "j", **fields: Any) -> tuple[float | None, float | None]:
        self.now_s = at_s
        counts = {"state": JobState.RUNNING, "total": 100, "done": done, "audio_s": 4.0 * done, **fields}
        found = self.paces.of(record(job).model_copy(update=counts))
        return found.times_real_time, found.eta_s


def test_the_first_look_knows_nothing():
    watch = Watch()
    assert watch.see(0, 10) == (None, None)
    assert watch.see(0.1, 10) == (None, None)


def test_speed_and_time_to_go_follow_from_two_looks():
    watch = Watch()
    watch.see(0, 10)
    assert watch.see(5, 20) == (8.0, 40.0)


def test_only_the_last_minute_counts():
    watch = Watch()
    watch.see(0, 0)
    for second in range(1, int(2 * WINDOW_S) + 1):  # one segment a second, then ten
        watch.see(second, second)
    times, _eta = watch.see(2 * WINDOW_S, int(2 * WINDOW_S))
    assert times == 4.0
    for second in range(int(2 * WINDOW_S), int(3 * WINDOW_S) + 1):
        times, _eta = watch.see(second, int(2 * WINDOW_S) + 10 * (second - int(2 * WINDOW_S)), total=10_000)
    assert times is not None
    assert 39 < times <= 40


def test_a_job_that_rests_or_has_ended_has_none():
    watch = Watch()
    watch.see(0, 10)
    for state in set(JobState) - {JobState.RUNNING, JobState.QUEUED}:
        assert watch.see(5, 20, state=state) == (None, None)
        assert watch.see(6, 20) == (None, None)  # what was before the rest compares no more
        watch.see(7, 30)


def test_segments_that_go_back_begin_it_anew():
    watch = Watch()
    watch.see(0, 50)
    assert watch.see(5, 40) == (None, None)
    assert watch.see(10, 45)[1] == 55.0


def test_so_many_jobs_are_remembered():
    watch = Watch()
    watch.see(0, 0, job="first")
    for number in range(KEPT_JOBS):
        watch.see(1, 0, job=f"j{number}")
    assert watch.see(10, 5, job="first") == (None, None)
    assert watch.see(10, 5, job=f"j{KEPT_JOBS - 1}")[1] is not None
