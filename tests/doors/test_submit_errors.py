"""What a person does wrong: one clear error, the right exit code, nothing half-written, no job left behind."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from pathlib import Path

import pytest

from tests.helpers_cli import Home, wait_until

GOOD = "Hello there. This is a good file.\n"
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffdb0043") + bytes(range(256)) * 4


def refused(home: Home, *arguments: str) -> str:
    """The one error line of a command that must end with code 2 and leave nothing; --json says the same."""
    before = snapshot(home.work)
    done = home.run("submit", *arguments, "--model", "fake")
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("error: ")
    assert snapshot(home.work) == before
    store = home.data / "store"
    assert not store.exists() or not any(store.rglob("*"))
    document = home.json("submit", *arguments, "--model", "fake", code=2)
    assert document["error"]["message"] in done.stderr
    return done.stderr


def snapshot(folder: Path) -> list[str]:
    return sorted(str(path) for path in folder.rglob("*"))


def test_missing_file(home: Home) -> None:
    assert "missing.txt" in refused(home, "missing.txt")


def test_directory(home: Home) -> None:
    (home.work / "folder").mkdir()
    assert "folder" in refused(home, "folder")


def test_empty_file(home: Home) -> None:
    (home.work / "empty.txt").write_bytes(b"")
    assert "empty.txt" in refused(home, "empty.txt")


def test_empty_epub(home: Home) -> None:
    (home.work / "empty.epub").write_bytes(b"")
    assert "empty.epub" in refused(home, "empty.epub")


def test_picture_named_txt(home: Home) -> None:
    (home.work / "picture.txt").write_bytes(JPEG)
    assert "JPEG" in refused(home, "picture.txt")


def test_bad_line_of_jsonl_is_named(home: Home) -> None:
    lines = [json.dumps({"id": f"i{number}", "text": f"Item {number}."}) for number in range(1, 11)]
    lines[6] = '{"id": "i7", "text": '
    (home.work / "set.jsonl").write_text("\n".join(lines))
    assert "line 7" in refused(home, "set.jsonl")


def test_unknown_voice_lists_the_voices(home: Home) -> None:
    (home.work / "good.txt").write_text(GOOD)
    text = refused(home, "good.txt", "--voice", "nobody")
    assert "'nobody'" in text
    assert "tone" in text


@pytest.mark.parametrize(
    ("option", "value"),
    [("--format", "m4b,xyz"), ("--priority", "urgent"), ("--speed", "9"), ("--lang", "de"), ("--type", "pdf")],
)
def test_bad_option_names_what_is_allowed(home: Home, option: str, value: str) -> None:
    (home.work / "good.txt").write_text(GOOD)
    assert value.split(",")[-1] in refused(home, "good.txt", option, value)


def test_unwritable_out(home: Home) -> None:
    (home.work / "good.txt").write_text(GOOD)
    (home.work / "file").write_text("in the way")
    assert "file" in refused(home, "good.txt", "--out", "file/sub")
    assert "cannot write" in refused(home, "good.txt", "--out", "/proc/nowhere")


def test_unknown_model(home: Home) -> None:
    (home.work / "good.txt").write_text(GOOD)
    done = home.run("submit", "good.txt", "--model", "nothing")
    assert done.returncode == 2
    assert "piper" in done.stderr


def test_unknown_setting(home: Home) -> None:
    home.extra["TTS_BATCH_BROKR"] = "redis://x"
    done = home.run("jobs")
    assert done.returncode == 2
    assert "TTS_BATCH_BROKER" in done.stderr


def test_no_broker(home: Home) -> None:
    done = home.run("jobs", "--broker", "redis://user:secret@127.0.0.1:1/0")
    assert done.returncode == 3
    assert "secret" not in done.stderr
    assert home.run("jobs").returncode == 3


def test_no_device(home: Home) -> None:
    if os.path.exists("/dev/nvidia0"):  # noqa: PTH110
        pytest.skip("this machine has a GPU")
    done = home.run("worker", "gpu", "--broker", "redis://127.0.0.1:1/0")
    assert done.returncode == 4


@pytest.fixture
def small_disk(tmp_path: Path) -> Path:
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=600k", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a small tmpfs")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.mark.services
def test_full_disk_for_the_audio(home: Home, small_disk: Path) -> None:
    (home.work / "long.txt").write_text(GOOD * 40)
    assert "MB free" in refused(home, "long.txt", "--out", str(small_disk / "out"))
    assert list(small_disk.iterdir()) == []


@pytest.mark.services
def test_full_disk_for_the_takes(home: Home, small_disk: Path) -> None:
    (home.work / "long.txt").write_text(GOOD * 40)
    home.extra["TTS_BATCH_STORE"] = f"file://{small_disk}/store"
    done = home.run("submit", "long.txt", "--model", "fake")
    assert done.returncode == 2
    assert "MB free" in done.stderr
    assert not any(path.is_file() for path in small_disk.rglob("*"))


@pytest.mark.services
def test_disk_that_fills_while_the_job_runs(home: Home, small_disk: Path) -> None:
    """The estimate fits, somebody else takes the room: the job ends with the reason and goes on after it is mended."""
    (home.work / "some.txt").write_text("[[fault:slow:s=0.01]] " + GOOD)
    home.extra["TTS_BATCH_STORE"] = f"file://{small_disk}/store"
    (small_disk / "hog").write_bytes(b"")
    process = home.start("submit", "some.txt", "--model", "fake", "--format", "mp3", "--out", "out")
    wait_until(lambda: any(small_disk.rglob("plan.jsonl")), "the job is accepted")
    with (small_disk / "hog").open("wb", buffering=0) as hog, contextlib.suppress(OSError):
        while True:
            hog.write(b"\0" * 1024)
    assert process.wait(timeout=120) == 1
    message = (home.root / "background.err").read_text()
    assert "No space left" in message or "free" in message
    assert not (home.work / "out").exists()
    assert not any(path.name.endswith((".part", ".tmp")) for path in small_disk.rglob("*"))
