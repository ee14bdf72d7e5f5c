"""`/openapi.json`: true and complete, and no request that it allows or forbids meets a fault of ours."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as limits
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.checks import negative_data_rejection, positive_data_acceptance

from cli.api.app import make_app
from cli.api.service import Service
from jobs.connect import open_broker
from jobs.settings import Settings
from jobs.state import FINAL_JOB_STATES
from tests.helpers_api import Door, add_token, api, auth, running_server
from tests.helpers_clips import sound_file, voice

EXAMPLES = 30
"""Requests for each operation, that are as described and that are not."""
CLIP = sound_file(voice())
SPEECH = {"model": "fake", "input": "Hello there.", "voice": "tone-low", "response_format": "wav"}
NEEDED = ("text", "input", "file", "purpose", "name", "consent", "endpoint", "completion_window", "model")
"""Fields of bodies that a plain request keeps as they were drawn, but for the model."""
OPEN = {"/livez", "/healthz", "/v1/session"}
"""What asks for no token."""
DOCS = Path(__file__).parents[3] / "docs"
load_all_checks()


def described() -> dict[str, Any]:
    """The description, as any server gives it."""
    settings = Settings(broker="memory://", store="memory://described")
    broker = open_broker("memory://", settings)
    return make_app(Service(settings, broker, broker.streams, broker.gate)).openapi()


DOCUMENT = described()
OPERATIONS = [found.ok() for found in schemathesis.openapi.from_dict(DOCUMENT).get_all_operations()]


# ── complete ────────────────────────────────────────────────────────────────────────────────────────────────────────
def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    return (
        (path, method, operation)
        for path, methods in DOCUMENT["paths"].items()
        for method, operation in methods.items()
    )


def test_every_operation_is_told_apart_and_explained():
    ids = [operation["operationId"] for _, _, operation in operations()]
    assert len(set(ids)) == len(ids) > 40
    for path, method, operation in operations():
        assert re.fullmatch(r"[a-z_]+", operation["operationId"]), operation["operationId"]
        assert len(operation["tags"]) == 1, (method, path)
        assert operation["description"].endswith((".", "`")), (method, path)


def test_the_pages_tell_of_every_route_and_parameter():
    pages = "\n".join(page.read_text() for page in DOCS.glob("*.md"))
    told = {re.sub(r"\{.*?\}", "{}", route) for route in re.findall(r"/[\w./{}:-]+", pages)}
    for path, method, operation in operations():
        assert re.sub(r"\{.*?\}", "{}", path) in told, (method, path)
        for name in (one["name"] for one in operation.get("parameters", []) if one["in"] == "query"):
            assert re.search(rf"[`?&]{name}[`=]", pages), (method, path, name)


def test_every_operation_names_the_ways_to_show_a_token():
    assert DOCUMENT["components"]["securitySchemes"]["token"] == {
        "type": "http",
        "scheme": "bearer",
        "description": "A token of `tts-batch token add`.",
    }
    asking = {path for path, _, operation in operations() if operation.get("security")}
    assert {path for path, _, _ in operations()} - asking == OPEN
    assert all({"token": []} in operation.get("security", [{"token": []}]) for _, _, operation in operations())


def test_every_operation_tells_the_form_of_errors():
    for path, method, operation in operations():
        told = operation["responses"]["default"]["content"]["application/json"]["schema"]["$ref"]
        assert told.endswith("/ErrorAnswer"), (method, path)
        assert "422" not in operation["responses"], (method, path)


def test_answers_that_are_no_json_say_what_they_are():
    kinds = {
        path: set(operation["responses"]["200"]["content"])
        for path, method, operation in operations()
        if "content" in operation["responses"].get("200", {})
    }
    assert kinds["/v1/jobs/{job}/events"] == {"text/event-stream"}
    assert kinds["/v1/audio/voices/{voice}/clip"] == {"audio/flac"}
    assert kinds["/metrics"] == {"text/plain"}
    assert kinds["/v1/jobs/{job}/files.zip"] == {"application/zip"}
    assert {"audio/mpeg", "audio/wav", "text/event-stream"} <= kinds["/v1/audio/speech"]
    assert {"audio/mpeg", "audio/wav"} <= kinds["/v1/jobs/{job}/audio"]


def test_bodies_refuse_what_they_do_not_know():
    names = {
        content["schema"]["$ref"].rpartition("/")[2]
        for _, _, operation in operations()
        for content in operation.get("requestBody", {}).get("content", {}).values()
        if "$ref" in content["schema"]
    }
    assert len(names) > 4
    schemas = DOCUMENT["components"]["schemas"]
    assert [name for name in sorted(names) if schemas[name].get("additionalProperties") is not False] == []


# ── true ────────────────────────────────────────────────────────────────────────────────────────────────────────────
class World:
    """A server with something of every kind in it; what a request deletes is made anew."""

    def __init__(self, door: Door, url: str) -> None:
        self.door = door
        self.url = url
        self.headers = auth(add_token(door.service))
        door.client.headers.update(self.headers)
        self._request_id = door.client.post("/v1/audio/speech", json=SPEECH).headers["X-Request-Id"]
        self._batch = ""
        self._find: dict[str, Callable[[], str]] = {
            "job": self._job,
            "name": lambda: "report.json",
            "model": lambda: "fake",
            "voice": self._voice,
            "file_id": self._file,
            "batch_id": self._done_batch,
            "custom_id": lambda: "a",
            "request_id": lambda: self._request_id,
        }

    def known(self, name: str) -> str:
        """What a path parameter of that name may be."""
        return self._find[name]()

    def plain(self, body: dict[str, Any]) -> dict[str, Any]:
        """A body with what is needed alone, and that about something that is there."""
        there = {"model": "fake", "audio_sample": CLIP, "failed": True}
        kept = {name: there.get(name, value) for name, value in body.items() if name in {*NEEDED, *there}}
        kept |= {"input_file_id": self._file()} if "input_file_id" in body else {}
        return kept | ({"text": "One is here.", "model": "fake"} if "text" in body else {})

    def _job(self) -> str:
        over = [record.job for record in self.door.truth.jobs() if record.state in FINAL_JOB_STATES]
        if over:
            return over[0]
        made = self.door.client.post("/v1/jobs", json={"text": "One is here. Two is here.", "model": "fake"})
        return self.door.wait(made.json()["id"]).job

    def _voice(self) -> str:
        form = {"name": "Ann", "consent": "Ann agreed"}
        made = self.door.client.post("/v1/audio/voices", data=form, files={"audio_sample": CLIP})
        return made.json()["id"]

    def _file(self) -> str:
        line = {"custom_id": "a", "method": "POST", "url": "/v1/audio/speech", "body": SPEECH}
        file = {"file": ("lines.jsonl", json.dumps(line).encode())}
        return self.door.client.post("/v1/files", data={"purpose": "batch"}, files=file).json()["id"]

    def _done_batch(self) -> str:
        if not self._batch:
            batch = {"input_file_id": self._file(), "endpoint": "/v1/audio/speech", "completion_window": "24h"}
            self._batch = self.door.client.post("/v1/batches", json=batch).json()["id"]
            while self.door.client.get(f"/v1/batches/{self._batch}").json()["status"] != "completed":
                pass
        return self._batch


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with api() as door, running_server(door.service) as url:
        yield World(door, url)


def requests_of(operation: APIOperation, mode: GenerationMode, world: World) -> st.SearchStrategy[schemathesis.Case]:
    """Requests that the description allows, or forbids; half about something that is there, half plain ones."""

    def made(case: schemathesis.Case, there: bool, plain: bool) -> schemathesis.Case:
        if there:
            case.path_parameters = {name: world.known(name) for name in case.path_parameters or {}}
        if plain and mode is GenerationMode.POSITIVE:
            case.query = {}
            case.body = world.plain(case.body) if isinstance(case.body, dict) else case.body
        return case

    return st.builds(made, operation.as_strategy(mode), st.booleans(), st.booleans())


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


@pytest.mark.slow
@pytest.mark.parametrize(("operation", "mode"), REQUESTS)
def test_answers_are_as_described(operation: APIOperation, mode: GenerationMode, world: World):
    @given(requests_of(operation, mode, world))
    @limits(
        max_examples=EXAMPLES, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
    )
    def send(case: schemathesis.Case) -> None:
        left_out = [positive_data_acceptance]  # a description cannot say which models and voices there are
        if case.media_type == "multipart/form-data":
            left_out.append(negative_data_rejection)  # in a form everything is text, and what is empty was not sent
        case.call_and_validate(base_url=world.url, headers=world.headers, timeout=60, excluded_checks=left_out)

    send()
