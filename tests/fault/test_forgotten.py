"""A broker that lost its last second (killed while its file was not written yet, or restored from an older copy)."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from jobs.figures import Figures
from jobs.protocols import Beat
from jobs.state import JobState
from jobs.truth.calls import Calls, make_client
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import audit, record, result, tasks, worker
from tests.helpers_valkey import ValkeyServer
from tests.workers.making import until
from workers import heartbeat as heartbeat_module
from workers.hand import Hand
from workers.heartbeat import Heartbeat

pytestmark = pytest.mark.services


@pytest.fixture
def server() -> Iterator[ValkeyServer]:
    made = ValkeyServer("--appendfsync", "always").start()
    yield made
    made.close()


def go_back(server: ValkeyServer) -> None:
    """Kill the broker and put the copy of its file in the place of the new one."""
    server.kill()
    shutil.rmtree(server.folder / "appendonlydir")
    shutil.move(server.folder / "copy", server.folder / "appendonlydir")
    server.start()


def test_what_a_broker_forgot_is_given_back_and_spoken_again(
    server: ValkeyServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat_module, "COMPARE_S", 0.1)
    truth = RedisTruth(Calls(make_client(server.url), retry_for_s=20.0), worker_ttl_s=60.0)
    truth.create_job(record("a"))
    truth.enqueue("a", tasks("a", 6, per_chapter=6), [])
    truth.register(worker("w"))
    hand, context = Hand(), SimpleNamespace(truth=truth, figures=Figures())
    held = truth.lease("w", 4)
    hand.took(task.ref for task in held)
    shutil.copytree(server.folder / "appendonlydir", server.folder / "copy")
    assert truth.finish("w", [result(task) for task in held[:3]]) == [True] * 3
    hand.left(task.ref for task in held[:3])
    go_back(server)
    assert truth.holding("w") == {task.ref for task in held}  # the reports are forgotten
    options: dict[str, Any] = {"pulse": lambda: Beat(1, 3, 1.0), "holds_speech": lambda: False}
    heart = Heartbeat(context, "w", hand, **options)  # type: ignore[arg-type]  # all it needs of a context
    heart.thread.start()
    until(lambda: truth.holding("w") == {held[3].ref}, "what nobody has is given back")
    heart.stop()
    assert context.figures.read()["errors:forgotten"] == 3
    again = truth.lease("w", 9)
    assert {task.segment for task in again} == {0, 1, 2, 4, 5}
    truth.finish("w", [result(task) for task in (*again, held[3])])
    assert truth.job("a").state is JobState.ASSEMBLING
    audit(make_client(server.url))


def test_a_worker_that_a_broker_forgot_is_fenced(server: ValkeyServer) -> None:
    truth = RedisTruth(Calls(make_client(server.url), retry_for_s=20.0), worker_ttl_s=60.0)
    truth.create_job(record("a"))
    truth.enqueue("a", tasks("a", 2), [])
    shutil.copytree(server.folder / "appendonlydir", server.folder / "copy")
    truth.register(worker("w"))
    assert len(truth.lease("w", 2)) == 2
    go_back(server)
    hand, context = Hand(), SimpleNamespace(truth=truth, figures=Figures())
    options: dict[str, Any] = {"pulse": lambda: Beat(1, 0, 0.0), "holds_speech": lambda: True}
    heart = Heartbeat(context, "w", hand, **options)  # type: ignore[arg-type]  # as above
    heart.thread.start()
    until(heart.fenced.is_set, "it is told")
    heart.stop()
    assert truth.depth().segments == 2
    audit(make_client(server.url))
