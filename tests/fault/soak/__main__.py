"""Runs a soak and prints one JSON report; exit status 1 if anything is wrong afterwards."""

from __future__ import annotations

import argparse
import json
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx
import redis

from jobs.connect import open_broker
from jobs.embedded import Embedded
from jobs.protocols import Truth
from jobs.settings import Settings
from jobs.state import FINAL_JOB_STATES
from jobs.stores import FolderStore
from jobs.submit import accept
from tests.fault.soak import audit
from tests.fault.soak.chaos import Storm
from tests.fault.soak.listeners import Callers
from tests.fault.soak.machines import Cluster, drop_folder, new_folder, resident_bytes
from tests.fault.soak.sources import Sent
from tests.fault.soak.workload import Workload
from tests.helpers_cli import Home

QUIET_S = 900.0
"""How long jobs may take to end after the storm. A step that was lost is sent again after some minutes."""
REFERENCE_S = 900.0
SAMPLE_EVERY_S = 30.0


class Soak:
    """One run."""

    def __init__(self, arguments: argparse.Namespace) -> None:
        self.arguments = arguments
        self.folder = new_folder()
        self.memory: list[dict[str, int]] = []
        self.wrong: list[str] = []
        self.weather: list[tuple[float, str]] = []

    def run(self) -> dict[str, object]:
        """All of it; returns the report."""
        chance = random.Random(self.arguments.seed)
        with Cluster(self.folder, voice=self.arguments.voice) as cluster:
            work = Workload(cluster, random.Random(chance.random()), self.arguments.voice)
            calls = Callers(cluster, random.Random(chance.random()))
            storm = Storm(cluster, random.Random(chance.random()))
            self.weather = storm.log
            self._wait_for_door(calls)
            began_s = time.monotonic()
            for part in (work, calls, storm):
                part.start()
            self._watch(cluster, began_s + 60 * self.arguments.minutes)
            for part in (storm, calls, work):
                part.stop()
            ended = self._wait_for_ends(cluster, work)
            self.wrong += self._batches(calls)
            work.purge()
            cluster.stop()
            self.wrong += self._audit(cluster, work)
            self.wrong += [f"speech: {fault}" for fault in calls.faults]
            self.wrong += [f"{one.name} did not stop by itself" for one in cluster.machines if -999 in one.ended]
            compared = self._compare(cluster, work)
            return self._report(cluster, work, calls, storm) | {"ended_after_s": ended, "compared_jobs": compared}

    def _wait_for_door(self, calls: Callers) -> None:
        deadline_s = time.monotonic() + 120
        while time.monotonic() < deadline_s:
            try:
                if httpx.get(calls.url.removesuffix("/v1") + "/healthz", timeout=5).json()["status"] == "ok":
                    return
            except (httpx.HTTPError, ValueError):
                pass
            time.sleep(1)
        self.wrong.append("the cluster did not come up")

    def _watch(self, cluster: Cluster, until_s: float) -> None:
        while (left_s := until_s - time.monotonic()) > 0:
            time.sleep(min(SAMPLE_EVERY_S, left_s))
            sample = {one.name: resident_bytes(one.process.pid) for one in cluster.machines if one.process is not None}
            try:
                with redis.Redis(port=cluster.port, socket_timeout=2) as client:
                    sample["broker"] = int(client.info("memory")["used_memory"])
            except redis.RedisError:
                pass
            self.memory.append(sample)

    def _wait_for_ends(self, cluster: Cluster, work: Workload) -> float:
        began_s = time.monotonic()
        with redis.Redis(port=cluster.port, socket_timeout=20) as client:
            while time.monotonic() < began_s + QUIET_S:
                open_jobs = [job for job, state in work.states().items() if state not in FINAL_JOB_STATES]
                if not open_jobs and client.scard("tts:speech") == 0 and client.xlen("tts:outbox") == 0:
                    return round(time.monotonic() - began_s, 1)
                time.sleep(1)
        return -1.0

    def _batches(self, calls: Callers) -> Iterator[str]:
        with httpx.Client(base_url=calls.url.removesuffix("/v1"), timeout=60, follow_redirects=True) as client:
            for batch, ids in calls.batches.items():
                about = self._ended_batch(client, batch)
                files = [about[name] for name in ("output_file_id", "error_file_id") if about.get(name)]
                lines = [
                    line for name in files for line in client.get(f"/v1/files/{name}/content").text.splitlines() if line
                ]
                yield from audit.batch_is_whole(ids, str(about["status"]), lines)

    def _ended_batch(self, client: httpx.Client, batch: str) -> dict[str, object]:
        about: dict[str, object] = {"status": "unknown"}
        for _ in range(120):
            about = client.get(f"/v1/batches/{batch}").json()
            if about.get("status") in ("completed", "failed", "cancelled", "expired"):
                break
            time.sleep(1)
        return about

    def _audit(self, cluster: Cluster, work: Workload) -> Iterator[str]:
        broker, store = cluster.open_broker(), cluster.open_store()
        truth, streams = broker.truth, broker.streams
        records = {record.job: record for record in truth.jobs()}
        yield from audit.jobs_ended(truth, work.sent)
        with redis.Redis(port=cluster.port) as client:
            yield from audit.truth_is_clean(client, [*records])
        for record in records.values():
            results = truth.results(record.job)
            yield from audit.events_tell_it(streams, record, results)
            if record.state in audit.ENDED_WELL:
                yield from audit.store_has_it(store, record, results)
        for listener in work.listeners:
            listener.stopping.set()
            listener.thread.join()
            record = records.get(listener.job)
            if record is not None and record.state in audit.ENDED_WELL:
                yield from audit.heard_right(store, listener, truth.results(listener.job))
        yield from audit.store_has_nothing_else(store, [*records])

    def _compare(self, cluster: Cluster, work: Workload) -> int:
        """Speak a part of the jobs again in calm weather and compare the bytes of all finished audio."""
        truth, store = cluster.open_broker().truth, cluster.open_store()
        states = {record.job: record.state for record in truth.jobs()}
        fit = [one for one in work.sent if states.get(one.job) in audit.ENDED_WELL and one.kind != "poison"]
        chosen = random.Random(self.arguments.seed).sample(fit, min(len(fit), self.arguments.compare))
        with tempfile.TemporaryDirectory(prefix="calm-") as folder:
            home = Home(Path(folder), {"TTS_BATCH_MODEL": "fake", "TTS_BATCH_PROCESSES": "2"})
            reference = FolderStore(home.data / "store")
            with home.up():
                settings = Settings(data_dir=home.data, broker=Embedded(home.data).url)
                calm = open_broker(settings.broker or "", settings)
                drafts = [one.draft(work.offer_of(one), reference.url) for one in chosen]
                for draft in drafts:
                    accept(draft, calm.truth, reference)
                self._wait_for_calm(calm.truth)
                for one, draft in zip(chosen, drafts, strict=True):
                    self.wrong += _like_the_calm_run(truth, calm.truth, one, draft.job)
                    self.wrong += audit.same_files(store, reference, one.job, draft.job)
        return len(chosen)

    def _wait_for_calm(self, truth: Truth) -> None:
        deadline_s = time.monotonic() + REFERENCE_S
        while time.monotonic() < deadline_s:
            if all(record.state in FINAL_JOB_STATES for record in truth.jobs()):
                return
            time.sleep(1)
        self.wrong.append("the calm run did not end in time")

    def _report(self, cluster: Cluster, work: Workload, calls: Callers, storm: Storm) -> dict[str, object]:
        truth = cluster.open_broker().truth
        records = truth.jobs()
        heard = sum(len(listener.heard) for listener in work.listeners)
        return {
            "minutes": self.arguments.minutes,
            "seed": self.arguments.seed,
            "weather": dict(sorted(storm.counts.items())),
            "starts": {one.name: one.starts for one in cluster.machines},
            "jobs": dict(Counter(one.kind for one in work.sent)),
            "ends": dict(Counter(record.state.value for record in records)),
            "asked": dict(Counter(one.end or "to its end" for one in work.sent)),
            "segments": sum(record.total for record in records),
            "failed_segments": sum(record.failed for record in records),
            "audio_s": round(sum(record.audio_s for record in records)),
            "totals": dict(truth.totals()),
            "speech": {"whole": calls.whole, "refused": calls.refused, "broken": calls.broken},
            "batches": len(calls.batches),
            "live_segments_heard": heard,
            "memory_mb": _growth(self.memory),
            "wrong": self.wrong,
        }


def _like_the_calm_run(truth: Truth, calm: Truth, one: Sent, reference_job: str) -> Iterator[str]:
    ours, theirs = truth.results(one.job), calm.results(reference_job)
    different = [number for number, result in ours.items() if number in theirs and result.take != theirs[number].take]
    if set(ours) != set(theirs) or different:
        yield f"{one.job}: other takes than in a calm run: {different or set(ours) ^ set(theirs)}"


def _growth(memory: list[dict[str, int]]) -> dict[str, list[int]]:
    """First third, last third and highest of each, in MB."""
    found = {}
    for name in sorted({name for sample in memory for name in sample}):
        values = [sample[name] for sample in memory if sample.get(name)]
        third = max(1, len(values) // 3)
        means = (sum(values[:third]) / third, sum(values[-third:]) / third, max(values))
        found[name] = [round(value / 1e6) for value in means]
    return found


def main() -> None:
    """Parse, run, print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--voice", action="store_true", help="one machine speaks with the real voice")
    parser.add_argument("--compare", type=int, default=60, help="so many jobs are spoken again in calm weather")
    parser.add_argument("--log", type=Path, help="where the times of all bad weather are written")
    soak = Soak(parser.parse_args())
    report = soak.run()
    if soak.arguments.log is not None:
        soak.arguments.log.write_text("\n".join(f"{at_s:8.1f} {what}" for at_s, what in soak.weather) + "\n")
    print(json.dumps(report))
    if report["wrong"]:
        print(f"the logs are in {soak.folder}", file=sys.stderr)
        sys.exit(1)
    drop_folder(soak.folder)


if __name__ == "__main__":
    main()
