"""The node's parts: a supervisor for GPUs where a driver is, which may find that it has nothing to do."""

from __future__ import annotations

import subprocess
from pathlib import Path
from types import SimpleNamespace

import pytest

from cli.findings import device_finding
from jobs.embedded import Embedded
from jobs.errors import NoDevice
from jobs.settings import Settings
from workers import devices, node
from workers.node import Node
from workers.room_config import EXIT_NOTHING_TO_RUN


class Scripted:
    """A member that is found with these statuses, one at a time."""

    def __init__(self, name: str, *statuses: int | None) -> None:
        self.name = name
        self.statuses = list(statuses)
        self.polls = 0

    def poll(self) -> int | None:
        self.polls += 1
        return self.statuses.pop(0) if self.statuses else None


class Rounds:
    """Stops after so many looks."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds

    @property
    def stopping(self) -> bool:
        self.rounds -= 1
        return self.rounds < 0


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    settings = Settings(data_dir=tmp_path)
    Embedded(tmp_path).prepare()
    return settings


@pytest.mark.parametrize(("driver", "parts"), [(False, ["cpu"]), (True, ["cpu", "cuda"])])
def test_a_supervisor_for_each_kind_of_device(settings, monkeypatch, driver, parts) -> None:
    monkeypatch.setattr(node, "has_nvidia_driver", lambda: driver)
    workers = Node(settings)._workers
    assert [member.command[-1] for member in workers if member.name.startswith("supervisor")] == parts
    assert len({member.log_path for member in workers}) == len(workers)


def test_a_supervisor_with_nothing_to_run_is_let_go_and_others_are_kept(settings, monkeypatch) -> None:
    monkeypatch.setattr(node, "POLL_S", 0.0)
    told: list[object] = []
    made = Node(settings)
    made._broker = SimpleNamespace(name="broker", start=lambda: None, poll=lambda: None)
    made._wait_for_broker = lambda stop: None
    made._send_steps_again = lambda: told.append(1)
    made._stop = lambda: None
    gone, kept = Scripted("supervisor-cuda", None, EXIT_NOTHING_TO_RUN), Scripted("supervisor", None, 1, None)
    made._workers = [gone, kept]
    made.run(Rounds(5))
    assert made._workers == [kept]
    assert (gone.polls, kept.polls, told) == (2, 5, [1])


def test_a_driver_is_looked_for_without_torch(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(devices, "NVIDIA_PLACES", (tmp_path / "nvidia0",))
    assert (devices.has_nvidia_driver(), devices.likely_device()) == (False, "cpu")
    (tmp_path / "nvidia0").touch()
    assert (devices.has_nvidia_driver(), devices.likely_device()) == (True, "cuda")


def test_a_driver_that_hangs_is_no_device(monkeypatch) -> None:
    def hang(command: list[str], *, timeout: float, **_options: object) -> None:
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", hang)
    with pytest.raises(
        NoDevice, match=r"did not say within 120 s .* the driver hangs; see whether `nvidia-smi` answers"
    ):
        devices.cuda_devices()
    found = device_finding()
    assert ("the driver hangs" in found.advice, found.needed) == (True, False)
