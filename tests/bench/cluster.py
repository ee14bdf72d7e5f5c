"""Many simulated workers on one broker: `python -m tests.bench.cluster --workers 64 --slots 256 --seconds 60`.

The truth, the broker and every call are real; only speaking is simulated: a slot is taken for as long as a segment of 8
to 15 s of audio takes at `--rate` audio-seconds a second of the whole worker. A worker leases ahead, tells results and
beats as `workers.intake`, `workers.telling` and `workers.heartbeat` do. Prints one JSON line per number of workers.
"""

from __future__ import annotations

import argparse
import heapq
import json
import multiprocessing
import random
import time
from collections import deque
from dataclasses import dataclass, field
from typing import Any

from jobs.figures import Figure, Figures
from jobs.protocols import Beat
from jobs.spec import SegmentTask
from jobs.state import JobState
from jobs.truth.calls import Calls, make_client
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import record, result, tasks, worker
from tests.helpers_valkey import ValkeyServer
from workers.heartbeat import BEAT_S
from workers.intake import look_ahead
from workers.steward import RECONCILE_EVERY_S, SWEEP_EVERY_S
from workers.telling import TELL_EVERY_S

TICK_S = 0.01
MODEL = "m"
JOBS = 4
CONTEXT = multiprocessing.get_context("spawn")
LOOK_EVERY_S = 15.0
"""How often somebody asks for metrics."""


@dataclass
class Worker:
    """One simulated worker."""

    name: str
    slots: int
    audio_s_per_s: float
    random: random.Random
    ready: deque[SegmentTask] = field(default_factory=deque)
    running: list[tuple[float, int, SegmentTask]] = field(default_factory=list)
    spoken: list[SegmentTask] = field(default_factory=list)
    done: int = 0
    serial: int = 0
    tell_at_s: float = 0.0
    beat_at_s: float = 0.0
    look_at_s: float = 0.0
    busy_s: float = 0.0
    at_s: float = 0.0

    def turn(self, truth: RedisTruth, now_s: float, waits: dict[str, list[float]]) -> None:
        """What happened since the last turn."""
        self._speak(now_s)
        self._lease(truth, now_s, waits)
        if self.spoken and now_s >= self.tell_at_s:
            self.tell_at_s = now_s + TELL_EVERY_S
            results = [result(task) for task in self.spoken]
            self.spoken = []
            self.done += sum(timed(waits["finish"], lambda: truth.finish(self.name, results)))
        if now_s >= self.beat_at_s:
            self.beat_at_s = now_s + BEAT_S
            beat = Beat(len(self.running), self.done, 10.0 * self.done, figures())
            timed(waits["beat"], lambda: truth.beat(self.name, beat))

    def _speak(self, now_s: float) -> None:
        """Slots end at their own time and the next prepared segment begins at that moment, as in a step loop."""
        while self.running and self.running[0][0] <= now_s:
            ended_s, _, task = heapq.heappop(self.running)
            self._pass(ended_s)
            self.spoken.append(task)
            if self.ready:
                self._begin(self.ready.popleft(), ended_s)
        self._pass(now_s)
        while self.ready and len(self.running) < self.slots:
            self._begin(self.ready.popleft(), now_s)

    def _pass(self, now_s: float) -> None:
        self.busy_s += len(self.running) * (now_s - self.at_s)
        self.at_s = now_s

    def _begin(self, task: SegmentTask, at_s: float) -> None:
        self.serial += 1
        lasts_s = self.random.uniform(8, 15) * self.slots / self.audio_s_per_s
        if self.serial <= self.slots:  # as if they had begun at different times
            lasts_s *= self.random.random()
        heapq.heappush(self.running, (at_s + lasts_s, self.serial, task))

    def _lease(self, truth: RedisTruth, now_s: float, waits: dict[str, list[float]]) -> None:
        want = self.slots + look_ahead(self.slots) - len(self.running) - len(self.ready) - len(self.spoken)
        if want < max(1, look_ahead(self.slots) // 8) or now_s < self.look_at_s:
            return
        leased = timed(waits["lease"], lambda: truth.lease(self.name, want))
        self.ready += leased
        if not leased:
            self.look_at_s = now_s + 0.2


def timed(waits: list[float], call: Any) -> Any:
    began_s = time.perf_counter()
    value = call()
    waits.append(time.perf_counter() - began_s)
    return value


def figures() -> dict[str, float]:
    """As many as a real worker tells."""
    made = Figures()
    for label in range(20):
        made.add(Figure.STEP_S, 12345.678901, label=f"model.stage{label}")
    for seconds in (0.0001, 0.001, 0.01, 0.1, 1.0):
        made.observe(Figure.REFILL_S, seconds)
    return made.read()


def work(url: str, names: list[str], asked: argparse.Namespace, out: Any) -> None:
    """One process with some of the workers."""
    truth = RedisTruth(Calls(make_client(url)), worker_ttl_s=60)
    rate = asked.rate
    crew = [Worker(name, asked.slots, rate, random.Random(name)) for name in names]
    for one in crew:
        truth.register(worker(one.name, MODEL))
        one.at_s = time.monotonic()
    warm_s = time.monotonic() + asked.warm
    end_s = warm_s + asked.seconds
    waits: dict[str, list[float]] = {"lease": [], "finish": [], "beat": []}
    counting, began_s = False, time.monotonic()
    while (now_s := time.monotonic()) < end_s:
        if not counting and now_s >= warm_s:
            counting, began_s = True, now_s
            for one in crew:
                one.busy_s, one.done = 0.0, 0
            for found in waits.values():
                found.clear()
        for one in crew:
            one.turn(truth, time.monotonic(), waits)
        time.sleep(max(0.0, TICK_S - (time.monotonic() - now_s)))
    past_s = time.monotonic() - began_s
    busy = sum(one.busy_s for one in crew) / (past_s * asked.slots * len(crew))
    out.put({"segments": sum(one.done for one in crew), "past_s": past_s, "occupancy": busy, "waits": waits})


def fill(truth: RedisTruth, segments: int) -> None:
    """Jobs with so many segments together."""
    for number in range(JOBS):
        job = f"book{number}"
        truth.create_job(record(job, model=MODEL))
        truth.enqueue(job, tasks(job, segments // JOBS, model=MODEL, per_chapter=100), [])


def steward(truth: RedisTruth, until_s: float) -> dict[str, list[float]]:
    """What a CPU worker and a scrape ask, beside."""
    times: dict[str, list[float]] = {"sweep": [], "reconcile": [], "metrics": []}
    due = {"sweep": 0.0, "reconcile": 0.0, "metrics": 0.0}
    every = {"sweep": SWEEP_EVERY_S, "reconcile": RECONCILE_EVERY_S, "metrics": LOOK_EVERY_S}
    calls = {
        "sweep": truth.sweep,
        "reconcile": truth.reconcile,
        "metrics": lambda: (truth.workers(), truth.depth(), truth.totals(), truth.job_states()),
    }
    while (now_s := time.monotonic()) < until_s:
        for name, call in calls.items():
            if now_s >= due[name]:
                due[name] = now_s + every[name]
                timed(times[name], call)
        for step in truth.take_steps("c", limit=256, timeout_s=0.1):
            truth.step_sent(step)
    return times


def measure(asked: argparse.Namespace, workers: int, segments: int) -> dict[str, Any]:
    """One run."""
    server = ValkeyServer().start()
    try:
        client = make_client(server.url)
        truth = RedisTruth(Calls(client), worker_ttl_s=60)
        fill(truth, segments)
        names = [f"w{number:04d}" for number in range(workers)]
        parts = [part for part in (names[place :: asked.processes] for place in range(asked.processes)) if part]
        out = CONTEXT.Queue()
        children = [CONTEXT.Process(target=work, args=(server.url, part, asked, out)) for part in parts]
        for child in children:
            child.start()
        began_s = time.monotonic()
        time.sleep(asked.warm)
        client.config_resetstat()
        before, at_s = client.info("cpu"), time.monotonic()
        times = steward(truth, began_s + asked.warm + asked.seconds)
        after, past_s = client.info("cpu"), time.monotonic() - at_s
        found = [out.get() for _ in children]
        for child in children:
            child.join()
        cpu_s = sum(after[f"used_cpu_{name}"] - before[f"used_cpu_{name}"] for name in ("sys", "user"))
        per_s = sum(one["segments"] / one["past_s"] for one in found)
        waits = {name: [wait for one in found for wait in one["waits"][name]] for name in ("lease", "finish", "beat")}
        busy = sum(one["occupancy"] * len(part) for one, part in zip(found, parts, strict=True))
        return {
            "workers": workers,
            "slots": asked.slots,
            "segments_per_s": round(per_s, 1),
            "wanted_segments_per_s": round(workers * asked.rate / 11.5, 1),
            "occupancy": round(busy / workers, 4),
            "broker_cpu_share": round(cpu_s / past_s, 3),
            "broker_us_per_segment": round(1e6 * cpu_s / past_s / per_s, 1) if per_s else None,
            "broker_memory_mb": round(client.info("memory")["used_memory"] / 1e6, 1),
            "ms": {name: _quantiles_ms(found) for name, found in (waits | times).items()},
        }
    finally:
        server.close()


def efficiency(asked: argparse.Namespace) -> dict[str, Any]:
    """How much faster three workers are than one with a job of a fixed size."""
    took = {}
    for workers in (1, 3):
        server = ValkeyServer().start()
        try:
            truth = RedisTruth(Calls(make_client(server.url)), worker_ttl_s=60)
            fill(truth, asked.segments)
            out, began_s = CONTEXT.Queue(), time.monotonic()
            names = [[f"w{number}"] for number in range(workers)]
            children = [CONTEXT.Process(target=work, args=(server.url, name, asked, out)) for name in names]
            for child in children:
                child.start()
            while any(record.state is not JobState.ASSEMBLING for record in truth.jobs()):
                time.sleep(0.02)
            took[workers] = time.monotonic() - began_s
            for child in children:
                child.terminate()
                child.join()
        finally:
            server.close()
    return {
        "segments": asked.segments,
        "one_worker_s": round(took[1], 1),
        "three_workers_s": round(took[3], 1),
        "efficiency": round(took[1] / took[3] / 3, 3),
    }


def _quantiles_ms(waits: list[float]) -> dict[str, float]:
    ordered = sorted(waits) or [0.0]
    places = {"p50": 0.5, "p99": 0.99, "max": 1.0}
    last = len(ordered) - 1
    return {name: round(1000 * ordered[min(last, int(share * len(ordered)))], 2) for name, share in places.items()}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, nargs="*", default=[64])
    parser.add_argument("--slots", type=int, default=256)
    parser.add_argument("--rate", type=float, default=400.0, help="audio-seconds a second of a full worker")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--warm", type=float, default=12.0)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--efficiency", action="store_true")
    parser.add_argument("--segments", type=int, default=12_000, help="of the job of --efficiency")
    asked = parser.parse_args()
    if asked.efficiency:
        print(json.dumps(efficiency(asked)))
        return
    for workers in asked.workers:
        wanted = workers * asked.rate / 11.5 * (asked.seconds + asked.warm)
        print(json.dumps(measure(asked, workers, int(1.2 * wanted) + 2 * workers * asked.slots)), flush=True)


if __name__ == "__main__":
    main()
