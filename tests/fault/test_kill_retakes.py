"""kill -9 while takes are checked, rejected and spoken again: every file and every take is that of a calm run."""

from __future__ import annotations

import hashlib
import json
import os
import signal
from pathlib import Path

import pytest

from tests.helpers_cli import Home, processes_of, wait_until

pytestmark = [pytest.mark.services, pytest.mark.slow]

WORDS = ("submit", "book.txt", "--model", "fake", "--format", "flac", "--takes", "3")


def book() -> str:
    """Takes with gaps are rejected at once, cut ones by the second look, and some lines have no good take at all."""
    marks = ("", "[[fault:silence:p=0.5]] ", "[[fault:truncate:p=0.3]] ", "", "[[fault:silence]] ", "", "")
    lines = [
        f"{marks[i % 7]}[[fault:slow:s=0.002]] Sentence {chr(97 + i % 26)} goes on {'and on ' * (i % 5)}to its end."
        for i in range(42)
    ]
    return "CHAPTER ONE\n\n" + "\n\n".join(lines[:21]) + "\n\nCHAPTER TWO\n\n" + "\n\n".join(lines[21:]) + "\n"


def files(home: Home) -> dict[str, str]:
    """Digest of every file that was delivered and of everything kept of takes; of the report all but its run.

    A job's id tells where its store is, which is another place for each home: it is left out.
    """
    report = json.loads((home.work / "book" / "report.json").read_text())
    paths = [path for path in (home.work / "book").rglob("*") if path.is_file() and path.name != "report.json"]
    paths += [path for path in (home.data / "store" / "takes").rglob("*") if path.is_file()]
    job = report["job"].encode()
    found = {path.name: hashlib.sha256(path.read_bytes().replace(job, b"JOB")).hexdigest() for path in paths}
    told = json.dumps(report | {"run": None}).replace(report["job"], "JOB")
    return found | {"report.json": told}


def records(home: Home) -> int:
    return len(list((home.data / "store" / "takes").rglob("*.json")))


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = Home(tmp_path_factory.mktemp("undisturbed"))
    (home.work / "book.txt").write_text(book())
    told = home.json(*WORDS, code=1)["jobs"][0]
    assert told["marked"] >= 6
    assert told["retakes"] > 20
    return files(home)


@pytest.mark.parametrize(("part", "after"), [("workers.room", 5), ("workers.room", 45), ("workers.celery_app", 43)])
def test_killed_while_takes_are_rejected(part: str, after: int, tmp_path: Path, undisturbed: dict[str, str]) -> None:
    home = Home(tmp_path)
    home.extra["TTS_BATCH_WORKER_TTL_S"] = "5"
    (home.work / "book.txt").write_text(book())
    process = home.start(*WORDS)
    wait_until(lambda: records(home) >= after, "so many takes are made")
    victims = processes_of(home, part)
    assert victims
    for pid in victims:
        os.kill(pid, signal.SIGKILL)
    assert process.wait(timeout=180) == 1, (home.root / "background.err").read_text()
    assert files(home) == undisturbed
