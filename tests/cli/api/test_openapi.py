"""`/openapi.json`: true and complete, and no request that it allows (or forbids) meets a fault of ours."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import positive_data_acceptance

from cli.api.app import make_app
from cli.api.service import Service
from jobs.connect import open_broker
from jobs.settings import Settings
from jobs.state import FINAL_JOB_STATES
from tests.helpers_api import Door, add_token, api, auth, running_server
from tests.helpers_clips import sound_file, voice

EXAMPLES = 30
"""Requests for each operation."""
FINAL = {state.value for state in FINAL_JOB_STATES}
ENDLESS = ("/v1/jobs/{job}/events", "/v1/jobs/{job}/audio")
"""Answers that last as long as their job."""
load_all_checks()


def described() -> dict[str, Any]:
    """The description, as any server gives it."""
    settings = Settings(broker="memory://", store="memory://described")
    broker = open_broker("memory://", settings)
    return make_app(Service(settings, broker, broker.streams, broker.gate)).openapi()


@dataclass
class World:
    """A server with something of every kind in it."""

    door: Door
    url: str
    headers: dict[str, str]

    def known(self, name: str) -> list[str]:
        """Ids that a path parameter of that name may have."""
        if name == "job":
            return [record.job for record in self.door.truth.jobs() if record.state.value in FINAL]
        return self._listed.get(name, [])

    def __post_init__(self) -> None:
        self._listed: dict[str, list[str]] = {"model": ["fake"]}
        client = self.door.client
        client.headers.update(self.headers)
        clip = {"audio_sample": ("clip.wav", sound_file(voice()))}
        made = client.post("/v1/audio/voices", data={"name": "Ann", "consent": "Ann agreed"}, files=clip)
        self._listed["voice"] = [made.json()["id"], "tone-low"]
        line = {"custom_id": "a", "method": "POST", "url": "/v1/audio/speech"}
        body = {"model": "fake", "input": "Hello there.", "voice": "tone-low"}
        lines = "\n".join(json.dumps({**line, "custom_id": name, "body": body}) for name in "ab")
        made = client.post("/v1/files", data={"purpose": "batch"}, files={"file": ("b.jsonl", lines.encode())})
        self._listed["file_id"] = [made.json()["id"]]
        batch = {"input_file_id": made.json()["id"], "endpoint": "/v1/audio/speech", "completion_window": "24h"}
        self._listed["batch_id"] = [client.post("/v1/batches", json=batch).json()["id"]]
        self._listed["custom_id"] = ["a"]
        made = client.post("/v1/jobs", json={"text": "One is here. Two is here.", "model": "fake"})
        self.door.wait(made.json()["job" if "job" in made.json() else "id"])
        speech = client.post("/v1/audio/speech", json={**body, "response_format": "wav"})
        assert speech.status_code == 200, speech.text
        self._listed["request_id"] = [speech.headers["X-Request-Id"]]
        self._listed["name"] = ["report.json"]


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with api() as door, running_server(door.service) as url:
        yield World(door, url, auth(add_token(door.service)))


SCHEMA = schemathesis.openapi.from_dict(described())
OPERATIONS = [found.ok() for found in SCHEMA.get_all_operations()]


def requests_of(operation: APIOperation, mode: GenerationMode, world: World) -> st.SearchStrategy[schemathesis.Case]:
    """Requests that the description allows, or forbids; half of them are about something that is there."""

    def about_something(case: schemathesis.Case, place: int) -> schemathesis.Case:
        for name in case.path_parameters or {}:
            known = world.known(name)
            if known and place % 2:
                case.path_parameters[name] = known[place // 2 % len(known)]
        if mode is GenerationMode.POSITIVE and isinstance(case.body, dict) and "model" in case.body and place % 3:
            case.body["model"] = "fake"
        return case

    return st.builds(about_something, operation.as_strategy(mode), st.integers(0, 99))


def asks_for_something(operation: APIOperation) -> bool:
    """Whether a request can be wrong at all."""
    raw = operation.definition.raw
    return bool(raw.get("parameters") or raw.get("requestBody") or raw.get("security"))


REQUESTS = [
    pytest.param(operation, mode, id=f"{operation.label} {mode.value}")
    for operation in OPERATIONS
    for mode in GenerationMode
    if mode is GenerationMode.POSITIVE or asks_for_something(operation)
]


@pytest.mark.parametrize(("operation", "mode"), REQUESTS)
def test_answers_are_as_described(operation: APIOperation, mode: GenerationMode, world: World):
    @given(requests_of(operation, mode, world))
    @limits(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    def send(case: schemathesis.Case) -> None:
        answer = case.call_and_validate(
            base_url=world.url, headers=world.headers, timeout=60, excluded_checks=[positive_data_acceptance]
        )
        SEEN.setdefault((operation.label, mode.value), Counter())[answer.status_code] += 1

    send()
SEEN = {}
from collections import Counter
def test_z():
    for k, v in SEEN.items(): print(k, dict(v))
