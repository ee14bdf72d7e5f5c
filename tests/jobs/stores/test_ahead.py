"""Reading ahead gives what the store has, in any order of asking, and asks for no more than it may."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.errors import ObjectMissing
from jobs.stores import FolderStore, MemoryStore
from jobs.stores.ahead import AT_ONCE, SMALL_BYTES, ReadAhead, reading_ahead, side_by_side

KEYS = [f"takes/{number:02d}" for number in range(40)]


class Far(MemoryStore):
    """Counts what is read, and how much at one time."""

    def __init__(self) -> None:
        super().__init__()
        self.url = "s3://far"
        self.reads: Counter[str] = Counter()
        self.most = self._now = 0
        self._counting = threading.Lock()

    def get(self, key: str) -> bytes:
        with self._counting:
            self.reads[key] += 1
            self._now += 1
            self.most = max(self.most, self._now)
        try:
            return super().get(key)
        finally:
            with self._counting:
                self._now -= 1


def filled(size: int = 10) -> Far:
    store = Far()
    for key in KEYS:
        store.put(key, key.encode() * size)
    return store


def test_each_small_object_is_read_once_however_often_it_is_asked_for() -> None:
    store = filled()
    with reading_ahead(store, KEYS) as near:
        assert [near.get(key) for key in KEYS * 3] == [key.encode() * 10 for key in KEYS] * 3
    assert set(store.reads.values()) == {1}
    assert 1 <= store.most <= AT_ONCE


def test_large_ones_are_not_kept() -> None:
    store = filled(SMALL_BYTES)
    with reading_ahead(store, KEYS[:3]) as near:
        assert near.get(KEYS[0]) == near.get(KEYS[0]) == KEYS[0].encode() * SMALL_BYTES
    assert store.reads[KEYS[0]] == 2


@given(st.lists(st.sampled_from([*KEYS, "missing", "other"]), max_size=60))
def test_in_any_order_it_is_what_the_store_has(asked: list[str]) -> None:
    store = filled()
    store.put("other", b"other")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        near = ReadAhead(store, [*KEYS, "missing"], pool)
        for key in asked:
            if key == "missing":
                with pytest.raises(ObjectMissing, match="missing"):
                    near.get(key)
            else:
                assert near.get(key) == store.get(key)
        near.stop()


def test_what_is_written_meanwhile_is_read_as_it_is_then() -> None:
    store = filled()
    with reading_ahead(store, KEYS) as near:
        near.get(KEYS[0])
        near.put(KEYS[0], b"new")
        near.put(KEYS[1], b"newer")
        with near.writer(KEYS[2]) as path:
            path.write_bytes(b"newest")
        near.delete(KEYS[3])
        assert [near.get(key) for key in KEYS[:3]] == [b"new", b"newer", b"newest"]
        with pytest.raises(ObjectMissing):
            near.get(KEYS[3])
        with near.open(KEYS[4]) as file:
            assert file.read() == store.get(KEYS[4])


def test_a_folder_is_left_as_it_is(tmp_path: Path) -> None:
    store = FolderStore(tmp_path)
    with reading_ahead(store, KEYS) as near:
        assert near is store


def test_answers_come_in_the_order_of_the_questions_and_errors_at_their_turn() -> None:
    def ask(number: int) -> int:
        if number == 30:
            raise ObjectMissing("30")
        return number * number

    answers: list[int] = []
    with pytest.raises(ObjectMissing, match="30"):
        answers.extend(side_by_side(ask, range(100)))
    assert answers == [number * number for number in range(30)]
    assert list(side_by_side(ask, [])) == []
