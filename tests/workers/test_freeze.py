"""A synthesis process that is frozen (SIGSTOP): others speak its segments, and it finds itself fenced when it thaws."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.helpers_cli import Home, processes_of, wait_until
from tests.workers.making import lines
from workers.room import EXIT_FENCED


@pytest.mark.services
@pytest.mark.slow
def test_a_frozen_process_is_replaced_and_fenced(tmp_path: Path) -> None:
    extra = {"TTS_BATCH_WORKER_TTL_S": "2", "TTS_BATCH_PROCESSES": "2", "TTS_BATCH_SLOTS": "2"}
    home = Home(tmp_path, extra)
    (home.work / "book.txt").write_text(lines(60, "[[fault:slow:s=0.001]]"))
    with home.up():
        home.json("submit", "book.txt", "--model", "fake", "--format", "flac", "--no-wait")
        wait_until(lambda: len(list((home.data / "store" / "takes").rglob("*.json"))) >= 3, "takes are made")
        frozen = processes_of(home, "workers.room")[0]
        os.kill(frozen, signal.SIGSTOP)
        try:
            (job,) = home.json("jobs")["jobs"]
            done = home.json("resume", job["job"])["jobs"][0]
            assert (done["state"], done["segments"], done["failed"]) == ("done", 60, 0)
            assert frozen in processes_of(home, "workers.room")
        finally:
            os.kill(frozen, signal.SIGCONT)
        log = home.data / "logs" / "supervisor.log"
        wait_until(lambda: f"ended with status {EXIT_FENCED}" in log.read_text(), "the thawed process ends")
        wait_until(lambda: len(processes_of(home, "workers.room")) == 2, "another one is started")
        assert frozen not in processes_of(home, "workers.room")
    assert processes_of(home, "workers.") == []
