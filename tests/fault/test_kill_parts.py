"""kill -9 of every part of the embedded node while a job runs: it ends by itself, the bytes are those of a calm run."""

from __future__ import annotations

import hashlib
import os
import signal
import time
from pathlib import Path

import pytest

from tests.helpers_cli import Home, processes_of, wait_until

pytestmark = [pytest.mark.services, pytest.mark.slow]

SENTENCES = 60
PARTS = ("workers.room", "workers.supervisor", "workers.steward", "workers.celery_app", "valkey-server")


def book() -> str:
    lines = [
        f"Sentence {chr(97 + i % 26)} {'and more ' * (i % 5)}[[fault:slow:s=0.001]] here." for i in range(SENTENCES)
    ]
    return "CHAPTER ONE\n\n" + "\n\n".join(lines[:30]) + "\n\nCHAPTER TWO\n\n" + "\n\n".join(lines[30:]) + "\n"


def audio_hashes(home: Home) -> dict[str, str]:
    """Digest of every finished file by its name, and of every take."""
    files = [path for path in (home.work / "book").rglob("*") if path.suffix in {".m4b", ".flac"}]
    files += list((home.data / "store" / "takes").rglob("*.flac"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def takes(home: Home) -> int:
    return len(list((home.data / "store" / "takes").rglob("*.json")))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = Home(tmp_path_factory.mktemp("undisturbed"))
    (home.work / "book.txt").write_text(book())
    home.json("submit", "book.txt", "--model", "fake", "--format", "m4b,flac")
    return audio_hashes(home)


@pytest.mark.parametrize("part", PARTS)
def test_killed_part_is_replaced_and_nothing_is_lost(part: str, tmp_path: Path, undisturbed: dict[str, str]) -> None:
    home = Home(tmp_path)
    home.extra["TTS_BATCH_WORKER_TTL_S"] = "5"
    (home.work / "book.txt").write_text(book())
    process = home.start("submit", "book.txt", "--model", "fake", "--format", "m4b,flac")
    wait_until(lambda: takes(home) >= 3, "the first takes are made")
    victims = processes_of(home, part)
    assert victims
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    assert process.wait(timeout=120) == 0, (home.root / "background.err").read_text()
    assert audio_hashes(home) == undisturbed
    assert processes_of(home, "workers.") == []


def test_killed_node_and_owner_go_on_with_resume(tmp_path: Path, undisturbed: dict[str, str]) -> None:
    home = Home(tmp_path)
    (home.work / "book.txt").write_text(book())
    process = home.start("submit", "book.txt", "--model", "fake", "--format", "m4b,flac")
    wait_until(lambda: takes(home) >= 3, "the first takes are made")
    (node,) = processes_of(home, "workers.node")
    os.kill(node, signal.SIGKILL)
    os.kill(process.pid, signal.SIGKILL)
    process.wait(timeout=10)
    made = takes(home)
    time.sleep(0.5)
    (job,) = [folder.name for folder in (home.data / "store" / "jobs").iterdir()]
    resumed = home.json("resume", job)["jobs"][0]
    assert resumed["state"] == "done"
    assert audio_hashes(home) == undisturbed
    assert made < SENTENCES


def test_poison_segment_is_given_up_and_the_rest_is_spoken(tmp_path: Path) -> None:
    home = Home(tmp_path)
    lines = [f"Good sentence number {chr(97 + i)}." for i in range(8)]
    lines.insert(4, "This one kills [[fault:crash]] its process.")
    (home.work / "book.txt").write_text("\n\n".join(lines))
    job = home.json("submit", "book.txt", "--model", "fake", code=1)["jobs"][0]
    assert (job["state"], job["segments"], job["failed"]) == ("done_with_failures", 9, 1)
