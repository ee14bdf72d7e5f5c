"""What is kept of a batch goes some time after its end, with all that belongs to it."""

from __future__ import annotations

import pytest

from jobs import keys
from jobs.batches.batches import Batches
from jobs.batches.clerk import CLEAR_EVERY_S
from jobs.batches.records import RECORDS_KEPT_S, Status
from jobs.errors import StoreError, UnknownBatch
from tests.jobs.batches.office import NOW_S, Office, request


def test_a_batch_is_forgotten_after_its_files(office: Office) -> None:
    lines = [request("a", response_format="pcm"), request("b", voice="nobody")]
    old, waiting = office.begin(*lines), office.begin(*lines, window="30d")
    office.work()
    office.clerk.round()
    office.store.delete(keys.batch_object(waiting, "end.json"))  # as if its clerk had been killed just before
    office.store.put(keys.open_batch(waiting), b"")
    office.now_s += 10
    young = office.begin(*lines)
    office.work()
    office.clerk.round()
    office.now_s = NOW_S + RECORDS_KEPT_S - 1
    assert office.batches.expire() == 0
    assert office.now(old).status is Status.COMPLETED
    office.now_s += 1
    assert office.batches.expire() == 1
    listed, _ = office.batches.page(after=None, limit=10)
    assert {batch.record.id for batch in listed} == {waiting, young}
    with pytest.raises(UnknownBatch):
        office.now(old)
    assert not [key for key in office.store.list("") if old in key and not key.startswith("jobs/")]
    office.clerk.round()
    assert office.now(waiting).status is Status.COMPLETED
    office.now_s += RECORDS_KEPT_S + CLEAR_EVERY_S
    office.clerk.round()
    assert office.batches.page(after=None, limit=10)[0] == []
    assert [key for key in office.store.list("") if not key.startswith(("jobs/", "takes/"))] == []


def test_a_batch_that_was_forgotten_half_goes_too(office: Office) -> None:
    batch = office.begin(request("a"))
    office.work()
    office.clerk.round()
    office.now_s += RECORDS_KEPT_S
    deleted: list[str] = []

    def killed(name: str, arguments: tuple[object, ...]) -> None:
        if name == "delete":
            deleted.append(str(arguments[0]))
            if len(deleted) == 3:
                raise StoreError("gone")

    with pytest.raises(StoreError):
        Batches(office.other_clerk(killed).desk).expire()
    assert deleted[0] == keys.batch_object(batch, "batch.json")
    assert list(office.store.list(keys.BATCHES))
    assert office.batches.page(after=None, limit=10) == ([], False)
    assert office.batches.expire() == 1
    assert list(office.store.list(keys.BATCHES)) == []
