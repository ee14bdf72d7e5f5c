"""Files of batches: kept whole or not at all, listed, and gone when their time is up."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs import keys
from jobs.batches.files import LOST_AFTER_S, Files
from jobs.batches.ids import BATCH, FILE, derived, is_id, made_at_s, new_id, request_id
from jobs.batches.records import DEFAULT_KEPT_S, Purpose
from jobs.errors import TooLarge, UnknownFile
from jobs.stores import FolderStore
from tests.jobs.batches.office import NOW_S, Office, request


def keep(office: Office, data: bytes, **options: int) -> str:
    return office.desk.files.keep(io.BytesIO(data), filename="a.jsonl", **options).id


def test_a_file_is_kept_as_it_is(office: Office) -> None:
    data = bytes(range(256)) * 5000
    record = office.desk.files.keep(io.BytesIO(data), filename="ä b.jsonl")
    assert (record.bytes, record.filename, record.purpose) == (len(data), "ä b.jsonl", Purpose.BATCH)
    assert (record.created_at, record.expires_at) == (NOW_S, NOW_S + DEFAULT_KEPT_S)
    assert office.desk.files.get(record.id) == record
    with office.desk.files.open(record.id) as file:
        assert file.read() == data


def test_a_file_over_the_limit_leaves_nothing(tmp_path: Path) -> None:
    files = Files(FolderStore(tmp_path))
    assert files.keep(io.BytesIO(b"x" * 1000), filename="a", limit_bytes=1000).bytes == 1000
    before = sorted(path.name for path in tmp_path.rglob("*") if path.is_file())
    with pytest.raises(TooLarge, match="1000 bytes"):
        files.keep(io.BytesIO(b"x" * 1001), filename="a", limit_bytes=1000)
    assert sorted(path.name for path in tmp_path.rglob("*") if path.is_file()) == before


def test_files_are_listed_oldest_first(office: Office) -> None:
    made = []
    for _ in range(3):
        made.append(keep(office, b"x"))
        office.now_s += 1
    assert [record.id for record in office.desk.files.all()] == made


@pytest.mark.parametrize("name", ["", "file-1", "file-../../jobs", "batch_" + "0" * 28, "file-" + "0" * 28, "x/../y"])
def test_what_is_no_file(office: Office, name: str) -> None:
    for ask in (office.desk.files.get, office.desk.files.delete, office.desk.files.open):
        with pytest.raises(UnknownFile, match="no file"):
            ask(name)


def test_a_deleted_file_is_gone(office: Office) -> None:
    file, other = keep(office, b"x"), keep(office, b"y")
    office.desk.files.delete(file)
    assert [record.id for record in office.desk.files.all()] == [other]
    assert not office.store.exists(keys.file_content(file))
    with pytest.raises(UnknownFile):
        office.desk.files.delete(file)


def test_a_file_whose_time_is_up_is_gone_at_once_and_cleared_away_later(office: Office) -> None:
    short, long = keep(office, b"x", kept_s=3600), keep(office, b"y")
    office.now_s += 3599
    assert office.desk.files.expire() == 0
    office.now_s += 1
    with pytest.raises(UnknownFile):
        office.desk.files.open(short)
    assert [record.id for record in office.desk.files.all()] == [long]
    assert office.store.exists(keys.file_content(short))
    assert office.desk.files.expire() == 1
    assert list(office.store.list(keys.FILES)) == [keys.file_content(long), keys.file_record(long)]


def test_content_without_a_record_is_no_file_and_goes_in_the_end(office: Office) -> None:
    file = keep(office, b"x")
    office.store.delete(keys.file_record(file))
    assert office.desk.files.all() == []
    assert office.desk.files.expire() == 0
    office.now_s += LOST_AFTER_S + 1
    assert office.desk.files.expire() == 1
    assert list(office.store.list(keys.FILES)) == []


def test_with_the_output_goes_the_audio_that_was_made_for_it(office: Office) -> None:
    batch = office.begin(request("a", response_format="aac"), request("b", voice="nobody"))
    office.work()
    office.clerk.round()
    end = office.now(batch).end
    assert end is not None
    office.desk.files.delete(end.error_file_id or "")
    assert office.store.exists(keys.batch_audio(batch, 1, "aac"))
    office.desk.files.delete(end.output_file_id or "")
    assert not office.store.exists(keys.batch_audio(batch, 1, "aac"))


@given(st.lists(st.integers(min_value=0, max_value=2**44).map(lambda ms: ms / 1000), min_size=2, max_size=20))
def test_names_sort_by_time(times: list[float]) -> None:
    names = [new_id(FILE, time_s) for time_s in times]
    assert len(set(names)) == len(names)
    assert [made_at_s(name) for name in sorted(names)] == pytest.approx(sorted(times), abs=0.001)
    assert all(is_id(FILE, name) and not is_id(BATCH, name) for name in names)


@given(st.text(max_size=60))
def test_other_texts_are_no_names(text: str) -> None:
    assert not is_id(FILE, text)
    assert not is_id(FILE, FILE + text) or len(text) == 28


def test_derived_names_are_the_same_again_and_differ_from_each_other() -> None:
    one, two = (new_id(BATCH, NOW_S) for _ in range(2))
    names = {derived(FILE, batch, part) for batch in (one, two) for part in ("output", "errors") for _ in range(2)}
    assert len(names) == 4
    assert all(is_id(FILE, name) and made_at_s(name) == NOW_S for name in names)
    assert len({request_id(one, line) for line in range(1000)}) == 1000
