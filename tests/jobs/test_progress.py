"""Progress: only what was made since the start counts, and nothing is promised from nothing."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.progress import Counters, clock, progress
from jobs.state import JobState
from tests.helpers_truth import record


def at(done: int, *, failed: int = 0, audio_s: float = 0.0, total: int = 10) -> Counters:
    return Counters(JobState.RUNNING, total, done, failed, audio_s)


def test_speed_and_time_to_go():
    seen = progress(at(2, audio_s=100.0), at(5, failed=1, audio_s=160.0), 8.0)
    assert (seen.made_audio_s, seen.times_real_time) == (60.0, 7.5)
    assert seen.eta_s == 8.0  # four segments in eight seconds, four are left
    assert seen.counters.finished == 6


@pytest.mark.parametrize(
    ("start", "now", "elapsed_s"),
    [
        (at(2), at(2), 5.0),  # nothing made
        (at(2), at(5, audio_s=9.0), 0.0),  # no time
        (at(2), at(5), -1.0),  # a clock that went back
        (at(5, audio_s=9.0), at(2), 5.0),  # a retry put segments back
    ],
)
def test_nothing_is_promised_from_nothing(start, now, elapsed_s):
    seen = progress(start, now, elapsed_s)
    assert (seen.times_real_time, seen.eta_s) == (None, None)
    assert seen.made_audio_s >= 0


def test_a_finished_job_has_nothing_to_go():
    assert progress(at(0), at(8, failed=2, audio_s=1.0), 3.0).eta_s == 0.0


@given(st.integers(0, 50), st.integers(0, 50), st.integers(1, 50), st.floats(0.01, 1e5))
def test_the_same_pace_makes_the_rest_in_the_time_told(before, made, left, elapsed_s):
    total = before + made + left
    seen = progress(at(before, total=total), at(before + made, audio_s=made, total=total), elapsed_s)
    if made:
        assert seen.eta_s == pytest.approx(left * elapsed_s / made)
        assert seen.times_real_time == pytest.approx(made / elapsed_s)
    else:
        assert seen.eta_s is None


def test_counters_of_a_record():
    taken = record("j").model_copy(update={"total": 7, "done": 3, "failed": 2, "audio_s": 1.5})
    assert Counters.of(taken) == Counters(JobState.PLANNING, 7, 3, 2, 1.5)
    assert Counters.of(taken).finished == 5


@pytest.mark.parametrize(
    ("seconds", "shown"),
    [
        (-3, "0:00"),
        (0.4, "0:00"),
        (59.6, "1:00"),
        (61, "1:01"),
        (3599.6, "1:00:00"),
        (3723, "1:02:03"),
        (36e4, "100:00:00"),
    ],
)
def test_the_clock(seconds, shown):
    assert clock(seconds) == shown
