"""Handing out: whole files or none, clear errors, and a check that leaves no trace."""

from __future__ import annotations

import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import pytest

from jobs import deliver as handing_out
from jobs import keys
from jobs.deliver import check_folder, deliver, finished_objects, worth_showing
from jobs.errors import BadOutput, ObjectMissing
from jobs.stores import MemoryStore

FILES = {"book.m4b": b"b" * 3_000_000, "chapters/001-one.flac": b"one", "report.json": b"{}"}
INTERNAL = {"source": b"s", "plan.jsonl": b"p", "cover": b"c"}


class BrokenStore(MemoryStore):
    """A store whose objects break off after their first bytes, in one of several ways."""

    def __init__(self, broken: str, error: Exception) -> None:
        super().__init__()
        self._broken = broken
        self._error = error

    @contextmanager
    def open(self, key: str) -> Iterator[BinaryIO]:
        if not key.endswith(self._broken):
            with super().open(key) as source:
                yield source
            return
        error = self._error

        class Breaking(io.BytesIO):
            def read(self, size: int | None = -1) -> bytes:
                if self.tell():
                    raise error
                return super().read(10)

        yield Breaking(self.get(key))


def fill(store: MemoryStore) -> MemoryStore:
    for name, data in (FILES | INTERNAL).items():
        store.put(f"jobs/j/{name}", data)
    store.put("jobs/jj/book.m4b", b"another job's")
    return store


def tree(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_what_is_handed_out_are_the_finished_objects_of_this_job_in_order():
    assert finished_objects(fill(MemoryStore()), "j") == [f"jobs/j/{name}" for name in sorted(FILES)]
    assert finished_objects(fill(MemoryStore()), "nobody") == []


def test_files_are_whole_in_folders_of_their_own_and_replace_old_ones(tmp_path):
    out = tmp_path / "new" / "out"
    store = fill(MemoryStore())
    paths = deliver(store, "j", out)
    assert [path.relative_to(out).as_posix() for path in paths] == sorted(FILES)
    assert tree(out) == FILES
    (out / "report.json").write_bytes(b"old")
    (out / "mine.txt").write_bytes(b"mine")
    deliver(store, "j", out)
    assert tree(out) == FILES | {"mine.txt": b"mine"}


def test_a_name_may_be_as_long_as_the_disk_takes(tmp_path):
    store = MemoryStore()
    name = keys.chapter_object("j", 0, "\U00020000" * 60, "flac")
    store.put(name, b"x")
    assert [path.name for path in deliver(store, "j", tmp_path)] == [name.rpartition("/")[2]]
    assert len(name.rpartition("/")[2].encode()) > 240


def test_files_have_the_mode_that_the_user_s_mask_gives(tmp_path):
    old = os.umask(0o027)
    try:
        (path, *_) = deliver(fill(MemoryStore()), "j", tmp_path)
        assert os.umask(0o027) == 0o027
    finally:
        os.umask(old)
    assert path.stat().st_mode & 0o777 == 0o640


def test_an_object_that_vanishes_midway_leaves_no_part_and_the_old_file(tmp_path):
    store = fill(BrokenStore("report.json", ObjectMissing("no object")))
    (tmp_path / "report.json").write_bytes(b"old and whole")
    with pytest.raises(ObjectMissing):
        deliver(store, "j", tmp_path)
    whole = {name: data for name, data in FILES.items() if name != "report.json"}
    assert tree(tmp_path) == whole | {"report.json": b"old and whole"}


def test_an_object_that_is_gone_before_it_is_opened(tmp_path, monkeypatch):
    store = fill(MemoryStore())
    names = finished_objects(store, "j")
    store.delete("jobs/j/book.m4b")
    monkeypatch.setattr(handing_out, "finished_objects", lambda *_: names)
    with pytest.raises(ObjectMissing):
        deliver(store, "j", tmp_path)
    assert tree(tmp_path) == {}


@pytest.mark.parametrize("code", [errno.ENOSPC, errno.EDQUOT])
def test_a_full_disk_is_told_with_what_to_do_and_leaves_no_part(tmp_path, code):
    store = fill(BrokenStore("001-one.flac", OSError(code, os.strerror(code))))
    with pytest.raises(BadOutput, match=f"cannot write to .*: {os.strerror(code)}; .*--out, or free some space"):
        deliver(store, "j", tmp_path)
    assert tree(tmp_path) == {"book.m4b": FILES["book.m4b"]}


def test_a_folder_in_the_place_of_a_file_is_told(tmp_path):
    (tmp_path / "book.m4b" / "inside").mkdir(parents=True)
    with pytest.raises(BadOutput, match="cannot write to"):
        deliver(fill(MemoryStore()), "j", tmp_path)
    assert tree(tmp_path) == {}


def test_checking_a_folder_leaves_no_trace(tmp_path):
    check_folder(tmp_path / "a" / "b" / "c")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "there").mkdir()
    (tmp_path / "there" / "file").write_text("x")
    check_folder(tmp_path / "there")
    check_folder(tmp_path / "there" / "below")
    assert tree(tmp_path) == {"there/file": b"x"}
    assert [path.name for path in (tmp_path / "there").iterdir()] == ["file"]


def test_a_file_or_a_dead_link_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("x")
    (tmp_path / "dead").symlink_to(tmp_path / "nowhere")
    for bad in ("file", "file/below", "file/far/below", "dead"):
        with pytest.raises(BadOutput, match=r"cannot write to .*choose another folder"):
            check_folder(tmp_path / bad)
    assert tree(tmp_path) == {"file": b"x"}


def test_a_folder_that_cannot_be_made_leaves_none_of_its_parents(tmp_path, monkeypatch):
    make = Path.mkdir

    def refuse(self: Path, *arguments: object, **named: object) -> None:
        if self.name == "third":
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(self))
        make(self, *arguments, **named)

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(BadOutput, match=r"third: Permission denied"):
        check_folder(tmp_path / "first" / "second" / "third")
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_takes_no_byte_is_found_before_anything_is_queued(tmp_path, monkeypatch):
    def full(**_: object) -> BinaryIO:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(handing_out.tempfile, "TemporaryFile", full)
    with pytest.raises(BadOutput, match="No space left"):
        check_folder(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_of_a_dataset_people_see_one_file() -> None:
    dataset = ["datasets/nemo/audio/a.flac", "datasets/nemo/dataset.json", "datasets/nemo/manifest.json"]
    others = ["book.m4b", "chapters/001-dataset.flac", "report.json"]
    for folder in ("jobs/j/", "/home/me/datasets/nemo/", "file:///s/jobs/j/"):
        names = [folder + name for name in dataset + others]
        assert worth_showing(names) == [folder + name for name in ["datasets/nemo/dataset.json", *others]]
        assert worth_showing(names[3:]) == names[3:]
