"""The supervisor: a dead process is told to the truth at once, gets a new name and is replaced; an orderly end."""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jobs.errors import BadOption, BrokerUnavailable, NoDevice
from jobs.settings import Settings
from jobs.spec import SegmentTask
from models import registry
from tests.helpers_truth import worker
from tests.workers.making import Outage, Stage, lines, until
from tests.workers.token_models import CARD
from workers import devices, process, supervisor
from workers.room_config import EXIT_FENCED, RoomConfig
from workers.supervisor import Supervisor

SLEEPER = "import time; time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); time.sleep(60)"


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(supervisor, "POLL_S", 0.005)
    monkeypatch.setattr(process, "FIRST_DELAY_S", 0.0)
    monkeypatch.setattr(process, "LONGEST_DELAY_S", 0.01)


class Watched:
    """A supervisor at work over two processes that only sleep."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.told: list[str] = []
        self.supervisor = Supervisor(stage.context, device="cpu", processes=2, models=("fake",))
        self.flag = SimpleNamespace(stopping=False)
        self.thread = threading.Thread(target=self.supervisor.run, args=(self.flag,))
        self.thread.start()
        until(lambda: None not in self.pids, "both processes run")

    @property
    def names(self) -> list[str]:
        return [bench.config.worker for bench in self.supervisor._benches]

    @property
    def pids(self) -> list[int | None]:
        processes = [bench.member.process for bench in self.supervisor._benches]
        return [child and child.pid for child in processes]

    @property
    def commands(self) -> list[str]:
        """Worker names as the processes themselves got them."""
        processes = [bench.member.process for bench in self.supervisor._benches]
        return [RoomConfig.parse(child.args[-1]).worker for child in processes if child is not None]  # type: ignore

    def hold(self, place: int, count: int) -> list[SegmentTask]:
        """Lease segments in the name of a process."""
        self.stage.truth.register(worker(self.names[place], "fake@fake-1"))
        return self.stage.truth.lease(self.names[place], count)

    def kill(self, place: int) -> str:
        """Kill a process and wait for its replacement; returns the dead one's name."""
        name, pid = self.names[place], self.pids[place]
        assert pid is not None
        os.kill(pid, signal.SIGKILL)
        until(lambda: self.pids[place] not in {None, pid}, "it is replaced")
        return name

    def stop(self) -> None:
        self.flag.stopping = True
        self.thread.join(30)
        assert not self.thread.is_alive()


@contextmanager
def watched(stage: Stage, monkeypatch: pytest.MonkeyPatch, code: str = SLEEPER) -> Iterator[Watched]:
    command: Callable[..., list[str]] = lambda _module, *rest: [sys.executable, "-S", "-c", code, *rest]  # noqa: E731
    monkeypatch.setattr(supervisor, "module_command", command)
    monkeypatch.setattr(supervisor, "child_environment", lambda _settings: dict(os.environ))
    watching = Watched(stage)
    try:
        yield watching
    finally:
        watching.stop()


def listen(stage: Stage) -> list[str]:
    """The workers of which `crashed` is told from now on."""
    told: list[str] = []

    def note(name: str, arguments: tuple[Any, ...]) -> None:
        if name == "crashed":
            told.append(arguments[0])

    stage.replace_truth(note)
    return told


def test_a_killed_process_is_told_renamed_and_replaced(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    told = listen(stage)
    tasks = stage.submit(lines(6))
    with watched(stage, monkeypatch) as watching:
        first_names, other = watching.names, watching.pids[1]
        assert len(watching.hold(0, 6)) == 6
        dead = watching.kill(0)
        until(lambda: told == [dead], "the truth is told")
        until(lambda: stage.truth.job(tasks[0].job).held == 0, "its segments are given back")
        assert dead not in watching.names
        assert (watching.names[1], watching.pids[1]) == (first_names[1], other)
        assert watching.commands == watching.names
        assert watching.kill(0) not in first_names
        until(lambda: len(told) == 2, "the next death is told too")
    assert stage.truth.workers() == []


def test_a_fenced_process_is_replaced_and_nobody_is_blamed(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    told = listen(stage)
    with watched(stage, monkeypatch, f"raise SystemExit({EXIT_FENCED})") as watching:
        benches = watching.supervisor._benches
        until(lambda: min(bench.member.restarts for bench in benches) >= 2, "they are started again")
    assert told == []


def test_a_death_is_told_when_the_broker_is_back(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    outage = Outage()
    stage.replace_truth(outage)
    tasks = stage.submit(lines(4))
    with watched(stage, monkeypatch) as watching:
        watching.hold(0, 4)
        outage.away.set()
        watching.kill(0)
        until(lambda: outage.refused.count("crashed") > 3, "telling is tried again and again")
        assert stage.truth.job(tasks[0].job).held == 4
        outage.away.clear()
        until(lambda: stage.truth.job(tasks[0].job).held == 0, "its segments are given back")
        assert watching.supervisor._dead == []


def test_what_a_process_held_that_had_to_be_killed_is_given_back(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    told = listen(stage)
    monkeypatch.setattr(supervisor, "STOP_MARGIN_S", 0.0)
    stage.context.settings = Settings(broker="memory://", grace_s=0.05)
    tasks = stage.submit(lines(4))
    with watched(stage, monkeypatch, STUBBORN) as watching:
        watching.hold(1, 4)
    assert stage.truth.job(tasks[0].job).held == 0
    assert (stage.truth.workers(), told) == ([], [])


def test_it_ends_without_a_broker_too(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    outage = Outage()
    stage.replace_truth(outage)
    with watched(stage, monkeypatch) as watching:
        outage.away.set()
        watching.stop()
        assert [bench.member.process.returncode for bench in watching.supervisor._benches] == [-signal.SIGTERM] * 2


def test_each_gpu_has_a_process_that_sees_only_it(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6")
    benches = Supervisor(stage.context, device="cuda", processes=2, models=("orpheus",))._benches
    assert [bench.member.environment["CUDA_VISIBLE_DEVICES"] for bench in benches] == ["4", "6"]
    assert [RoomConfig.parse(bench.member.command[-1]) for bench in benches] == [bench.config for bench in benches]
    assert {(bench.config.device, bench.config.engine.slots) for bench in benches} == {("cuda", 256)}
    assert all("kernels" in bench.member.environment["TRITON_CACHE_DIR"] for bench in benches)


@pytest.mark.parametrize("kind", ["cpu", "cuda"])
def test_processes_are_one_per_gpu_or_as_many_as_set(monkeypatch: pytest.MonkeyPatch, kind: str) -> None:
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(supervisor, "Supervisor", lambda _context, **options: made.append(options) or SimpleNamespace(run=lambda stop: None))  # fmt: skip  # noqa: E501
    monkeypatch.setattr(supervisor, "cuda_devices", lambda: 2)
    monkeypatch.setattr(supervisor, "check_device", lambda device: None)
    monkeypatch.setattr(supervisor, "StopFlag", SimpleNamespace)
    monkeypatch.setattr(supervisor, "_served", lambda settings, device, models: models)
    supervisor.run(Settings(broker="memory://", processes=3), device=kind, models=("m",))
    assert made == [{"device": kind, "processes": 3 if kind == "cpu" else 2, "models": ("m",)}]


def test_a_supervisor_without_anything_to_run_says_so_by_its_status(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(devices, "cuda_devices", lambda: 0)
    monkeypatch.setattr(sys, "argv", ["supervisor", "cuda"])
    with pytest.raises(SystemExit) as ended:
        supervisor.main()
    assert ended.value.code == supervisor.EXIT_NOTHING_TO_RUN


def test_a_supervisor_whose_settings_name_a_folder_that_is_gone_ends_for_good(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(supervisor, "load_settings", lambda: Settings(broker="memory://", model=f"{tmp_path}/gone"))
    monkeypatch.setattr(sys, "argv", ["supervisor", "cpu"])
    with pytest.raises(SystemExit) as ended:
        supervisor.main()
    assert ended.value.code == supervisor.EXIT_NOTHING_TO_RUN
    (record,) = caplog.records
    assert (record.levelname, record.exc_info) == ("ERROR", None)
    assert f"nothing is spoken on cpu: {tmp_path}/gone is not a folder" in record.message


@pytest.fixture
def both(monkeypatch: pytest.MonkeyPatch) -> None:
    """An installation with a model for both kinds of device."""
    monkeypatch.setattr(registry, "names", lambda: ("fake", "small"))
    card = registry.card
    monkeypatch.setattr(registry, "card", lambda name, **options: CARD if name == "small" else card(name, **options))


@pytest.mark.usefixtures("both")
@pytest.mark.parametrize(
    ("gpu", "models", "served"),
    [(False, (), ("fake", "small")), (True, (), ("fake",)), (True, ("small",), ("small",))],
)
def test_the_cpu_leaves_token_models_to_a_gpu_of_the_machine(
    monkeypatch: pytest.MonkeyPatch, gpu: bool, models: tuple[str, ...], served: tuple[str, ...]
) -> None:
    monkeypatch.setattr(supervisor, "sees_gpu", lambda: gpu)
    assert supervisor._served(Settings(model="fake"), "cpu", models) == served
    assert supervisor._served(Settings(model="fake"), "cuda", models) == ("small",)


@pytest.mark.usefixtures("both")
def test_the_cpu_speaks_all_models_beside_a_gpu_whose_driver_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    def hang() -> bool:
        raise NoDevice("the driver hangs")

    monkeypatch.setattr(supervisor, "sees_gpu", hang)
    assert supervisor._served(Settings(model="fake"), "cpu", ()) == ("fake", "small")


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"device": "tpu"}, NoDevice, "device 'tpu' is not known; use cuda or cpu"),
        ({"device": "cuda"}, NoDevice, "torch sees no CUDA device"),
        ({"device": "cpu", "models": ("fake", "nothing")}, BadOption, "model 'nothing' does not run here"),
        ({"device": "cpu"}, BrokerUnavailable, "no broker is set"),
    ],
)
def test_what_cannot_be_run_is_said_at_the_start(
    monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], error: type[Exception], text: str
) -> None:
    monkeypatch.setattr(devices, "cuda_devices", lambda: 0)
    monkeypatch.setattr(supervisor, "StopFlag", lambda: SimpleNamespace(stopping=True))
    with pytest.raises(error, match=text):
        supervisor.run(Settings(), **options)
