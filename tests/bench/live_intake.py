"""How soon live requests are heard while a bulk job has all slots: `python -m tests.bench.live_intake [requests]`.

Two rooms of four slots in this process, an own Valkey, the fake model at twenty times real time (it sleeps, so the
machine's cores are no limit). Prints one JSON document. Not a test: nothing is asserted, machines differ.
"""

from __future__ import annotations

import json
import statistics
import sys
import threading
import time
from collections.abc import Callable, Sequence
from types import SimpleNamespace

from jobs.connect import open_broker
from jobs.protocols import Beat
from jobs.settings import Settings
from jobs.spec import JobRecord, Priority, SegmentTask
from jobs.state import FINAL_JOB_STATES, JobState
from jobs.tasks import tasks_of
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import record, tasks, worker
from tests.helpers_valkey import ValkeyServer
from tests.workers.making import ONE_TAKE, Stage, lines
from workers.context import Context
from workers.engines import EngineSettings
from workers.room import Room
from workers.room_config import RoomConfig

ROOMS, SLOTS = 2, 4
FRAME_S = 0.0005
"""What a frame of 10 ms takes."""
MARK = f"[[fault:slow:s={FRAME_S}]]"
BULK_SEGMENTS = 400
IDLE_TRIES = 40
CANCEL_TRIES = 10


class Clocked(RedisTruth):
    """Notes when each segment was leased."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.leased_s: dict[str, float] = {}
        self.leases = 0

    def lease(self, worker: str, want: int, *, live_only: bool = False) -> list[SegmentTask]:
        tasks = super().lease(worker, want, live_only=live_only)
        self.leases += 1
        self.leased_s |= {task.ref: time.perf_counter() for task in tasks}
        return tasks


class World:
    """The rooms, and requests to them."""

    def __init__(self, url: str) -> None:
        self.stage = Stage()
        settings = Settings(broker=url)
        broker = open_broker(url, settings)
        assert broker.calls is not None
        self.truth = Clocked(broker.calls)
        self.streams = broker.streams
        context = Context(settings, self.truth, self.streams, {self.stage.url: self.stage.store})
        self.flag = SimpleNamespace(stopping=False)
        self.rooms = [Room(_config(number), context) for number in range(ROOMS)]
        self.threads = [
            threading.Thread(target=room.run, args=(self.flag,), kwargs={"grace_s": 0}) for room in self.rooms
        ]
        for thread in self.threads:
            thread.start()
        self._drafts = 0
        while len(self.truth.workers()) < ROOMS:
            time.sleep(0.01)
        self.wait(self.queue(1, speech=True)[0], FINAL_JOB_STATES)  # models and engines are made with the first ones

    def queue(self, count: int, *, speech: bool) -> tuple[str, float]:
        """A job of so many segments, each with a take of its own; returns its id and when it was handed over."""
        self._drafts += 1
        name = f"{'s' if speech else 'b'}{self._drafts}"
        wishes = {"live": speech, "checks": ONE_TAKE, "priority": Priority.LIVE if speech else Priority.BULK}
        draft = self.stage.draft(lines(count, f"of the {name} kind {MARK}"), **wishes)
        made = tasks_of(draft.plan, draft.spec, draft.job)
        own = [task.model_copy(update={"job": name, "take": f"{name}-{task.take}"}) for task in made]
        now_s = time.time()
        request = JobRecord(
            job=name,
            spec=draft.spec,
            state=JobState.PLANNING,
            title=name,
            author="",
            created_at_s=now_s,
            updated_at_s=now_s,
        )
        asked_s = time.perf_counter()
        if speech:
            self.truth.speak(request, own)
        else:
            self.truth.create_job(request)
            self.truth.enqueue(name, own, [])
        return name, asked_s

    def wait(self, job: str, states: frozenset[JobState]) -> None:
        while self.truth.job(job).state not in states:
            time.sleep(0.005)

    def first_chunk_s(self, job: str) -> float:
        """When the first sound of a request was there, by the broker's clock."""
        (entry, _chunk), *_more = self.streams.audio(job, timeout_s=60)
        return int(entry.partition("-")[0]) / 1000

    def close(self) -> None:
        self.flag.stopping = True
        for thread in self.threads:
            thread.join()


def _config(number: int) -> RoomConfig:
    return RoomConfig(f"w{number}", "cpu", "auto", ("fake",), EngineSettings(SLOTS))


def spread(values: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile, in ms."""
    cuts = statistics.quantiles(values, n=20)
    return {
        "p50_ms": round(1000 * cuts[9], 1),
        "p95_ms": round(1000 * cuts[18], 1),
        "max_ms": round(1000 * max(values), 1),
    }


def idle_latency(world: World) -> dict[str, float]:
    """From the call of speak to the lease, on workers that wait for work."""
    found = []
    for _try in range(IDLE_TRIES):
        time.sleep(0.03)
        job, asked_s = world.queue(1, speech=True)
        world.wait(job, FINAL_JOB_STATES)
        found.append(world.truth.leased_s[f"{job}|0"] - asked_s)
    return spread(found)


def burst(world: World, requests: int) -> dict[str, object]:
    """Requests that come at once while a bulk job has all slots."""
    bulk, _asked_s = world.queue(BULK_SEGMENTS, speech=False)
    time.sleep(1.5)
    began_s, done_before, leases = time.time(), world.truth.job(bulk).done, world.truth.leases
    asked = {}
    for _request in range(requests):
        job, asked_s = world.queue(1, speech=True)
        asked[job] = asked_s
    queued_s = time.time() - began_s
    for job in asked:
        world.wait(job, FINAL_JOB_STATES)
    drained_s = time.time() - began_s
    audio_s = sum(world.truth.job(job).audio_s for job in asked)
    leased = [world.truth.leased_s[f"{job}|0"] - asked_s for job, asked_s in asked.items()]
    clock_s = time.time() - time.perf_counter()
    first = [world.first_chunk_s(job) - clock_s - asked_s for job, asked_s in asked.items()]
    order = sorted(asked, key=lambda job: world.truth.leased_s[f"{job}|0"])
    told = {
        "requests": requests,
        "queued_in_s": round(queued_s, 2),
        "lease": spread(leased),
        "first_sound": spread(first),
        "begun_in_order": order == list(asked),
        "drained_in_s": round(drained_s, 2),
        "at_best_s": round(audio_s * 100 * FRAME_S / ROOMS, 2),
        "bulk_segments_meanwhile": world.truth.job(bulk).done - done_before,
        "leases": world.truth.leases - leases,
    }
    world.truth.cancel(bulk)
    return told


def cancel_latency(world: World) -> dict[str, float]:
    """From cancel to a slot that is free again, for a request that is being spoken."""
    found = []
    for _try in range(CANCEL_TRIES):
        job, _asked_s = world.queue(40, speech=True)
        while sum(room.slots_busy for room in world.rooms) < ROOMS * SLOTS:
            time.sleep(0.001)
        asked_s = time.perf_counter()
        world.truth.cancel(job)
        while sum(room.slots_busy for room in world.rooms):
            time.sleep(0.001)
        found.append(time.perf_counter() - asked_s)
    return spread(found)


def full_latency(world: World) -> dict[str, float]:
    """From the call of speak to the lease while a bulk job has all slots, one request at a time."""
    bulk, _asked_s = world.queue(BULK_SEGMENTS, speech=False)
    time.sleep(1.0)
    found = []
    for _try in range(IDLE_TRIES):
        job, asked_s = world.queue(1, speech=True)
        world.wait(job, FINAL_JOB_STATES)
        found.append(world.truth.leased_s[f"{job}|0"] - asked_s)
    world.truth.cancel(bulk)
    return spread(found)


def looks_when_full(world: World) -> float:
    """How often a second each full room asks the queue while nothing live comes."""
    bulk, _asked_s = world.queue(60, speech=False)
    time.sleep(1.0)
    before, done = world.truth.leases, world.truth.job(bulk).done
    time.sleep(3.0)
    asked, segments = world.truth.leases - before, world.truth.job(bulk).done - done
    world.truth.cancel(bulk)
    return round((asked - segments) / 3.0 / ROOMS, 1)


def script_us(world: World, script: Callable[[], object], times: int = 300) -> float:
    """Mean time of the server in a script, in µs, nobody else asking."""
    client = world.truth._calls.client
    client.config_resetstat()
    for _time in range(times):
        script()
    return round(client.info("commandstats")["cmdstat_evalsha"]["usec"] / times, 1)


def costs(world: World) -> dict[str, float]:
    """What scripts cost on the server, after the rooms have gone."""
    truth = world.truth
    truth.register(worker("a", "m"))
    found = {}
    for held in (4, 256):
        truth.speak(record(f"held{held}", priority=Priority.LIVE), tasks(f"held{held}", held))
        truth.lease("a", held)
        found[f"beat_holding_{held}_us"] = script_us(world, lambda: truth.beat("a", Beat(4, 1, 1.0)))
        truth.give_back("a")
        truth.cancel(f"held{held}")
    found["live_lease_of_nothing_us"] = script_us(world, lambda: truth.lease("a", 1, live_only=True))
    names = iter(range(100_000))
    requests = [(record(f"x{name}", priority=Priority.LIVE), tasks(f"x{name}", 2)) for name in range(1000)]
    found["speak_2_segments_us"] = script_us(world, lambda: truth.speak(*requests[next(names)]), times=1000)
    found["depth_of_1000_requests_us"] = script_us(world, truth.depth)
    found["sweep_of_1000_requests_us"] = script_us(world, truth.sweep, times=30)
    return found


def main(requests: int) -> dict[str, object]:
    server = ValkeyServer().start()
    world = World(server.url)
    try:
        figures: dict[str, object] = {
            "idle_lease": idle_latency(world),
            "full_lease": full_latency(world),
            "full_looks_per_s": looks_when_full(world),
            "cancel_to_free_slot": cancel_latency(world),
            "burst": burst(world, requests),
        }
    finally:
        world.close()
    figures["server"] = costs(world)
    server.close()
    return figures


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]) if len(sys.argv) > 1 else 200), indent=2))
