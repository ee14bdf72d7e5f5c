"""The part of RedisTruth that the machine room leases and reports with. Each move is one script (see `scripts/`)."""

from __future__ import annotations

import json
import threading
import time
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence

from jobs import keys
from jobs.protocols import Beat, Depth, Verdict
from jobs.spec import SegmentResult, SegmentTask, WorkerInfo, WorkerStatus
from jobs.truth.calls import Calls
from jobs.truth.records import text, texts, worker_status
from jobs.truth.redis_base import RedisPart
from jobs.truth.rules import CRASH_REASON, LEFT_REASON, PRIORITY_CLASS, SPEECH_WANTED_S, check_results

GUARD = 1.2
"""Nobody is buried until this many worker TTLs after our own last connection error: after an outage of the broker all
heartbeats are old, and nobody is dead."""

_OF_WORKER = (("HGETALL", keys.worker), ("SCARD", keys.held))


class RedisWorkers(RedisPart):
    """Workers and what they hold. `jobs.protocols.Truth` says what each method promises."""

    def __init__(self, calls: Calls, *, worker_ttl_s: float) -> None:
        super().__init__(calls)
        self._worker_ttl_s = worker_ttl_s
        # A lease whose reply was lost may have been given. Its token is kept until a reply comes, so that the next
        # lease gets those segments and none is held unknown. One lease at a time keeps the tokens in order.
        self._lease_lock = threading.Lock()
        self._open_tokens: dict[str, str] = {}
        self._seen = threading.local()

    def register(self, info: WorkerInfo) -> None:
        """Make a worker known."""
        self._run("register", info.worker, info.model_dump_json())

    def beat(self, worker: str, beat: Beat) -> frozenset[str]:
        """Heartbeat; returns the jobs among those it holds that are over.

        Raises:
            Fenced: the worker is not known (any more).
        """
        figures = "" if beat.figures is None else json.dumps(dict(beat.figures), separators=(",", ":"))
        over = self._run("beat", worker, beat.slots_busy, beat.segments_done, beat.audio_s, figures)
        return frozenset(texts(over))

    def lease(self, worker: str, want: int, *, live_only: bool = False) -> list[SegmentTask]:
        """Take up to `want` segments; after a lost reply the next lease returns what the lost one gave.

        Raises:
            Fenced: the worker is not known (any more).
            BrokerUnavailable: no connection.
        """
        with self._lease_lock:
            token = self._open_tokens.setdefault(worker, uuid.uuid4().hex)
            payloads = self._run("lease", worker, want, token, int(live_only))
            del self._open_tokens[worker]
        return [SegmentTask.model_validate_json(payload) for payload in payloads]

    def finish(self, worker: str, results: Sequence[SegmentResult]) -> list[bool]:
        """Report results; False for one finished before, not held by this worker, or whose job is over.

        Raises:
            Fenced: the worker is not known (any more); nothing changed.
            ValueError: a result is neither done nor failed.
        """
        check_results(results)
        accepted = self._run_marked("finish", [worker], [result.model_dump_json() for result in results])
        return [bool(flag) for flag in accepted]

    def give_back(self, worker: str, refs: Sequence[str] | None = None) -> int:
        """Put held segments back to waiting; returns how many wait again (those of cancelled jobs vanish)."""
        return int(self._run("give_back", worker, int(refs is None), *(refs or ())))

    def crashed(self, worker: str) -> Verdict:
        """Apply the poison rule and bury the worker; an unknown worker held nothing."""
        returned, suspects, dead = self._run("crashed", worker, CRASH_REASON)
        return Verdict(returned=tuple(texts(returned)), suspects=tuple(texts(suspects)), dead=tuple(texts(dead)))

    def retire(self, worker: str) -> None:
        """Give back what it holds and take it off the list."""
        self._run("retire", worker)

    def sweep(self) -> list[str]:
        """Bury silent workers, give up speech requests that nobody waits for, mend counts; returns the buried."""
        quiet_s = time.monotonic() - self._calls.last_error_s
        may_bury = quiet_s >= GUARD * self._worker_ttl_s
        unwanted_s = SPEECH_WANTED_S if quiet_s >= GUARD * SPEECH_WANTED_S else ""
        about = [self._worker_ttl_s, int(may_bury)]
        return sorted(texts(self._run_marked("sweep", about, [unwanted_s, LEFT_REASON])))

    def holding(self, worker: str) -> frozenset[str]:
        """What a worker holds."""
        held = self._calls.repeat(lambda _again: self._calls.client.smembers(keys.held(worker)))
        return frozenset(map(text, held))

    def totals(self) -> Counter[str]:
        """What was counted since the truth began."""
        counted = self._calls.repeat(lambda _again: self._calls.client.hgetall(keys.TOTALS))
        return Counter({text(name): int(number) for name, number in counted.items()})

    def count(self, totals: Mapping[str, int]) -> None:
        """Add to them."""
        self._calls.together(("HINCRBY", keys.TOTALS, name, number) for name, number in totals.items())

    def workers(self) -> list[WorkerStatus]:
        """All living workers, by name."""
        beats = self._calls.repeat(lambda _again: self._calls.client.zrange(keys.WORKERS, 0, -1, withscores=True))
        last_beats = {text(worker): beat_at_s for worker, beat_at_s in beats}

        reads = [(command, key(worker)) for worker in last_beats for command, key in _OF_WORKER]
        (seconds, micros), *replies = self._calls.together([("TIME",), *reads])
        now_s = seconds + micros / 1e6
        found = [
            worker_status(fields, beat_age_s=max(0.0, now_s - last_beats[worker]), held=held)
            for worker, fields, held in zip(last_beats, replies[::2], replies[1::2], strict=True)
            if fields
        ]
        return sorted(found, key=lambda status: status.info.worker)

    def depth(self) -> Depth:
        """How much waits, by class (suspects in their own, paused jobs not at all), and how much workers hold."""
        *waiting, held, steps = self._run("depth")
        return Depth({priority: waiting[place] for priority, place in PRIORITY_CLASS.items()}, held, steps)

    def wait_for_work(self, timeout_s: float) -> bool:
        """Sleep until something was queued since this thread's last call (at its first: ever); False: time is up."""
        seen: bytes | str = getattr(self._seen, "entry", "0-0")
        found = self._calls.block(
            timeout_s, lambda block_ms: self._calls.client.xread({keys.WAKE: seen}, block=block_ms)
        )
        if not found:
            return False
        self._seen.entry = found[0][1][-1][0]
        return True
