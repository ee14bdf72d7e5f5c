"""The embedded node's place: socket length, owner, locks, and the server's command line."""

from __future__ import annotations

import fcntl
import os
import stat
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from jobs.embedded import MAX_SOCKET_PATH_BYTES, Embedded, lock_file
from jobs.errors import BadOutput

HOLD = """
import fcntl, sys
with open(sys.argv[1], "a") as file:
    fcntl.flock(file, fcntl.LOCK_EX)
    print("held", flush=True)
    sys.stdin.read()
"""


def not_ours(folder: Path) -> None:
    """Make a folder unusable: somebody else's where we may give it away, else read-only."""
    if os.getuid() == 0:
        os.chown(folder, 12345, 12345)
    else:
        folder.chmod(0o500)


def test_the_socket_lies_in_the_data_folder(tmp_path):
    place = Embedded(tmp_path)
    assert place.socket == tmp_path / "broker" / "valkey.sock"
    assert place.url == f"unix://{place.socket}"


@pytest.mark.parametrize("letter", ["d", "ü"])
def test_a_socket_path_is_never_too_long(letter, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", "/" + "t" * 90)
    inside, outside = set(), set()
    for length in range(1, 120):
        place = Embedded(Path("/") / (letter * length))
        assert len(os.fsencode(place.socket)) <= MAX_SOCKET_PATH_BYTES
        (inside if place.socket.is_relative_to(place.data_dir) else outside).add(place.socket)
    assert inside
    assert len(outside) == 119 - len(inside)  # each its own


def test_two_terminals_find_the_same_socket_whatever_their_temporary_folder_is(monkeypatch):
    place = Embedded(Path("/" + "d" * 120))
    first = place.socket
    monkeypatch.setattr(tempfile, "tempdir", "/elsewhere")
    assert place.socket == first


def test_prepare_makes_private_folders_and_may_be_repeated(tmp_path):
    place = Embedded(tmp_path / "a" / "data")
    place.prepare()
    place.prepare()
    for folder in (place.data_dir, place.broker_dir, place.log_dir):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o700


@pytest.mark.parametrize("part", ["", "broker", "logs"])
def test_a_folder_that_is_not_ours_is_refused_with_what_to_do(tmp_path, part):
    place = Embedded(tmp_path / "data")
    place.prepare()
    not_ours(place.data_dir / part)
    with pytest.raises(BadOutput, match=r"it is not yours, .*set TTS_BATCH_DATA_DIR") as caught:
        place.prepare()
    assert str(place.data_dir / part) in str(caught.value)


def test_a_file_in_the_way_is_told(tmp_path):
    (tmp_path / "data").write_text("")
    with pytest.raises(BadOutput, match="cannot be used"):
        Embedded(tmp_path / "data").prepare()
    with pytest.raises(BadOutput, match="cannot be used"):
        Embedded(tmp_path / "data" / "below").prepare()


def test_running_is_told_from_the_lock_alone(tmp_path):
    place = Embedded(tmp_path)
    assert not place.running()
    assert list(tmp_path.iterdir()) == []  # asking leaves nothing
    os.close(lock_file(place.node_lock))
    assert not place.running()
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(place.node_lock)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"held\n"
        assert place.running()
        assert place.running()
    assert not place.running()


def test_asking_does_not_keep_the_lock(tmp_path):
    place = Embedded(tmp_path)
    lock = lock_file(place.node_lock)
    assert not place.running()
    fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    assert place.running()
    os.close(lock)
    assert not place.running()


def test_a_lock_that_cannot_be_opened_is_a_clear_error(tmp_path):
    place = Embedded(tmp_path)
    place.node_lock.mkdir()  # stands for any lock that cannot be opened, for root too
    with pytest.raises(BadOutput, match=r"cannot be used.*set TTS_BATCH_DATA_DIR"):
        place.running()


def test_the_lock_file_is_private_and_not_inherited(tmp_path):
    descriptor = lock_file(tmp_path / "lock")
    assert not os.get_inheritable(descriptor)
    assert stat.S_IMODE((tmp_path / "lock").stat().st_mode) == 0o600
    os.close(descriptor)


@pytest.mark.services
def test_the_server_keeps_what_it_was_told_and_listens_to_the_socket_alone(tmp_path):
    place = Embedded(tmp_path)
    binary, *words = place.server_command()
    assert os.access(binary, os.X_OK)
    options = dict(zip(words[::2], words[1::2], strict=True))
    assert options["--port"] == "0"
    assert options["--unixsocket"] == str(place.socket)
    assert options["--dir"] == str(place.broker_dir)
    assert (options["--appendonly"], options["--maxmemory-policy"]) == ("yes", "noeviction")
