"""Signs of life of the workers on this machine, for health checks of containers and service managers."""

from __future__ import annotations

import socket

from jobs.protocols import Truth
from jobs.settings import Settings
from workers.celery_app import answering_workers


def signs_of_life(truth: Truth, settings: Settings) -> list[str]:
    """One line for each worker of this host that lives; empty: there is none.

    A heartbeat counts while it is younger than the time after which a worker is declared dead. Raises
    BrokerUnavailable.
    """
    host = socket.gethostname()
    signs = [
        f"{status.info.worker}: last heartbeat {status.beat_age_s:.1f} s ago, {status.slots_busy} slots busy"
        for status in truth.workers()
        if status.info.host == host and status.beat_age_s <= settings.worker_ttl_s
    ]
    return signs or [
        f"{name}: answers" for name in answering_workers(settings.broker or "") if name.endswith(f"@{host}")
    ]
