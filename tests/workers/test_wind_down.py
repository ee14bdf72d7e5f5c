"""How a synthesis process ends: SIGTERM with and without time, a broker that is away, a thread that fails."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from jobs.settings import Settings, child_environment
from jobs.state import JobState
from tests.workers.making import LONG, WORKER, Gate, Outage, Stage, lines, running, until
from workers import room as room_module
from workers.engines import EngineSettings
from workers.room_config import EXIT_BROKEN_THREAD, RoomConfig

CONFIG = RoomConfig(worker="w-1", device="cpu", precision="auto", models=("fake",), engine=EngineSettings(2))
BROKEN = "import workers.{part} as part, workers.room as room; part.{what} = lambda *_, **__: 1 / 0; room.main()"


def test_what_runs_is_finished_and_what_waits_is_given_back_at_once(stage: Stage, gate: Gate) -> None:
    tasks = stage.submit(lines(10))
    job = tasks[0].job
    with running(stage, slots=2) as run:
        until(lambda: gate.arrived == 1 and stage.truth.job(job).held == run.room.intake._limit, "it is full")
        run.flag.stopping = True
        gate.let(1)
        until(lambda: gate.arrived == 2, "it goes on with what is in its slots")
        until(lambda: stage.truth.job(job).held <= 2, "the others wait again")
        assert not run.over
        gate.free()
        assert run.status() == 0
    record = stage.truth.job(job)
    assert (record.done, record.held, record.waiting) == (2, 0, len(tasks) - 2)
    assert sorted(stage.done_order(job)) == [0, 1]
    assert stage.truth.workers() == []


def test_what_is_not_finished_within_the_grace_is_given_back(stage: Stage, gate: Gate) -> None:
    tasks = stage.submit(lines(6, LONG))
    job = tasks[0].job
    with running(stage, slots=2, grace_s=0.0) as run:
        until(lambda: gate.arrived == 1, "it speaks")
        run.flag.stopping = True
        gate.free()
        assert run.status() == 0
    record = stage.truth.job(job)
    assert (record.done, record.held, record.waiting) == (0, 0, len(tasks))
    assert (stage.truth.workers(), stage.takes()) == ([], set())
    with running(stage, worker="here-2"):
        until(lambda: stage.state(job) is JobState.ASSEMBLING, "another room speaks all")
    assert stage.truth.job(job).done == len(tasks)


def test_the_grace_begins_with_the_stop_however_long_the_intake_takes_to_end(
    stage: Stage, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    ahead_s = [0.0]
    clock = SimpleNamespace(monotonic=lambda: time.monotonic() + ahead_s[0], sleep=time.sleep, time=time.time)
    monkeypatch.setattr(room_module, "time", clock)
    tasks = stage.submit(lines(6, LONG))
    with running(stage, slots=2, grace_s=20.0) as run:
        until(lambda: gate.arrived == 1, "it speaks")
        drain = run.room.intake.drain

        def slow_drain() -> list[str]:
            ahead_s[0] = 30.0
            return drain()

        monkeypatch.setattr(run.room.intake, "drain", slow_drain)
        run.flag.stopping = True
        gate.free()
        assert run.status() == 0
    record = stage.truth.job(tasks[0].job)
    assert (record.done, record.held, record.waiting) == (0, 0, len(tasks))


def test_a_good_bye_is_never_taken_for_a_death(stage: Stage) -> None:
    for place in range(5):
        with running(stage, worker=f"here-{place}") as run:
            until(lambda place=place: len(stage.truth.workers()) == 1, "it is known")
            assert run.stop() == 0
            assert not run.room.heartbeat.thread.is_alive()


def test_it_ends_without_a_broker_too(stage: Stage, gate: Gate) -> None:
    outage = Outage()
    stage.replace_truth(outage)
    tasks = stage.submit(lines(2))
    with running(stage) as run:
        until(lambda: gate.arrived == 1, "it speaks")
        outage.away.set()
        gate.free()
        until(lambda: "finish" in outage.refused, "there is a result to tell")
        assert run.stop() == 0
    assert stage.takes() == {task.take for task in tasks}
    assert {"finish", "give_back", "retire"} <= set(outage.refused)
    outage.away.clear()
    stage.truth.retire(WORKER)  # what a sweep does to a silent one
    with running(stage, worker="here-2"):
        until(lambda: stage.state(tasks[0].job) is JobState.ASSEMBLING, "the next one tells")
    assert [result.reused for result in stage.results(tasks)] == [True, True]


def room_process(code: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", code, CONFIG.dump()],
        env=child_environment(Settings(broker="memory://", worker_ttl_s=1.0)),
        stderr=subprocess.PIPE,
    )


@pytest.mark.parametrize(
    ("part", "what"),
    [
        ("intake", "Intake._turn"),
        ("outlet", "Outlet._write_all"),
        ("outlet", "Outlet._stream_all"),
        ("telling", "Teller._run"),
        ("room", "Beat"),
    ],
)
def test_a_thread_that_fails_ends_the_process(part: str, what: str) -> None:
    code = BROKEN.format(part=part, what=what)
    process = room_process(code)
    _out, err = process.communicate(timeout=60)
    assert process.returncode == EXIT_BROKEN_THREAD, err.decode()
    assert "ZeroDivisionError" in err.decode()
    assert "CRITICAL thread" in err.decode()


def test_sigterm_ends_a_process_without_work() -> None:
    code = "import workers.room as room, sys; r = room.Room.run\n"
    code += "def run(self, stop, **o):\n print('up', file=sys.stderr, flush=True)\n return r(self, stop, **o)\n"
    code += "room.Room.run = run\nroom.main()"
    process = room_process(code)
    assert process.stderr is not None
    assert process.stderr.readline() == b"up\n"
    process.send_signal(signal.SIGTERM)
    _out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, b"")


def test_a_configuration_survives_the_command_line() -> None:
    assert RoomConfig.parse(CONFIG.dump()) == CONFIG
