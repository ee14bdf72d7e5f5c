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
from jobs.settings import Settings, child_environment
from tests.cli.conftest import Door
from tests.helpers_truth import worker
from workers import catalog


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
    monkeypatch.setattr(catalog, "has_nvidia_driver", lambda: False)


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
    assert names == ["piper", "orpheus", "fake", f"{placed.folder}/tiny"]


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
    monkeypatch.setattr(catalog, "has_nvidia_driver", lambda: True)
    monkeypatch.setattr(catalog, "cuda_devices", lambda: 1)
    assert catalog.local_device(str(checkpoint), precision="auto") == "cuda"
    assert catalog.local_device("fake", precision="auto") == "cpu"
    assert session.find_offer(str(checkpoint), None, Settings(), None).numerics == "orpheus1-bf16-cuda"
    monkeypatch.setattr(catalog, "cuda_devices", lambda: 0)
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
    assert [offer.name for offer in offers] == [str(checkpoint)]
    assert offers[0].engine == f"{checkpoint}@orpheus1-bf16-cuda"
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
    with pytest.raises(BadOption, match=r"only fake; start one that does: `TTS_BATCH_MODEL=/v/y tts-batch resume j`"):
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
