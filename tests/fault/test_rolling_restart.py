"""Workers are restarted one after the other while a job runs: nothing is lost, nothing is counted or finished twice."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jobs.connect import Broker, open_broker
from jobs.figures import Total, named
from jobs.settings import Settings
from tests.helpers_cli import PROGRAM, Home, finish, wait_until
from tests.helpers_valkey import ValkeyServer

pytestmark = [pytest.mark.services, pytest.mark.slow]

SENTENCES = 60
TEXT = "\n\n".join(
    f"[[fault:slow:s=0.002]] Sentence {'abcdefghij'[number % 10] * (1 + number // 10)} goes on for a while here."
    for number in range(SENTENCES)
)


@pytest.fixture
def broker() -> Iterator[ValkeyServer]:
    server = ValkeyServer().start()
    yield server
    server.close()


class Cluster:
    """Two synthesis workers and one for steps, each a process of its own."""

    def __init__(self, home: Home) -> None:
        self.home = home
        self.parts = {name: self._start(name) for name in ("one", "two", "steps")}

    def _start(self, name: str) -> subprocess.Popen[bytes]:
        words = ("cpu",) if name == "steps" else ("gpu", "--device", "cpu", "--model", "fake")
        with (self.home.root / f"{name}.log").open("ab") as log:
            return subprocess.Popen(
                [PROGRAM, "worker", *words], cwd=self.home.work, env=self.home.environment, stdout=log, stderr=log
            )

    def restart(self, name: str) -> None:
        assert finish(self.parts[name]) == 0, (self.home.root / f"{name}.log").read_text()
        self.parts[name] = self._start(name)

    def stop(self) -> None:
        for process in self.parts.values():
            finish(process)


def test_a_rolling_restart_loses_and_doubles_nothing(broker: ValkeyServer, tmp_path: Path) -> None:
    store = tmp_path / "store"
    home = Home(
        tmp_path,
        {
            "TTS_BATCH_BROKER": broker.url,
            "TTS_BATCH_STORE": f"file://{store}",
            "TTS_BATCH_MODEL": "fake",
            "TTS_BATCH_GRACE_S": "3",
        },
    )
    (home.work / "book.txt").write_text(TEXT)
    opened: Broker = open_broker(broker.url, Settings(broker=broker.url))
    truth = opened.truth
    cluster = Cluster(home)
    try:
        wait_until(lambda: len(truth.workers()) == 2, "both speak")
        job = home.json("submit", "book.txt", "--format", "flac", "--no-wait")["jobs"][0]["job"]
        total = truth.job(job).total
        for place, name in enumerate(("one", "two", "steps", "one"), start=1):
            wait_until(
                lambda place=place: truth.job(job).done >= place * total // 6, f"it goes on before {name} restarts"
            )
            cluster.restart(name)
        assert home.json("watch", job)["state"] == "done"
        totals = truth.totals()
        assert totals[named(Total.SEGMENTS, "done")] == total
        assert totals[named(Total.GIVEN_BACK, "crashed")] == totals[named(Total.GIVEN_BACK, "silent")] == 0
        assert totals[named(Total.DEAD_LETTERS)] == 0
        assert len(list((store / "takes").rglob("*.json"))) == total  # each spoken with the same seed, if ever again
    finally:
        cluster.stop()
        opened.close()
