"""A long book with the real voice while its parts are killed: `python -m tests.bench.kill_book --sentences 460`.

Two runs of the same book: one left alone, one in which the synthesis processes, the supervisor, the CPU worker and the
broker get SIGKILL one after the other, and at last the node with the command itself (then `resume`). Prints one JSON
line: the digests of all finished audio of both runs must be equal.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import signal
import sys
import tempfile
from pathlib import Path

from tests.bench.long_text import book
from tests.helpers_cli import Home, processes_of, wait_until

PARTS = ("workers.room", "workers.supervisor", "workers.steward", "workers.celery_app", "valkey-server")


def digests(home: Home) -> dict[str, str]:
    """Digest of every finished file and of every take by name."""
    files = [*(home.work / "long").rglob("*.m4b"), *(home.work / "long" / "chapters").iterdir()]
    files += list((home.data / "store" / "takes").rglob("*.flac"))
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def takes(home: Home) -> int:
    """How many takes are in the store."""
    return len(list((home.data / "store" / "takes").rglob("*.json")))


def new_home(folder: Path, text: str) -> Home:
    """A home with the book in it; two synthesis processes, a short time to live."""
    home = Home(folder)
    home.extra |= {"TTS_BATCH_PROCESSES": "2", "TTS_BATCH_WORKER_TTL_S": "5"}
    (home.work / "long.txt").write_text(text)
    return home


def disturbed(home: Home, total: int) -> list[str]:
    """Submit, kill each part in turn, then everything at once, then resume; returns what was killed and when."""
    process = home.start("submit", "long.txt")
    log = []
    for number, part in enumerate(PARTS, start=1):
        mark = number * total // (len(PARTS) + 2)
        wait_until(lambda mark=mark: takes(home) >= mark, f"{mark} takes are made", timeout_s=600)
        for pid in processes_of(home, part):
            os.kill(pid, signal.SIGKILL)
            log.append(f"{part} at {takes(home)} takes")
    mark = (len(PARTS) + 1) * total // (len(PARTS) + 2)
    wait_until(lambda: takes(home) >= mark, f"{mark} takes are made", timeout_s=600)
    for pid in [*processes_of(home, "workers.node"), process.pid]:
        os.kill(pid, signal.SIGKILL)
    log.append(f"node and command at {takes(home)} takes")
    process.wait(timeout=30)
    (job,) = [folder.name for folder in (home.data / "store" / "jobs").iterdir()]
    resumed = home.json("resume", job)["jobs"][0]
    log.append(f"resumed: {resumed['state']}, {resumed['segments']} segments, {resumed['failed']} failed")
    return log


def main() -> None:
    """Run both; exit status 1 when they differ."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sentences", type=int, default=460)
    text = book(parser.parse_args().sentences)
    with tempfile.TemporaryDirectory(prefix="kb") as folder:
        calm = new_home(Path(folder) / "calm", text)
        summary = calm.json("submit", "long.txt")["jobs"][0]
        total = takes(calm)
        home = new_home(Path(folder) / "killed", text)
        log = disturbed(home, total)
        same = digests(calm) == digests(home)
        report = {"audio_s": summary["audio_s"], "takes": total, "killed": log, "same_bytes": same}
        report["book_sha256"] = digests(home)["book.m4b"]
    print(json.dumps(report))
    sys.exit(0 if same else 1)


if __name__ == "__main__":
    main()
