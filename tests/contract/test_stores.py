"""What every store promises: one suite over the folder and the memory store."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

from jobs.errors import BadOption, ObjectMissing, StoreError
from jobs.protocols import Store
from jobs.stores import FolderStore, MemoryStore, open_store

BAD_KEYS = [
    "",
    "/a",
    "a/",
    "a//b",
    "../a",
    "a/../b",
    "a/./b",
    ".hidden",
    "a/.part-x",
    "a\0b",
    "a\\b",
    "x" * 256,
    "\ud800",
]


@pytest.fixture(params=["folder", "memory"])
def store(request, tmp_path) -> Store:
    return FolderStore(tmp_path / "store") if request.param == "folder" else MemoryStore()


def test_what_was_put_is_read_back(store):
    store.put("takes/ab/abcd.flac", b"one")
    assert store.get("takes/ab/abcd.flac") == b"one"
    assert store.exists("takes/ab/abcd.flac")
    assert store.size_bytes("takes/ab/abcd.flac") == 3
    with store.open("takes/ab/abcd.flac") as file:
        file.seek(1)
        assert file.read() == b"ne"


def test_an_empty_object_is_an_object(store):
    store.put("empty", b"")
    assert store.exists("empty")
    assert store.get("empty") == b""


def test_putting_again_replaces(store):
    store.put("a", b"a long first object")
    store.put("a", b"second")
    assert store.get("a") == b"second"


@pytest.mark.parametrize("key", ["no/such", "takes"])
def test_a_missing_object_is_an_error_that_names_it(store, key):
    store.put("takes/ab/x", b"1")
    assert not store.exists(key)
    for read in (store.get, store.size_bytes):
        with pytest.raises(ObjectMissing, match=key):
            read(key)
    with pytest.raises(ObjectMissing, match=key), store.open(key):
        pass


def test_delete_removes_and_may_be_repeated(store):
    store.put("a/b/c", b"1")
    store.put("a/d", b"2")
    store.delete("a/b/c")
    store.delete("a/b/c")
    assert list(store.list("")) == ["a/d"]
    store.put("a/b/c", b"3")
    assert store.get("a/b/c") == b"3"


def test_list_gives_keys_under_a_prefix_in_text_order(store):
    keys = ["a/b", "a/b-c/d", "a/b/c".replace("b/", "e/"), "a-b", "b", "a/bc", "a/b!/x", "ä/ö"]
    for key in keys:
        store.put(key, b"")
    assert list(store.list("")) == sorted(keys)
    assert list(store.list("a/b")) == sorted(key for key in keys if key.startswith("a/b"))
    assert list(store.list("a/e/")) == ["a/e/c"]
    assert list(store.list("nothing/here")) == []


@pytest.mark.parametrize("prefix", ["../", "a/../../b", "/etc/"])
def test_list_does_not_leave_the_store(store, prefix):
    with pytest.raises(StoreError, match="not an object key"):
        list(store.list(prefix))


@pytest.mark.parametrize("key", BAD_KEYS)
def test_bad_keys_are_refused_everywhere(store, key):
    def write():
        with store.writer(key):
            pass

    def read():
        with store.open(key):
            pass

    calls = [lambda: store.put(key, b""), write, read]
    calls += [lambda call=call: call(key) for call in (store.get, store.exists, store.size_bytes, store.delete)]
    for call in calls:
        with pytest.raises(StoreError, match="not an object key"):
            call()
    assert list(store.list("")) == []


def test_writer_makes_the_object_only_when_it_is_left(store):
    with store.writer("book.m4b") as path:
        path.write_bytes(b"half")
        assert not store.exists("book.m4b")
        assert list(store.list("")) == []
        path.write_bytes(b"whole")
    assert store.get("book.m4b") == b"whole"
    assert not path.exists()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_writer_leaves_nothing_after_an_error(store, error):
    store.put("kept", b"old")
    seen = []

    def fail_half_way():
        with store.writer("kept") as path:
            seen.append(path)
            path.write_bytes(b"half")
            raise error

    with pytest.raises(error):
        fail_half_way()
    assert store.get("kept") == b"old"
    assert list(store.list("")) == ["kept"]
    assert not seen[0].exists()


def test_a_reader_keeps_the_object_it_opened(store):
    store.put("a", b"first")
    with store.open("a") as file:
        store.put("a", b"second")
        assert file.read() == b"first"


def test_readers_never_see_half_an_object(store):
    bodies = [bytes([number]) * size for number, size in enumerate((1, 70_000, 300_000))]
    store.put("a", bodies[0])
    stop = threading.Event()
    seen: set[bytes] = set()
    wrong: list[int] = []

    def read():
        while not stop.is_set():
            body = store.get("a")
            if body in bodies:
                seen.add(body)
            else:
                wrong.append(len(body))

    def write(body):
        for _ in range(25):
            store.put("a", body)

    readers = [threading.Thread(target=read) for _ in range(2)]
    writers = [threading.Thread(target=write, args=(body,)) for body in bodies[1:]]
    for thread in readers + writers:
        thread.start()
    for thread in writers:
        thread.join()
    stop.set()
    for thread in readers:
        thread.join()
    assert wrong == []
    assert seen
    assert store.get("a") in bodies[1:]
    assert list(store.list("")) == ["a"]


def test_writing_and_deleting_at_once_never_fails(store):
    errors: list[BaseException] = []

    def work(number):
        try:
            for _ in range(40):
                store.put(f"jobs/x/{number}", b"1")
                store.delete(f"jobs/x/{number}")
        except StoreError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    assert list(store.list("")) == []


def test_sweep_keeps_objects(store):
    store.put("a", b"1")
    assert store.sweep_unfinished(older_than_s=0.0) == 0
    assert store.get("a") == b"1"


def test_open_store_opens_what_the_url_names(tmp_path: Path):
    folder = open_store(f"file://{tmp_path}/a b%20c")
    folder.put("x", b"1")
    assert (tmp_path / "a b%20c" / "x").read_bytes() == b"1"
    assert open_store(folder.url).get("x") == b"1"
    open_store("memory://shared").put("x", b"2")
    assert open_store("memory://shared").get("x") == b"2"
    assert not open_store("memory://other").exists("x")


def test_opening_a_folder_makes_nothing(tmp_path: Path):
    store = open_store(f"file://{tmp_path}/new")
    assert not store.exists("x")
    assert list(store.list("")) == []
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("url", "text"),
    [
        ("s3://bucket/prefix", "not part of this version"),
        ("file://relative/folder", "absolute"),
        ("file://", "absolute"),
        ("/a/plain/path", "allowed are file"),
        ("memory://", "allowed are file"),
        ("ftp://x", "allowed are file"),
        ("", "allowed are file"),
    ],
)
def test_open_store_refuses_what_it_does_not_have(url, text):
    with pytest.raises(BadOption, match=text):
        open_store(url)
