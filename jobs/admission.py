"""Whether the queue takes new work: back-pressure at the doors, so that the broker's memory does not fill up."""

from __future__ import annotations

from jobs.connect import Broker
from jobs.errors import QueueFull

MEMORY_SHARE = 0.9
"""Above this share of its maxmemory a broker gets no new jobs: what is begun needs room to end."""


def check_room(broker: Broker, *, max_waiting: int | None) -> None:
    """Look whether new work is taken: fewer than `max_waiting` segments wait (None: any number), and there is memory.

    A job of any size is taken when the queue has room at its coming. What is begun is never refused: retries, takes
    that are spoken again, segments that come back.

    Raises:
        QueueFull: it is not.
        BrokerUnavailable: no answer.
    """
    waiting = broker.truth.depth().segments
    if max_waiting is not None and waiting >= max_waiting:
        msg = (
            f"{waiting} segments wait already, and new work is taken below {max_waiting}; try again later, add "
            "workers, or raise TTS_BATCH_MAX_WAITING_SEGMENTS"
        )
        raise QueueFull(msg)
    facts = broker.facts()
    used, limit = facts.used_memory_bytes, facts.maxmemory_bytes
    if used and limit and used > MEMORY_SHARE * limit:
        msg = (
            f"the broker's memory is full to {used / limit:.0%} of {limit / 1e6:.0f} MB, and new work is taken below "
            f"{MEMORY_SHARE:.0%}; delete old jobs (`tts-batch purge --older-than 30d`) or raise its maxmemory"
        )
        raise QueueFull(msg)
