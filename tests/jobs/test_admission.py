"""Back-pressure: new work is refused while too much waits or the broker is nearly full; what is begun is not."""

from __future__ import annotations

import pytest

from jobs.admission import check_room
from jobs.connect import Broker, ServerFacts
from jobs.errors import QueueFull
from jobs.streams.memory import MemoryStreams
from jobs.submit import accept
from tests.helpers_jobs import World


class Full(Broker):
    """A broker that says how full it is."""

    def facts(self) -> ServerFacts:
        return ServerFacts("valkey", "9", True, "noeviction", used_memory_bytes=95, maxmemory_bytes=100)


def broker_of(world: World, kind: type[Broker] = Broker) -> Broker:
    streams = MemoryStreams(max_audio_bytes=1)
    return kind(url="memory://", safe_url="memory://", truth=world.truth, streams=streams, calls=None)


def test_a_queue_at_its_limit_takes_nothing_new() -> None:
    world = World()
    broker = broker_of(world)
    check_room(broker, max_waiting=1)
    total = world.submit().total
    check_room(broker, max_waiting=total + 1)
    with pytest.raises(QueueFull, match=f"{total} segments wait already, and new work is taken below {total}"):
        check_room(broker, max_waiting=total)
    check_room(broker, max_waiting=None)


def test_a_broker_that_is_nearly_full_takes_nothing_new() -> None:
    with pytest.raises(QueueFull, match="full to 95%"):
        check_room(broker_of(World(), Full), max_waiting=None)


def test_only_work_that_was_not_there_is_asked_for() -> None:
    asked: list[int] = []
    world = World()
    draft = world.draft()
    for _ in range(2):
        accept(draft, world.truth, world.store, check=lambda: asked.append(1))
    assert asked == [1]


def test_what_is_refused_leaves_nothing() -> None:
    world = World()

    def full() -> None:
        raise QueueFull("full")

    with pytest.raises(QueueFull):
        accept(world.draft(), world.truth, world.store, check=full)
    assert world.truth.jobs() == []
    assert list(world.store.list("")) == []
