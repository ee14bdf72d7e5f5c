"""From a URL to a broker: schemes, facts, and errors that say what to do and show no password."""

from __future__ import annotations

import pytest

from jobs.connect import open_broker
from jobs.errors import BadOption, BrokerUnavailable
from jobs.settings import Settings
from jobs.state import JobState
from tests.helpers_truth import record
from tests.helpers_valkey import ValkeyServer, shared_server
from tests.jobs.truth.stub_server import stub_server


def test_memory_is_a_broker_of_its_own() -> None:
    broker = open_broker("memory://", Settings())
    broker.ping()
    assert broker.truth.create_job(record("a"))
    assert len(broker.streams.events("a")) == 1
    assert broker.facts().appendonly is False
    assert open_broker("memory://", Settings()).truth.jobs() == []


@pytest.mark.services
def test_a_server_is_opened_and_described() -> None:
    server = shared_server()
    server.flush()
    broker = open_broker(server.url, Settings())
    broker.ping()
    broker.truth.create_job(record("a"))
    assert open_broker(server.url, Settings()).truth.job("a").state is JobState.PLANNING
    assert [event.state for _id, event in broker.streams.events("a")] == [JobState.PLANNING]
    facts = broker.facts()
    assert (facts.software, facts.appendonly, facts.maxmemory_policy) == ("valkey", True, "noeviction")
    assert int(facts.version.split(".")[0]) >= 8


@pytest.mark.parametrize("url", ["localhost:6379", "http://u:secret@h", "redis://u:secret@h:port", "u:secret@h", ""])
def test_what_is_no_broker_url_is_refused(url: str) -> None:
    with pytest.raises(BadOption, match="is not a broker URL; use redis://host:6379/0") as caught:
        open_broker(url, Settings())
    assert "secret" not in str(caught.value)


def test_nobody_there_is_told_at_once() -> None:
    with pytest.raises(BrokerUnavailable, match=r"no Redis or Valkey answers at 127\.0\.0\.1:1 ") as caught:
        open_broker("redis://u:secret@127.0.0.1:1/0", Settings())
    assert "secret" not in str(caught.value)


def test_a_server_that_loads_its_data_is_waited_for() -> None:
    with stub_server(b"-LOADING Redis is loading the dataset in memory", b"+PONG") as url:
        broker = open_broker(url, Settings())
        broker.ping()
        broker.close()


@pytest.mark.services
def test_a_wrong_password_is_told_without_showing_it() -> None:
    server = ValkeyServer()
    try:
        server.start()
        admin = open_broker(server.url, Settings())
        assert admin.calls is not None
        admin.calls.client.config_set("requirepass", "right")
        with pytest.raises(BrokerUnavailable, match="refused the user or password") as caught:
            open_broker(f"unix://:wrong@{server.socket}", Settings())
        assert "wrong" not in str(caught.value)
        open_broker(f"unix://:right@{server.socket}", Settings()).ping()
    finally:
        server.close()
