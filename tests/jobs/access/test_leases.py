"""Places for speech over a real server: renewed while they are held, free by themselves when nobody renews them."""

from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from jobs import keys
from jobs.access.leases import Leases
from jobs.errors import BrokerUnavailable
from jobs.truth.calls import Calls, make_client
from tests.helpers_valkey import ValkeyServer, shared_server
from tests.workers.making import until

pytestmark = pytest.mark.services
LEASE_S = 0.3


@pytest.fixture
def calls() -> Iterator[Calls]:
    server = shared_server()
    server.flush()
    client = make_client(server.url)
    yield Calls(client)
    client.close()


def renewers() -> int:
    return sum(thread.name == "leases" for thread in threading.enumerate())


def test_a_place_is_kept_as_long_as_it_is_held(calls: Calls) -> None:
    leases = Leases(calls, lease_s=LEASE_S, renew_every_s=LEASE_S / 10)
    assert leases.take("t", "a", 1)
    place = keys.token_use("speaking", "t")
    first = calls.client.zscore(place, "a")
    until(lambda: calls.client.zscore(place, "a") > first + 3 * LEASE_S, "it was renewed for long")
    assert not leases.take("t", "b", 1)
    assert renewers() == 1
    leases.leave("t", "a")
    assert leases.take("t", "b", 1)
    leases.leave("t", "b")
    assert not calls.client.exists(place)
    until(lambda: renewers() == 0, "the thread ended with the last place")


def test_the_place_of_a_server_that_died_is_free_when_its_lease_is_over(calls: Calls) -> None:
    dead = Leases(calls, lease_s=LEASE_S, renew_every_s=3600)  # as one that renews no more
    other = Leases(calls, lease_s=LEASE_S, renew_every_s=LEASE_S / 10)
    assert dead.take("t", "a", 1)
    assert not other.take("t", "b", 1)
    until(lambda: other.take("t", "b", 1), "the dead one's place is free")
    other.leave("t", "b")
    dead.leave("t", "a")
    until(lambda: renewers() == 0, "the threads ended")


def test_the_same_request_takes_no_second_place(calls: Calls) -> None:
    leases = Leases(calls)
    assert leases.take("t", "a", 1)
    assert leases.take("t", "a", 1)
    leases.leave("t", "a")
    assert not calls.client.exists(keys.token_use("speaking", "t"))


def test_without_a_broker_a_place_is_left_all_the_same() -> None:
    server = ValkeyServer().start()
    client = make_client(server.url)
    try:
        leases = Leases(Calls(client, retry_for_s=0.0), lease_s=LEASE_S, renew_every_s=LEASE_S / 10)
        assert leases.take("t", "a", 1)
        server.kill()
        leases.leave("t", "a")
        with pytest.raises(BrokerUnavailable):
            leases.take("t", "b", 1)
        until(lambda: renewers() == 0, "the thread ended")
    finally:
        client.close()
        server.close()
