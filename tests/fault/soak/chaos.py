"""Bad weather, by a seed: kills all the time, and one outage after the other. Everything is noted with its time."""

from __future__ import annotations

import contextlib
import random
import signal
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

import redis

from tests.fault.soak.machines import TTL_S, Cluster, Machine, send
from tests.fault.soak.proxy import Proxy, Weather

KILL_EVERY_S = 22.0
CALM_S = 8.0
"""Mean time between two kills, and between two outages."""
S3_WEATHERS = (Weather.REFUSE, Weather.SLOW, Weather.RESET, Weather.BUSY)


@dataclass
class Storm:
    """Runs until `stop()`; `counts` says how often each kind came."""

    cluster: Cluster
    random: random.Random
    counts: Counter[str] = field(default_factory=Counter)
    log: list[tuple[float, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._began_s = time.monotonic()
        kinds: list[tuple[str, Callable[[], str]]] = [
            ("drain", self._drain),
            ("freeze", self._freeze),
            ("broker_kill", self._broker_kill),
            ("broker_hang", self._broker_hang),
            ("broker_cut", self._broker_cut),
            ("broker_full", self._broker_full),
            ("s3_kill", self._s3_kill),
            ("network_cut", self._network_cut),
            *((f"s3_{weather}", self._s3_weather(weather)) for weather in S3_WEATHERS),
        ]
        self._kinds = kinds
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._kill_on, self._outages)]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """No more; what is broken is whole again after this."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _kill_on(self) -> None:
        while not self._ended.wait(self.random.expovariate(1 / KILL_EVERY_S)):
            target = self._any_process()
            if target is not None:
                name, pid, kind = target
                if send(pid, signal.SIGKILL):
                    self._note("sigkill", f"{name} {kind} {pid}")

    def _outages(self) -> None:
        kinds: list[tuple[str, Callable[[], str]]] = []
        while not self._ended.wait(self.random.expovariate(1 / CALM_S)):
            if not kinds:  # each kind once before any comes again
                kinds = list(self._kinds)
                self.random.shuffle(kinds)
            kind, action = kinds.pop()
            self._note(kind, action())

    def _note(self, kind: str, what: str) -> None:
        with self._lock:
            self.counts[kind] += 1
            self.log.append((round(time.monotonic() - self._began_s, 1), f"{kind} {what}"))

    def _rest(self, low_s: float, high_s: float) -> float:
        """Wait so long, or until the storm is over."""
        length_s = self.random.uniform(low_s, high_s)
        self._ended.wait(length_s)
        return round(length_s, 1)

    def _machine(self) -> Machine:
        return self.random.choice(self.cluster.machines)

    def _any_process(self) -> tuple[str, int, str] | None:
        machine = self._machine()
        found = sorted((pid, kind) for pid, kind in machine.pids().items() if kind not in ("gone", "other"))
        if not found:
            return None
        pid, kind = self.random.choice(found)
        return machine.name, pid, kind

    def _drain(self) -> str:
        machine = self._machine()
        process = machine.process
        if process is not None:
            send(process.pid, signal.SIGTERM)
        return machine.name

    def _freeze(self) -> str:
        target = self._any_process()
        if target is None:
            return "nobody"
        name, pid, kind = target
        send(pid, signal.SIGSTOP)
        length_s = self._rest(0.5 * TTL_S, 3 * TTL_S)
        send(pid, signal.SIGCONT)
        return f"{name} {kind} {length_s} s"

    def _broker_kill(self) -> str:
        self.cluster.valkey.kill()
        length_s = self._rest(0, 5)
        self.cluster.valkey.start()
        return f"{length_s} s"

    def _broker_hang(self) -> str:
        pid = self.cluster.valkey.pid
        send(pid, signal.SIGSTOP)
        length_s = self._rest(2, 12)
        send(pid, signal.SIGCONT)
        return f"{length_s} s"

    def _broker_cut(self) -> str:
        for machine in self.cluster.machines:
            machine.broker.cut()
        return "all connections"

    def _broker_full(self) -> str:
        """No memory for new data for a moment."""
        with redis.Redis(port=self.cluster.port, socket_timeout=10) as client, contextlib.suppress(redis.RedisError):
            client.config_set("maxmemory", 1024 * 1024)
            length_s = self._rest(1, 5)
            client.config_set("maxmemory", 0)
            return f"{length_s} s"
        return "the broker did not listen"

    def _s3_kill(self) -> str:
        self.cluster.s3.kill()
        length_s = self._rest(0, 8)
        self.cluster.s3.start()
        return f"{length_s} s"

    def _s3_weather(self, weather: Weather) -> Callable[[], str]:
        def action() -> str:
            return self._under(weather, [machine.store for machine in self.cluster.machines], 3, 45)

        return action

    def _network_cut(self) -> str:
        machine = self._machine()
        return f"{machine.name} {self._under(Weather.HOLE, [machine.broker, machine.store], 1, 4 * TTL_S)}"

    def _under(self, weather: Weather, proxies: list[Proxy], low_s: float, high_s: float) -> str:
        for proxy in proxies:
            proxy.set(weather)
        length_s = self._rest(low_s, high_s)
        for proxy in proxies:
            proxy.set(Weather.FAIR)
        return f"{length_s} s"
