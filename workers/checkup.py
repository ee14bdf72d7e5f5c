"""Signs of life of the workers on this machine, for health checks of containers and service managers."""

from __future__ import annotations

import socket

from jobs.protocols import Truth
from jobs.settings import Settings
from workers.celery_app import answering_workers


def signs_of_life(truth: Truth, settings: Settings, kind: str | None = None) -> list[str]:
    """One line for each worker of this host that lives, of one kind if it is named; empty: there is none.

    `gpu` are those that speak: a heartbeat counts while it is younger than the time after which a worker is declared
    dead. `cpu` are those for steps, which are asked. Raises BrokerUnavailable.
    """
    host = socket.gethostname()
    if kind == "cpu":
        return _for_steps(settings, host)
    signs = [
        f"{status.info.worker}: last heartbeat {status.beat_age_s:.1f} s ago, {status.slots_busy} slots busy"
        for status in truth.workers()
        if status.info.host == host and status.beat_age_s <= settings.worker_ttl_s
    ]
    return signs if signs or kind == "gpu" else _for_steps(settings, host)


def _for_steps(settings: Settings, host: str) -> list[str]:
    return [f"{name}: answers" for name in answering_workers(settings.broker or "") if name.endswith(f"@{host}")]
