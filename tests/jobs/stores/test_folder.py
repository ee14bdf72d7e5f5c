"""What only a folder can get wrong: full disks, missing rights, dead writers."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from jobs.errors import StoreError
from jobs.stores import FolderStore
from tests.jobs.stores.small_disk import small_disk

_ = small_disk  # the fixture


def files_under(root: Path) -> list[Path]:
    return [path for path in root.rglob("*") if path.is_file()]


def test_a_full_disk_is_told_and_leaves_nothing(small_disk):
    store = FolderStore(small_disk / "store")
    store.put("kept", b"x" * 1000)
    with pytest.raises(StoreError, match=r"takes/ab/x\.flac.*No space left.*bytes free.*free some space") as caught:
        store.put("takes/ab/x.flac", os.urandom(4 << 20))
    assert caught.value.__cause__ is not None
    assert files_under(small_disk) == [small_disk / "store" / "kept"]
    store.put("takes/ab/x.flac", b"fits")
    assert store.get("takes/ab/x.flac") == b"fits"


def test_a_replaced_object_survives_a_full_disk(small_disk):
    store = FolderStore(small_disk)
    store.put("a", b"old")
    with pytest.raises(StoreError, match="No space left"):
        store.put("a", os.urandom(4 << 20))
    assert store.get("a") == b"old"


def test_a_folder_that_is_a_file_is_told(tmp_path):
    (tmp_path / "store").write_text("in the way")
    store = FolderStore(tmp_path / "store")
    with pytest.raises(StoreError, match=r"cannot write .*store/a"):
        store.put("a", b"1")
    assert not store.exists("a")
    assert (tmp_path / "store").read_text() == "in the way"


@pytest.mark.skipif(os.name == "nt", reason="POSIX rights")
def test_missing_rights_are_told_with_a_way_out():
    script = (
        "import os, sys\nfrom pathlib import Path\n"
        "from jobs.errors import StoreError\nfrom jobs.stores import FolderStore\n"
        "if os.geteuid() == 0: os.setuid(65534)\n"
        "try: FolderStore(Path(sys.argv[1])).put('a', b'1')\n"
        "except StoreError as error: sys.stdout.write(str(error))\n"
    )
    root = Path(tempfile.mkdtemp())  # not tmp_path: into that another user could not even look
    root.chmod(0o555)
    try:
        run = subprocess.run([sys.executable, "-c", script, str(root)], capture_output=True, text=True, check=True)
        assert "Permission denied" in run.stdout
        assert "right to write" in run.stdout
        assert list(root.iterdir()) == []
    finally:
        shutil.rmtree(root)


def test_objects_get_the_rights_of_the_umask(tmp_path):
    old = os.umask(0o027)
    try:
        FolderStore(tmp_path).put("a", b"1")
    finally:
        os.umask(old)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o640


def test_a_killed_writer_leaves_only_what_the_sweep_removes(tmp_path):
    script = (
        "import os, sys\nfrom pathlib import Path\nfrom jobs.stores import FolderStore\n"
        "with FolderStore(Path(sys.argv[1])).writer('jobs/x/book.m4b') as path:\n"
        "    path.write_bytes(b'half'); os.kill(os.getpid(), 9)\n"
    )
    run = subprocess.run([sys.executable, "-c", script, str(tmp_path)], check=False)
    assert run.returncode == -9
    store = FolderStore(tmp_path)
    assert len(files_under(tmp_path)) == 1
    assert not store.exists("jobs/x/book.m4b")
    assert list(store.list("")) == []
    assert store.sweep_unfinished(older_than_s=3600.0) == 0
    time.sleep(0.02)  # the clock of file times is coarser than time.time()
    assert store.sweep_unfinished(older_than_s=0.0) == 1
    assert files_under(tmp_path) == []


def test_the_sweep_spares_living_writers_here_and_young_ones_elsewhere(tmp_path):
    store = FolderStore(tmp_path)
    other = tmp_path / f".part-not-{socket.gethostname()[:5]}-1-00"
    other.write_bytes(b"half")
    with store.writer("a") as path:
        path.write_bytes(b"half")
        os.utime(path, (0, 0))
        assert store.sweep_unfinished(older_than_s=60.0) == 0
        os.utime(other, (0, 0))
        assert store.sweep_unfinished(older_than_s=60.0) == 1
    assert store.get("a") == b"half"
    assert not other.exists()


def test_delete_takes_empty_folders_but_never_the_root(tmp_path):
    root = tmp_path / "store"
    store = FolderStore(root)
    store.put("jobs/x/a", b"1")
    store.delete("jobs/x/a")
    assert root.is_dir()
    assert list(root.iterdir()) == []
