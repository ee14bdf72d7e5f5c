"""The HTTP door for tests: the app as `tts-batch serve` builds it, over a memory broker and a memory store.

    with api() as door:                      # a worker with the model "fake" speaks, CPU steps are done
        assert door.client.get("/v1/models").status_code == 200
        door.wait(job)                       # until a job is at an end; returns its record
    with api(works=False) as door: ...       # nobody works: jobs stay where they are; no worker, so no offers either
    with api(idle=True) as door: ...         # a worker offers "fake" (routes that plan need that) and never leases
    with api() as door, running_server(door.service) as url: ...   # real HTTP, for answers that are sent while made
    with api(token=(Scope.READ,)) as door:   # tokens are asked for; `door.client` sends one with these scopes
    door.token(Scope.SPEAK, requests_per_minute=2)       # a further token: its secret
    door.app                                 # the FastAPI application; .service, .truth, .streams, .store, .settings

`door.client` is starlette's TestClient: it answers when a response is whole, so it never disconnects in the middle and
does not end on endless streams; use `running_server` and httpx for those. Every take of the fake is called good; pass
`judged=True` for the real checks. Decoder windows of the fake are held by `tests.workers.making.Gate(monkeypatch)`.
A server over a real Redis: `service_over(settings)`.
"""

from __future__ import annotations

import shutil
import socket
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import uvicorn
from fastapi import FastAPI
from starlette.testclient import TestClient

from cli.api.app import make_app
from cli.api.http_protocol import PatientProtocol
from cli.api.service import Limits, Service
from jobs.access.gate import Quota, Scope
from jobs.access.tokens import new_token
from jobs.connect import open_broker
from jobs.errors import JobsError
from jobs.kinds import Grade
from jobs.protocols import Store, Streams, Truth
from jobs.settings import Settings
from jobs.spec import JobRecord, WorkerInfo
from jobs.state import FINAL_JOB_STATES
from jobs.stores import open_store
from jobs.verdict import Verdict
from tests.workers.making import Running
from workers import intake, judging, telling
from workers.catalog import find_offer
from workers.context import Context
from workers.engines import EngineSettings
from workers.room import Room
from workers.room_config import RoomConfig
from workers.steps import give_up, run_step

BASE_URL = "http://127.0.0.1"
STEP_WAIT_S = 0.02
START_S = 20.0
END_S = 60.0


@dataclass
class Door:
    """An app and what is behind it."""

    service: Service
    app: FastAPI
    client: TestClient

    @property
    def settings(self) -> Settings:
        return self.service.settings

    @property
    def truth(self) -> Truth:
        return self.service.truth

    @property
    def streams(self) -> Streams:
        return self.service.streams

    @property
    def store(self) -> Store:
        return self.service.home

    def token(self, *scopes: Scope, expires_at_s: float | None = None, **quota: Any) -> str:
        """Add a token; returns its secret. From then on the server asks for tokens."""
        return add_token(self.service, *scopes, expires_at_s=expires_at_s, **quota)

    def wait(self, job: str, *, timeout_s: float = END_S) -> JobRecord:
        """Wait until a job is at an end."""
        deadline_s = time.monotonic() + timeout_s
        while (record := self.truth.job(job)).state not in FINAL_JOB_STATES:
            assert time.monotonic() < deadline_s, f"job {job} is still {record.state} after {timeout_s:.0f} s"
            time.sleep(0.01)
        return record


def add_token(service: Service, *scopes: Scope, expires_at_s: float | None = None, **quota: Any) -> str:
    """Add a token to a server's gate; returns its secret."""
    token, secret = new_token("test", scopes or tuple(Scope), Quota(**quota), expires_at_s=expires_at_s)
    service.gate.add(token)
    return secret


def auth(secret: str) -> dict[str, str]:
    """The header that shows a token."""
    return {"Authorization": f"Bearer {secret}"}


def service_over(settings: Settings, **fields: Any) -> Service:
    """A service over the broker and the store of the settings; close its broker at the end."""
    broker = open_broker(settings.broker or "", settings)
    made = Service(settings=settings, broker=broker, streams=broker.streams, gate=broker.gate)
    return replace(made, **fields)


@contextmanager
def api(
    *,
    works: bool = True,
    idle: bool = False,
    judged: bool = False,
    slots: int = 4,
    token: tuple[Scope, ...] | None = None,
    limits: Limits | None = None,
    aliases: Mapping[str, str] | None = None,
    **fields: Any,
) -> Iterator[Door]:
    """An app over a broker and a store of its own, see above; `fields` are further ones of Service."""
    folder = Path(tempfile.mkdtemp(prefix="api"))
    settings = Settings(broker="memory://", store=f"memory://{uuid4().hex}", data_dir=folder, worker_ttl_s=1.0)
    service = service_over(settings, limits=limits or Limits(), aliases=dict(aliases or {}), **fields)
    headers = auth(add_token(service, *token)) if token is not None else {}
    with ExitStack() as stack:
        stack.callback(shutil.rmtree, folder, ignore_errors=True)
        if idle:
            service.truth.register(_idle_worker())
        elif works:
            stack.enter_context(working(service, slots=slots, judged=judged))
        app = make_app(service)
        client = TestClient(app, base_url=BASE_URL, headers=headers, raise_server_exceptions=False)
        yield Door(service, app, stack.enter_context(client))


@contextmanager
def working(service: Service, *, slots: int = 4, judged: bool = False) -> Iterator[Running]:
    """A worker with the model "fake" and the CPU steps, each in a thread of this process, over a service's broker."""
    store_url = service.settings.store_url
    context = Context(service.settings, service.truth, service.broker.streams, {store_url: open_store(store_url)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(intake, "IDLE_WAIT_S", 0.02)
        for module in (intake, telling):
            patch.setattr(module, "BROKER_WAIT_S", 0.01)
        if not judged:  # the fake's tones are no speech
            patch.setattr(judging, "check_take", lambda _samples, _facts: Verdict(grade=Grade.GOOD))
        config = RoomConfig("api-1", "cpu", "auto", ("fake",), EngineSettings(slots))
        running, over = Running(Room(config, context), grace_s=0.1), threading.Event()
        steps = threading.Thread(target=_do_steps, args=(context, over), name="steps")
        steps.start()
        try:
            _until_offered(service)
            yield running
        finally:
            over.set()
            steps.join(START_S)
            running.stop()


def _do_steps(context: Context, over: threading.Event) -> None:
    """What the steward and Celery do, in order."""
    while not over.is_set():
        for step in context.truth.take_steps("tests", limit=16, timeout_s=STEP_WAIT_S):
            try:
                run_step(context, step.kind, step.job, step.chapter, step.part)
            except JobsError as error:
                give_up(context, step.kind, step.job, error)
            context.truth.step_sent(step)


def _until_offered(service: Service) -> None:
    deadline_s = time.monotonic() + START_S
    while not service.offers():
        assert time.monotonic() < deadline_s, "no worker came up"
        time.sleep(0.005)


def _idle_worker() -> WorkerInfo:
    offer = find_offer("fake", voice=None, precision="auto")
    return WorkerInfo(
        worker="idle-1",
        host="here",
        pid=1,
        device="cpu",
        slots=4,
        models=(offer.engine,),
        started_at_s=time.time(),
        offers=(offer,),
    )


@contextmanager
def running_server(service: Service, **options: Any) -> Iterator[str]:
    """The app under uvicorn on a free port of 127.0.0.1, in a thread; gives its base URL. `options` are uvicorn's."""
    listener = socket.create_server(("127.0.0.1", 0))
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)  # as `serve` does
    usual = {"http": PatientProtocol, "log_config": None, "access_log": False, "timeout_graceful_shutdown": 2}
    server = uvicorn.Server(uvicorn.Config(make_app(service), **usual | options))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="uvicorn")
    thread.start()
    try:
        deadline_s = time.monotonic() + START_S
        while not server.started:
            assert thread.is_alive(), "the server ended at its start"
            assert time.monotonic() < deadline_s, "the server did not start"
            time.sleep(0.005)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join(START_S)
        listener.close()
        assert not thread.is_alive(), "the server did not end"
