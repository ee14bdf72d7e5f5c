"""The process that moves one large batch on."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.api.clerk import main, spawner
from cli.api.wording import for_http
from jobs.batches.batches import Batches, Order
from jobs.batches.desk import Desk
from jobs.batches.records import Pinned, Status, write_of
from jobs.connect import open_broker
from jobs.settings import Settings, child_environment
from jobs.stores import open_store
from tests.helpers_valkey import ValkeyServer, shared_server
from tests.jobs.batches.office import jsonl, request
from workers.catalog import find_offer

TOLD = {"tts-1": "fake"}
TOLD_ALL = json.dumps({"aliases": TOLD, "max_chars": 50})


@pytest.fixture
def valkey() -> ValkeyServer:
    return shared_server()


@pytest.fixture
def settings(valkey: ValkeyServer, tmp_path: Path) -> Settings:
    return Settings(broker=valkey.url, data_dir=tmp_path)


@pytest.fixture
def desk(settings: Settings) -> Iterator[Desk]:
    broker = open_broker(settings.broker or "", settings)
    yield Desk(broker.truth, open_store(settings.store_url), list)
    broker.close()


def as_in_process_of_its_own(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in child_environment(settings).items():
        monkeypatch.setenv(name, value)


def test_what_only_one_process_has_is_worked_on_in_it(tmp_path: Path):
    assert spawner(Settings(broker="memory://", data_dir=tmp_path), {}, 10) is None
    assert spawner(Settings(broker="unix:///x", store="memory://x", data_dir=tmp_path), {}, 10) is None
    assert spawner(Settings(data_dir=tmp_path), {}, 10) is None
    assert spawner(Settings(broker="unix:///x", data_dir=tmp_path), {}, 10) is not None


@pytest.mark.services
def test_a_batch_is_begun_as_the_server_would(settings: Settings, desk: Desk, monkeypatch: pytest.MonkeyPatch):
    batches = Batches(desk)
    lines = [request("a", model="tts-1"), request("b", voice="nobody"), request("c", "x" * 51)]
    batch = batches.create(Order(desk.files.keep(io.BytesIO(jsonl(lines)), filename="a").id)).id
    pinned = Pinned(offers=(find_offer("fake", voice=None, precision="auto"),), aliases=TOLD)
    write_of(desk.store, batch, pinned)
    spawn = spawner(settings, TOLD, 50)
    assert spawn is not None
    assert spawn(batch).wait() == 0
    now = batches.get(batch)
    assert (now.status, now.counts.total, now.counts.failed) == (Status.IN_PROGRESS, 3, 2)
    errors = {line.custom_id: line.error for line in desk.lines(batch).all}
    assert errors["a"] is None
    for custom_id, code in (("b", "voice_not_found"), ("c", "string_above_max_length")):
        error = errors[custom_id]
        assert error is not None
        assert (error.code, error.message) == (code, for_http(error.message))
    as_in_process_of_its_own(settings, monkeypatch)
    assert main(batch, TOLD_ALL) == 0
    assert batches.get(batch) == now


@pytest.mark.services
def test_a_broker_that_is_away_is_told_by_the_status(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    as_in_process_of_its_own(Settings(broker=f"unix://{tmp_path}/nobody", data_dir=tmp_path), monkeypatch)
    assert main("batch_1", TOLD_ALL) == 1
