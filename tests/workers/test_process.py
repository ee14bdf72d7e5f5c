"""Processes we own: back-off, asking once, the death signal, the stop flag."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.workers.making import until
from workers import process
from workers.process import LONGEST_DELAY_S, STEADY_S, Member, module_command, spawn, stop, stop_together

COUNTER = """
import pathlib, signal, sys, time
mine, other = map(pathlib.Path, sys.argv[1:])
asked = []
signal.signal(signal.SIGTERM, lambda *_: asked.append(1))
mine.write_text("up")
while not asked:
    time.sleep(0.005)
mine.write_text("asked")
while other.read_text() == "up":
    time.sleep(0.005)
time.sleep(0.1)
mine.write_text(str(len(asked)))
"""
FLAG = """
import sys, time
from workers.process import StopFlag
flag = StopFlag()
print("up", flush=True)
while not flag.stopping:
    time.sleep(0.005)
print("asked", flush=True)
time.sleep(60)
"""
PARENT = """
import os, sys, time
from workers.process import spawn
print(spawn([sys.executable, "-c", "import time; time.sleep(60)"], environment=os.environ).pid, flush=True)
time.sleep(60)
"""
SLEEPER = "import time; print('up', flush=True); time.sleep(60)"
STUBBORN = "import signal, time; signal.signal(15, signal.SIG_IGN); print('up', flush=True); time.sleep(60)"


def python(code: str, *arguments: str) -> list[str]:
    return [sys.executable, "-S", "-c", code, *arguments]


def started(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """A process that has said `up` in its log."""
    child = spawn(command, environment=os.environ, log_path=log)
    until(lambda: log.read_text() == "up\n", "it is up")
    return child


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    now = SimpleNamespace(s=1000.0)
    monkeypatch.setattr(process, "time", SimpleNamespace(monotonic=lambda: now.s))
    return now


@pytest.fixture
def two_members(tmp_path: Path) -> Iterator[list[Member]]:
    places = [str(tmp_path / name) for name in ("a", "b")]
    members = [Member("x", python(COUNTER, *order), os.environ) for order in (places, places[::-1])]
    yield members
    for member in members:
        if member.process is not None and member.process.poll() is None:
            member.process.kill()
            member.process.wait()


def die(member: Member) -> int | None:
    assert member.process is not None
    member.process.wait()
    return member.poll()


def test_a_member_that_dies_again_and_again_is_started_later_and_later(clock: SimpleNamespace) -> None:
    member = Member("x", python("raise SystemExit(3)"), os.environ)
    assert member.poll() is None
    delays = []
    for restarts in range(1, 8):
        assert die(member) == 3
        assert (member.process, member.restarts) == (None, restarts)
        died_s = clock.s
        while member.process is None:
            clock.s += 0.25
            assert member.poll() is None
        delays.append(clock.s - died_s)
    assert delays == [0.5, 1.0, 2.0, 4.0, 8.0, LONGEST_DELAY_S, LONGEST_DELAY_S]
    clock.s += STEADY_S + 1
    assert die(member) == 3
    clock.s += 0.25
    member.poll()
    assert member.process is not None
    member.process.wait()


def test_a_member_that_lives_is_left_alone(tmp_path: Path) -> None:
    member = Member("x", python(SLEEPER), os.environ, tmp_path / "log")
    member.poll()
    first = member.process
    assert first is not None
    until(lambda: (tmp_path / "log").read_text() == "up\n", "it is up")
    assert [member.poll(), member.poll(), member.process] == [None, None, first]
    stop_together([member], grace_s=20)
    assert (first.returncode, member.restarts) == (-signal.SIGTERM, 0)


def test_all_members_are_asked_at_once_and_each_once(two_members: list[Member], tmp_path: Path) -> None:
    for member in two_members:
        member.poll()
    answers = [tmp_path / "a", tmp_path / "b"]
    until(lambda: [answer.exists() and answer.read_text() for answer in answers] == ["up", "up"], "both are up")
    stop_together(two_members, grace_s=20)
    # Each waits until the other was asked too.
    assert [answer.read_text() for answer in answers] == ["1", "1"]
    assert [member.process.returncode for member in two_members if member.process] == [0, 0]


def test_a_member_that_is_not_running_is_no_trouble_to_stop(clock: SimpleNamespace) -> None:
    member = Member("x", python("pass"), os.environ)
    member.poll()
    die(member)
    stop_together([member, Member("y", python("pass"), os.environ)], grace_s=0)
    assert member.process is None


def test_who_does_not_end_is_killed(tmp_path: Path) -> None:
    assert stop(started(python(STUBBORN), tmp_path / "log"), grace_s=0.05) == -signal.SIGKILL


def test_a_frozen_process_is_woken_to_end(tmp_path: Path) -> None:
    child = started(python(SLEEPER), tmp_path / "log")
    os.kill(child.pid, signal.SIGSTOP)
    assert stop(child, grace_s=20) == -signal.SIGTERM


def test_logs_are_continued(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    for word in ("one", "two"):
        assert spawn(python(f"print({word!r})"), environment=os.environ, log_path=log).wait() == 0
    assert log.read_text() == "before\none\ntwo\n"


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a death signal")
def test_a_child_dies_with_its_parent() -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT], stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        child = int(parent.stdout.readline())
        parent.kill()
    until(lambda: not alive(child), "the child is gone")


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_the_first_signal_asks_and_the_second_ends(number: signal.Signals) -> None:
    with subprocess.Popen([sys.executable, "-c", FLAG], stdout=subprocess.PIPE) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"up\n"
        child.send_signal(number)
        assert child.stdout.readline() == b"asked\n"
        assert child.poll() is None
        child.send_signal(number)
        assert child.wait(20) == -number


def test_modules_run_without_the_current_folder_on_their_path(tmp_path: Path) -> None:
    (tmp_path / "intruder.py").write_text("print('here')")
    done = subprocess.run(module_command("intruder"), cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "No module named intruder" in done.stderr
