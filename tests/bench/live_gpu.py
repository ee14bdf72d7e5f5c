"""Speech requests on one GPU, idle and beside a bulk job that fills it: `python -m tests.bench.live_gpu --json OUT`.

A Valkey, a machine room with Orpheus' shape and random weights (`live_gpu_room`), `tts-batch serve`, and listeners
(`live_gpu_client`), each in a process of its own. 1, 10, 50 and 200 requests to `/v1/audio/speech` at once, first with
nothing else to do, then while a bulk job waits for every slot. Printed: times to the first byte and where they went,
answers that were not whole, what the bulk job made before, during and after. `--small`: a tiny model on the CPU, to try
the script itself. Exit status 1 if an answer was not whole.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from pathlib import Path
from typing import Any

from jobs.connect import Broker, open_broker
from jobs.kinds import OnBad
from jobs.plan import take_key
from jobs.settings import Settings, child_environment, load_settings
from jobs.spec import JobRecord, JobSpec, Priority, SegmentTask, SourceKind
from jobs.state import JobState
from tests.bench.live_client import Load, short_texts
from tests.bench.live_load import Pace, quantiles
from workers.bench_queue import _broker
from workers.bench_work import Mix
from workers.process import spawn, stop

MODEL, VOICE = "orpheus-random", "tara"
FRAME_IDS_PER_S = 7 * 24_000 / 2048
"""Ids of a second of Orpheus' audio."""
BULK_S = (8.0, 15.0)
BULK_ROWS = 60
CHAPTER_SEGMENTS = 100
READY_S = 240.0
ROUNDS = {1: 8, 10: 3, 50: 2, 200: 2}
"""How often a number of listeners comes, one load after the other, so that few listeners give quantiles too."""


@dataclass
class Door:
    """A running server, and what is behind it."""

    url: str
    broker: Broker
    settings: Settings
    salts: Iterator[int]

    def load(self, listeners: int, rounds: int = 1) -> list[dict[str, Any]]:
        """So many requests at once, a few times over, from another process; with the moment when each was queued."""
        texts = (short_texts(listeners, next(self.salts)) for _ in range(rounds))
        loads = [asdict(Load(self.url, MODEL, VOICE, one)) for one in texts]
        command = [sys.executable, "-m", "tests.bench.live_gpu_client"]
        done = subprocess.run(command, input=json.dumps(loads), capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(done.stderr[-3000:])
        heard: list[dict[str, Any]] = json.loads(done.stdout)
        for one in heard:
            if one["request_id"]:
                one["queued_at"] = self.broker.truth.job(one["request_id"]).created_at_s
        return heard


def spawn_server(settings: Settings, out: Path) -> subprocess.Popen[bytes]:
    """`tts-batch serve` on a free port."""
    command = [sys.executable, "-m", "cli.app", "serve", "--port", "0", "--json", "--broker", str(settings.broker)]
    return spawn(command, environment=child_environment(settings), log_path=out)


@contextmanager
def running(folder: Path, slots: int, *, small: bool) -> Iterator[Door]:
    """All processes for the time of the block; afterwards the room's own figures are in `folder/room.json`."""
    with ExitStack() as stack:
        settings = stack.enter_context(_broker(folder / "data", load_settings()))
        argv = [str(slots), str(int(small)), str(folder / "room.json")]
        command, environment = [sys.executable, "-m", "tests.bench.live_gpu_room", *argv], child_environment(settings)
        room = spawn(command, environment=environment, log_path=folder / "room.log")
        stack.callback(stop, room, grace_s=60.0)
        broker = open_broker(str(settings.broker), settings)
        _wait(lambda: broker.truth.workers(), folder / "room.log", room)
        server = spawn_server(settings, folder / "serve.log")
        stack.callback(stop, server, grace_s=20.0)
        _wait(lambda: "}" in (folder / "serve.log").read_text(), folder / "serve.log", server)
        told = (folder / "serve.log").read_text()
        url = json.loads(told[told.index("{") : told.index("}") + 1])["url"]
        yield Door(url, broker, settings, count(1))


def _wait(ready: Any, log: Path, process: subprocess.Popen[bytes]) -> None:
    deadline_s = time.monotonic() + READY_S
    while not ready():
        if process.poll() is not None or time.monotonic() > deadline_s:
            raise RuntimeError(f"{log.name}: {log.read_text()[-3000:]}")
        time.sleep(0.05)


def queue_bulk(door: Door, segments: int, slots: int) -> str:
    """A job of class bulk that no run comes to the end of; returns its id."""
    low, high = (round(seconds * FRAME_IDS_PER_S) for seconds in BULK_S)
    pieces = Mix(BULK_ROWS, low, high).pieces(count=segments, slots=slots)
    offer = door.broker.truth.workers()[0].info.offers[0]
    store_url, job = door.settings.store_url, "bulk"
    spec = JobSpec(
        source_name=job,
        source_kind=SourceKind.TXT,
        model=offer.name,
        voice=VOICE,
        language="en",
        voice_revision="",
        numerics=offer.numerics,
        store_url=store_url,
        priority=Priority.BULK,
    )
    record = JobRecord(
        job=job, spec=spec, state=JobState.PLANNING, title=job, author="", created_at_s=1.0, updated_at_s=1.0
    )
    door.broker.truth.create_job(record)
    same = {"job": job, "model": offer.name, "voice": VOICE, "language": "en", "speed": 1.0, "store_url": store_url}
    tasks = [
        SegmentTask(
            **same,
            segment=place,
            chapter=place // CHAPTER_SEGMENTS,
            spoken=piece.text,
            seed=piece.seed,
            take=take_key(spoken=piece.text),
            numerics=offer.numerics,
            on_bad=OnBad.KEEP,
        )
        for place, piece in enumerate(pieces)
    ]
    door.broker.truth.enqueue(job, tasks, [])
    return job


def step(door: Door, asked: argparse.Namespace, listeners: int, job: str | None) -> dict[str, Any]:
    """Some rounds of so many listeners at once, with the bulk job watched before, during and after."""
    rates: dict[str, float | None] = {}
    if job:
        pace = Pace(door, job)  # type: ignore[arg-type]  # it asks the broker only
        time.sleep(asked.calm)
        rates["before"], pace = pace.end(), Pace(door, job)  # type: ignore[arg-type]
    heard = door.load(listeners, 1 if asked.small else ROUNDS.get(listeners, 1))
    began_s, ended_s = heard[0]["at"], heard[-1]["at"] + max(one["total_s"] for one in heard[-listeners:])
    if job:
        rates["during"], pace = pace.end(), Pace(door, job)  # type: ignore[arg-type]
        time.sleep(asked.calm)
        rates["after"] = pace.end()
    print(f"{time.strftime('%X')} {listeners} listeners: {ended_s - began_s:.1f} s, bulk {rates}", file=sys.stderr)
    return {"listeners": listeners, "bulk": rates, "began": began_s, "ended": ended_s, "heard": heard}


def figures(told: dict[str, Any], room: dict[str, Any]) -> dict[str, Any]:
    """One step in numbers. `parts`: seconds from one moment to the next, on the way to the first byte."""
    heard = told["heard"]
    parts: dict[str, list[float]] = {"queued": [], "leased": [], "slot": [], "audio": [], "byte": []}
    for one in heard:
        moments = room["m"].get(f"{one['request_id']}|0", {})
        if one["first_byte_s"] is None or "audio" not in moments:
            continue
        at = [one["at"], one["queued_at"], moments["leased"], moments["slot"], moments["audio"]]
        at.append(one["at"] + one["first_byte_s"])
        for name, before, after in zip(parts, at, at[1:], strict=False):
            parts[name].append(after - before)
    looks = [look for look in room["looks"] if told["began"] - 0.5 <= look["at"] <= told["ended"] + 0.5]
    busy = [look["busy"] for look in looks]
    whole_s = looks[-1]["at"] - looks[0]["at"] if len(looks) > 1 else 0.0
    steps = looks[-1]["steps"] - looks[0]["steps"] if len(looks) > 1 else 0
    return {
        "listeners": told["listeners"],
        "asked": len(heard),
        "whole": sum(not one["error"] for one in heard),
        "errors": sorted({one["error"] for one in heard if one["error"]})[:5],
        "first_byte_s": quantiles([one["first_byte_s"] for one in heard if one["first_byte_s"] is not None]),
        "total_s": quantiles([one["total_s"] for one in heard]),
        "audio_s": quantiles([one["audio_s"] for one in heard]),
        "live_audio_s": round(sum(one["audio_s"] for one in heard), 1),
        "took_s": round(told["ended"] - told["began"], 2),
        "bulk_audio_s_per_s": told["bulk"],
        "parts_s": {name: quantiles(values) for name, values in parts.items()},
        "busy_slots": [min(busy, default=0), max(busy, default=0)],
        "step_ms": round(1000 * whole_s / steps, 2) if steps else None,
    }


def bench(asked: argparse.Namespace, folder: Path) -> dict[str, Any]:
    """All steps, idle first."""
    told: dict[str, list[dict[str, Any]]] = {"idle": [], "full": []}
    over_s = time.monotonic() + asked.within
    with running(folder, asked.slots, small=asked.small) as door:
        door.load(2)
        print(f"{time.strftime('%X')} ready", file=sys.stderr)
        for listeners in asked.steps:
            told["idle"].append(step(door, asked, listeners, None))
        job = queue_bulk(door, asked.segments, asked.slots)
        time.sleep(asked.settle)
        for listeners in asked.steps:
            if time.monotonic() < over_s:
                told["full"].append(step(door, asked, listeners, job))
        door.broker.truth.cancel(job)
    room = json.loads((folder / "room.json").read_text())
    report: dict[str, Any] = {name: [figures(one, room) for one in steps] for name, steps in told.items()}
    return report | {"slots": asked.slots, "date": time.strftime("%Y-%m-%d"), "looks": room["looks"]}


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, nargs="*", default=[1, 10, 50, 200])
    parser.add_argument("--slots", type=int, default=256)
    parser.add_argument("--segments", type=int, default=30_000, help="of the bulk job")
    parser.add_argument("--settle", type=float, default=30.0, help="seconds after which the bulk job is out of step")
    parser.add_argument("--calm", type=float, default=10.0, help="seconds before and after a load")
    parser.add_argument("--small", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--within", type=float, default=600.0, help="begin no further step after so many seconds")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lg") as folder:
        try:
            report = bench(asked, Path(folder))
        finally:
            for log in sorted(Path(folder).glob("*.log")):
                print(f"{log.name}: {log.read_text()[-1500:]}", file=sys.stderr)
    if asked.json:
        asked.json.write_text(json.dumps(report))
    print(json.dumps({name: value for name, value in report.items() if name != "looks"}, indent=1))
    steps = report["idle"] + report["full"]
    sys.exit(0 if all(one["whole"] == one["asked"] for one in steps) else 1)


if __name__ == "__main__":
    main()
