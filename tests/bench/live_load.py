"""Many live requests against a running bulk job: `python -m tests.bench.live_load --model piper --json`.

A server (`tts-batch serve`) with its node, a long text in class bulk, then steps of 1, 10, 50 and 200 requests to
`/v1/audio/speech` at once, each a short sentence of its own (`--repeats`: all say one of ten). All answers must be
whole. Then, without the bulk job, listeners that leave: how long until their slots are free. What is printed: times to
the first byte, how fast the bulk job went before, during and after, and errors. Exit status 1 if there were any.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import redis

from jobs import keys
from jobs.connect import Broker, open_broker
from jobs.embedded import Embedded
from jobs.settings import Settings
from jobs.speech import PREFIX
from jobs.state import FINAL_JOB_STATES, JobState
from tests.bench.live_client import Load, short_texts
from tests.bench.long_text import book
from tests.helpers_cli import Home, finish, wait_until

VOICES = {"piper": "joe", "fake": "tone"}
CALM_S = 15.0
"""How long the bulk job is watched before and after a load."""
LEAVERS = 10
"""Who leaves does so in rounds of this many."""
LONG_SENTENCES = 40
"""Sentences of a request whose listener leaves: it is far from its end then."""


@dataclass
class Server:
    """A running server and its node."""

    home: Home
    url: str
    broker: Broker
    model: str
    salt: int = 0

    @property
    def voice(self) -> str:
        return VOICES[self.model]

    def load(self, texts: list[str], **more: Any) -> dict[str, Any]:
        """Run a load in a process of its own."""
        load = Load(self.url, self.model, self.voice, texts, **more)
        command = [sys.executable, "-m", "tests.bench.live_client"]
        done = subprocess.run(command, input=json.dumps(asdict(load)), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-3000:])
        return json.loads(done.stdout)

    def texts(self, count: int, *, repeats: bool = False) -> list[str]:
        """Sentences that were not spoken before; with `repeats` ten of them again and again."""
        self.salt += 1
        return (short_texts(10, self.salt) * count)[:count] if repeats else short_texts(count, self.salt)


@contextmanager
def serving(home: Home, model: str) -> Iterator[Server]:
    """A server with its node for the time of the block."""
    process = home.start("serve", "--port", "0", "--json")
    try:
        said = home.root / "background.out"
        wait_until(lambda: b"}" in said.read_bytes() or process.poll() is not None, "the server is up")
        assert process.poll() is None, (home.root / "background.err").read_text()
        url = json.loads(said.read_text().splitlines()[0])["url"]
        broker = open_broker(Embedded(home.data).url, Settings(data_dir=home.data))
        wait_until(lambda: bool(broker.truth.workers()), "a worker is up")
        yield Server(home, url, broker, model)
    finally:
        finish(process)


def submit_bulk(server: Server, sentences: int) -> str:
    """Queue a long text in class bulk; returns its job once audio of it is there."""
    home = server.home
    (home.work / "long.txt").write_text(book(sentences))
    options = ("--model", server.model, "--voice", server.voice, "--format", "flac", "--profile", "raw")
    job = home.json("submit", "long.txt", "--priority", "bulk", "--no-wait", *options)["jobs"][0]["job"]
    wait_until(lambda: server.broker.truth.job(job).audio_s > 0, "the bulk job is under way", timeout_s=120)
    return job


class Pace:
    """Audio that a bulk job made since this was begun, by time."""

    def __init__(self, server: Server, job: str) -> None:
        self._truth, self._job = server.broker.truth, job
        self._began_s, self._audio_s = time.monotonic(), self._truth.job(job).audio_s

    def end(self) -> float | None:
        """Seconds of audio per second; None: the job ended meanwhile, so this would be no rate."""
        record = self._truth.job(self._job)
        if record.state in FINAL_JOB_STATES or record.state is JobState.ASSEMBLING:
            return None
        return round((record.audio_s - self._audio_s) / (time.monotonic() - self._began_s), 1)


def quantiles(values: list[float]) -> dict[str, float]:
    """Median, 95th percentile and maximum of seconds, to the millisecond."""
    if not values:
        return {}
    ranked = sorted(values)
    p95 = ranked[min(len(ranked) - 1, round(0.95 * len(ranked)))]
    return {"p50": round(statistics.median(ranked), 3), "p95": round(p95, 3), "max": round(ranked[-1], 3)}


def step(server: Server, job: str, count: int, *, repeats: bool) -> dict[str, Any]:
    """One number of listeners at once, with the bulk job watched before, during and after."""
    before = Pace(server, job)
    time.sleep(CALM_S)
    before_rate, during = before.end(), Pace(server, job)
    told = server.load(server.texts(count, repeats=repeats))
    during_rate, after = during.end(), Pace(server, job)
    time.sleep(CALM_S)
    heard = told["heard"]
    return {
        "listeners": count,
        "answered": sum(not one["error"] for one in heard),
        "errors": sorted({one["error"] for one in heard if one["error"]})[:5],
        "first_byte_s": quantiles([one["first_byte_s"] for one in heard if one["first_byte_s"] is not None]),
        "total_s": quantiles([one["total_s"] for one in heard]),
        "all_s": round(told["took_s"], 2),
        "live_audio_s": round(sum(one["audio_s"] for one in heard), 1),
        "bulk_audio_s_per_s": {"before": before_rate, "during": during_rate, "after": after.end()},
    }


def leaving(server: Server, count: int, how: str) -> dict[str, Any]:
    """Listeners of long texts that go away, in rounds; the time from the last one's leaving to free slots."""
    free_s = []
    for number in range(max(1, count // LEAVERS)):
        texts = [" ".join(server.texts(LONG_SENTENCES)) for _ in range(min(LEAVERS, count))]
        free_s.append(server.load(texts, leave=how, after_s=0.2 + 0.05 * number)["free_s"])
    return {"leave": how, "listeners": count, "free_s": quantiles(free_s), "left_running": speech_at_work(server)}


def speech_requests(server: Server) -> list[str]:
    """Ids of the speech requests that the broker still knows."""
    with redis.Redis.from_url(server.broker.url) as client:
        return [name.decode().rpartition(":")[2] for name in client.scan_iter(match=keys.job(f"{PREFIX}*"), count=1000)]


def speech_at_work(server: Server) -> int:
    """Speech requests that are not at an end."""
    truth = server.broker.truth
    return sum(truth.job(name).state not in FINAL_JOB_STATES for name in speech_requests(server))


def bench(server: Server, asked: argparse.Namespace) -> dict[str, Any]:
    """All that was asked for."""
    report: dict[str, Any] = {"model": server.model, "repeats": asked.repeats, "steps": [], "disconnects": []}
    server.load(server.texts(1))  # the model is loaded
    if asked.steps:
        job = submit_bulk(server, asked.sentences)
        for count in asked.steps:
            report["steps"].append(step(server, job, count, repeats=asked.repeats))
            print(json.dumps(report["steps"][-1]), file=sys.stderr)
        server.home.run("cancel", job)
    for how in ("before", "after") if asked.leavers else ():
        report["disconnects"].append(leaving(server, asked.leavers, how))
        print(json.dumps(report["disconnects"][-1]), file=sys.stderr)
    return report


def main() -> None:
    """Measure and print; exit status 1 when an answer was not whole or a request of somebody who left goes on."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--model", choices=sorted(VOICES), default="fake")
    parser.add_argument("--steps", type=int, nargs="*", default=[1, 10, 50, 200])
    parser.add_argument("--leavers", type=int, default=50)
    parser.add_argument("--sentences", type=int, default=4000, help="of the bulk job")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--slots", type=int, default=0)
    parser.add_argument("--repeats", action="store_true")
    parser.add_argument("--json", action="store_true")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="ll") as folder:
        home = Home(Path(folder))
        home.extra |= {"TTS_BATCH_PROCESSES": str(asked.processes), "TTS_BATCH_SLOTS": str(asked.slots)}
        with serving(home, asked.model) as server:
            report = bench(server, asked)
    print(json.dumps(report, indent=None if asked.json else 2))
    whole = all(one["answered"] == one["listeners"] for one in report["steps"])
    sys.exit(0 if whole and not any(one["left_running"] for one in report["disconnects"]) else 1)


if __name__ == "__main__":
    main()
