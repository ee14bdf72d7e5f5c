"""Boards: a copy of a job's plan and results that is made anew when the job has changed, and not more often."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

import pytest

from jobs.board import OFTEN, Boards
from jobs.errors import ObjectMissing
from jobs.spec import JobRecord
from tests.helpers_jobs import BOOK, World


@dataclass
class Counting:
    """A truth that counts how often results are read; each time takes a second of the clock."""

    world: World
    now_s: float = 0.0
    reads: list[str] = field(default_factory=list)

    def results(self, job: str) -> Any:
        self.reads.append(job)
        self.now_s += 1.0
        return self.world.truth.results(job)

    def assembled(self, job: str) -> frozenset[int]:
        return self.world.truth.assembled(job)


@dataclass
class Look:
    world: World = field(default_factory=World)
    max_segments: int = 100

    def __post_init__(self) -> None:
        self.truth = Counting(self.world)
        self.boards = Boards(max_segments=self.max_segments, clock=lambda: self.truth.now_s)

    def at(self, record: JobRecord) -> Any:
        return self.boards.of(self.world.truth.job(record.job), self.truth, self.world.store)

    def speak(self, count: int) -> None:
        for task in self.world.truth.lease("w", count):
            self.world.speak(task)


def test_a_job_that_did_not_change_is_not_read_again():
    look = Look()
    record = look.world.submit()
    assert look.at(record) is look.at(record)
    assert look.at(record).results == {}
    assert len(look.truth.reads) == 1


def test_a_job_that_goes_on_is_read_again_but_not_all_the_time():
    look = Look()
    record = look.world.submit()
    look.speak(1)
    old = look.at(record)
    look.speak(1)
    assert look.at(record) is old
    look.truth.now_s += OFTEN
    new = look.at(record)
    assert (len(old.results), len(new.results)) == (1, 2)
    assert new.plan is old.plan


def test_the_end_of_a_job_and_its_new_beginning_are_seen_at_once():
    look = Look()
    record = look.world.submit()
    look.at(record)
    look.speak(2)
    look.world.truth.cancel(record.job)
    assert len(look.at(record).results) == 2
    look.world.truth.forget(record.job)
    assert look.world.submit().job == record.job
    assert look.at(record).results == look.world.truth.results(record.job)


def test_positions_chapters_and_cost_follow_from_it():
    look = Look()
    record = look.world.submit(BOOK)
    look.speak(3)
    board = look.at(record)
    assert board.firsts[0] == 0
    ends = [*board.firsts[1:], len(board.plan.segments)]
    lengths = [end - first for first, end in zip(board.firsts, ends, strict=True)]
    assert [chapter.segments for chapter in board.plan.chapters] == lengths
    assert board.start_s(0) == 0.0
    assert board.start_s(3) == board.known_s > 0
    assert board.start_s(4) is None
    assert board.run.device_s == sum(result.device_s for result in board.results.values())


def test_the_least_looked_at_goes_first():
    look = Look(max_segments=10)
    text = "Number {} is here. It is late. Good night."
    records = [look.world.submit(text.format(number), f"{number}.txt") for number in range(4)]
    for record in records[:3]:
        look.at(record)
    look.at(records[0])
    look.at(records[3])  # twelve segments are too many: 1 goes
    read = len(look.truth.reads)
    for record in (records[0], records[2], records[3]):
        look.at(record)
    assert len(look.truth.reads) == read
    look.at(records[1])
    assert len(look.truth.reads) == read + 1


def test_several_that_look_read_once():
    look = Look()
    record = look.world.submit()
    barrier = threading.Barrier(8)

    def one() -> None:
        barrier.wait()
        look.at(record)

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(look.truth.reads) == 1


def test_a_job_without_a_plan():
    look = Look()
    record = look.world.submit()
    look.world.store.delete(f"jobs/{record.job}/plan.jsonl")
    with pytest.raises(ObjectMissing):
        look.at(record)
