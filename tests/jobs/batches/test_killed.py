"""A server that dies anywhere, and others that work beside it: the same output, no line twice, nothing left over."""

from __future__ import annotations

from typing import Any

import pytest

from jobs import keys
from jobs.batches import ids
from jobs.batches.records import Status
from tests.jobs.batches.office import Office, request

WRITES = ("put", "writer", "delete")


@pytest.fixture(autouse=True)
def same_names(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of audio name their batch: two runs are the same only if it has the same name."""
    monkeypatch.setattr(ids.secrets, "token_hex", lambda size: "7" * 2 * size)


class Killed(BaseException):
    """The process is gone: nothing catches this."""


def lines() -> list[dict[str, Any]]:
    """Three jobs, of which one has its audio converted, and two have a line that may not be spoken."""
    formats = ("wav", "aac", "flac")
    good = [request(f"line {n}", f"{'abcde'[n]}.", response_format=formats[n % 3]) for n in range(5)]
    return [*good[:1], request("bad", voice="nobody"), *good[1:]]


class Death:
    """Kills before the `nth` write."""

    def __init__(self, nth: int) -> None:
        self.left = nth

    def __call__(self, name: str, _arguments: tuple[Any, ...]) -> None:
        if name in WRITES:
            self.left -= 1
            if self.left < 0:
                raise Killed


def result(office: Office, batch: str) -> tuple[object, ...]:
    """What a batch came to."""
    now = office.now(batch)
    assert now.end is not None
    both = [*office.outputs(batch), *office.lines(now.end.error_file_id)]
    return now.status, now.counts, now.end.output_file_id, now.end.error_file_id, both


def undisturbed(*, cancel: bool) -> tuple[object, ...]:
    office = Office()
    batch = office.begin(*lines())
    finish(office, batch, cancel=cancel)
    return result(office, batch)


def finish(office: Office, batch: str, *, cancel: bool) -> None:
    """Speak, and let the clerk end it."""
    speak(office, batch, cancel=cancel)
    office.clerk.round()


def speak(office: Office, batch: str, *, cancel: bool) -> None:
    """Speak all, or a line of each job and then stop."""
    if not cancel:
        office.work()
        return
    for task in office.lease():
        if task.segment < 1:
            office.speak_one(task)
    office.batches.cancel(batch)


def check_nothing_twice(office: Office, batch: str) -> None:
    """Two files came of it, both on record, and every line is in one of them."""
    listed = [record for record in office.desk.files.all() if record.purpose == "batch_output"]
    end = office.now(batch).end
    assert end is not None
    assert {record.id for record in listed} == {end.output_file_id, end.error_file_id}
    ids = [line["custom_id"] for record in listed for line in office.lines(record.id)]
    assert sorted(ids) == sorted(line["custom_id"] for line in lines())
    contents = [key for key in office.store.list(keys.FILES) if key.endswith("/content")]
    assert len(contents) == 3
    assert list(office.store.list(keys.OPEN_BATCHES)) == []


def killed_at(office: Office, nth: int) -> bool:
    """A clerk does a round and dies at its nth write; False: there were not so many."""
    try:
        office.other_clerk(Death(nth)).round()
    except Killed:
        return True
    return False


@pytest.mark.parametrize("cancel", [False, True])
def test_killed_while_the_batch_begins(cancel: bool) -> None:
    wanted, nth, killed = undisturbed(cancel=cancel), 0, True
    while killed:
        office = Office()
        batch = office.begin(*lines(), rounds=0)
        killed = killed_at(office, nth)
        office.clerk.round()
        assert office.now(batch).status is Status.IN_PROGRESS
        assert len(office.truth.jobs()) == len(office.jobs(batch))
        finish(office, batch, cancel=cancel)
        assert result(office, batch) == wanted
        check_nothing_twice(office, batch)
        nth += 1
    assert nth > 8


@pytest.mark.parametrize("cancel", [False, True])
def test_killed_while_the_batch_ends(cancel: bool) -> None:
    wanted, nth, killed = undisturbed(cancel=cancel), 0, True
    while killed:
        office = Office()
        batch = office.begin(*lines())
        speak(office, batch, cancel=cancel)
        killed = killed_at(office, nth)
        office.clerk.round()
        assert result(office, batch) == wanted
        check_nothing_twice(office, batch)
        nth += 1
    assert nth > 6


def test_two_servers_side_by_side_come_to_the_same() -> None:
    """At every write of one, another does a whole round."""
    wanted = undisturbed(cancel=False)
    office = Office()
    batch = office.begin(*lines(), rounds=0)

    def other_first(name: str, _arguments: tuple[Any, ...]) -> None:
        if name in WRITES:
            office.clerk.round()

    office.other_clerk(other_first).round()
    assert office.now(batch).status is Status.IN_PROGRESS
    office.work()
    office.other_clerk(other_first).round()
    assert result(office, batch) == wanted
    check_nothing_twice(office, batch)
