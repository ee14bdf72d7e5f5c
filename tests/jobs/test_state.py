"""Every pair of states against the tables, and the tables against what people were told of them."""

from __future__ import annotations

from itertools import pairwise, product

import pytest

from jobs.errors import IllegalMove
from jobs.state import (
    FINAL_JOB_STATES,
    JOB_MOVES,
    SEGMENT_MOVES,
    JobState,
    SegmentState,
    check_job_move,
    check_segment_move,
)

J, S = JobState, SegmentState


@pytest.mark.parametrize(("old", "new"), [*product(JobState, JobState)])
def test_every_move_of_a_job_is_allowed_or_refused_with_what_is_possible(old, new):
    if new in JOB_MOVES[old]:
        check_job_move(old, new)
        return
    with pytest.raises(IllegalMove, match=f"cannot go from {old} to {new}; from {old} it may go to ") as caught:
        check_job_move(old, new)
    for possible in JOB_MOVES[old] or {"nothing (it is final)"}:
        assert str(possible) in str(caught.value)


@pytest.mark.parametrize(("old", "new"), [*product(SegmentState, SegmentState)])
def test_every_move_of_a_segment_is_allowed_or_refused_with_what_is_possible(old, new):
    if new in SEGMENT_MOVES[old]:
        check_segment_move(old, new)
        return
    with pytest.raises(IllegalMove, match=f"cannot go from {old} to {new}; from {old} it may go to ") as caught:
        check_segment_move(old, new)
    for possible in SEGMENT_MOVES[old] or {"nothing (it is final)"}:
        assert str(possible) in str(caught.value)


def test_the_tables_name_every_state_and_no_state_goes_to_itself():
    assert set(JOB_MOVES) == set(JobState)
    assert set(SEGMENT_MOVES) == set(SegmentState)
    assert not [old for old, news in (*JOB_MOVES.items(), *SEGMENT_MOVES.items()) if old in news]


def test_what_the_page_says_of_jobs():
    way = (J.PLANNING, J.QUEUED, J.RUNNING, J.ASSEMBLING, J.DONE)
    for old, new in pairwise(way):
        check_job_move(old, new)
    check_job_move(J.ASSEMBLING, J.DONE_WITH_FAILURES)
    assert {old for old in JobState if J.PAUSED in JOB_MOVES[old]} == {J.PLANNING, J.QUEUED, J.RUNNING}
    for end in (J.CANCELLED, J.FAILED):
        assert {old for old in JobState if end in JOB_MOVES[old]} == set(JobState) - FINAL_JOB_STATES
    assert {state for state in FINAL_JOB_STATES if not JOB_MOVES[state]} == {J.DONE, J.CANCELLED}


def test_what_is_finished_only_ever_waits_again():
    assert SEGMENT_MOVES[S.SKIPPED] == frozenset()
    assert SEGMENT_MOVES[S.FAILED] == {S.WAITING}  # a retry
    assert SEGMENT_MOVES[S.DONE] == {S.WAITING, S.FAILED}  # a take that was lost; a chapter whose checks are against it
    assert {old for old in JobState if J.QUEUED in JOB_MOVES[old]} == {
        *(J.PLANNING, J.PAUSED, J.ASSEMBLING, J.DONE_WITH_FAILURES, J.FAILED)
    }


def test_every_state_can_be_reached():
    seen, edge = {J.PLANNING}, {J.PLANNING}
    while edge:
        edge = {new for old in edge for new in JOB_MOVES[old]} - seen
        seen |= edge
    assert seen == set(JobState)
