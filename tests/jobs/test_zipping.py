"""A zip that is made while it is sent."""

from __future__ import annotations

import io
import time
import zipfile

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.deliver import Finished
from jobs.errors import ObjectMissing
from jobs.stores import MemoryStore
from jobs.zipping import PIECE_BYTES, zipped

NAMES = st.text("abcäß日 -.", min_size=1, max_size=20).map(lambda name: f"x{name}")


def files_in(store: MemoryStore, contents: dict[str, bytes]) -> list[Finished]:
    for name, data in contents.items():
        store.put(f"jobs/j/{name}", data)
    return [Finished(name, f"jobs/j/{name}", len(data)) for name, data in contents.items()]


@given(st.dictionaries(NAMES, st.binary(max_size=300), max_size=5))
def test_what_comes_out_is_what_went_in(contents: dict[str, bytes]):
    store = MemoryStore()
    made = b"".join(zipped(store, files_in(store, contents), made_at_s=1.7e9))
    with zipfile.ZipFile(io.BytesIO(made)) as archive:
        assert archive.testzip() is None
        assert {name: archive.read(name) for name in archive.namelist()} == contents
        assert archive.namelist() == list(contents)
        assert {entry.date_time for entry in archive.infolist()} <= {time.gmtime(1.7e9)[:6]}


def test_large_files_come_in_pieces():
    store, data = MemoryStore(), bytes(range(256)) * 4096 * 3
    pieces = list(zipped(store, files_in(store, {"a": data}), made_at_s=0))
    assert max(map(len, pieces)) < 2 * PIECE_BYTES
    with zipfile.ZipFile(io.BytesIO(b"".join(pieces))) as archive:
        assert archive.read("a") == data


def test_a_file_that_is_gone_ends_it_without_a_table():
    store = MemoryStore()
    files = files_in(store, {"a": b"1", "b": b"2"})
    store.delete("jobs/j/b")
    pieces: list[bytes] = []
    with pytest.raises(ObjectMissing):
        pieces.extend(zipped(store, files, made_at_s=0))
    assert not zipfile.is_zipfile(io.BytesIO(b"".join(pieces)))
