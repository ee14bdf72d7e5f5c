"""Processes we own: started so that they die with us, watched, restarted with back-off, stopped with grace.

Used by the node (broker, steward, supervisor) and by the supervisor (synthesis processes). Knows no queue.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

log = logging.getLogger(__name__)

PR_SET_PDEATHSIG = 1
"""Linux `prctl(2)`: the signal a process gets when the thread that started it dies."""

LOG_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND
FIRST_DELAY_S = 0.25
LONGEST_DELAY_S = 10.0
STEADY_S = 30.0
"""A process that lived this long starts the back-off anew."""


def module_command(module: str, *arguments: str) -> list[str]:
    """Command line that runs one of our modules with this interpreter; the current folder is not on its path."""
    return [sys.executable, "-P", "-m", module, *arguments]


def spawn(
    command: Sequence[str],
    *,
    environment: Mapping[str, str],
    log_path: Path | None = None,
    pass_fds: Sequence[int] = (),
) -> subprocess.Popen[bytes]:
    """Start a process in a session of its own (Ctrl-C reaches only us) that gets SIGTERM when we die.

    Its output goes to the end of `log_path`, or to our stderr. Call it from a thread that lives as long as the child
    shall: the kernel ties the death signal to the starting thread.
    """
    target = sys.stderr.fileno() if log_path is None else os.open(log_path, LOG_FLAGS, 0o600)
    try:
        return subprocess.Popen(  # noqa: S603  # our own commands
            list(command),
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            stdout=target,
            stderr=target,
            start_new_session=True,
            pass_fds=tuple(pass_fds),
            preexec_fn=_die_with_parent if sys.platform == "linux" else None,
        )
    finally:
        if log_path is not None:
            os.close(target)


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)


def stop(process: subprocess.Popen[bytes], *, grace_s: float) -> int:
    """Ask a process to end, wait up to `grace_s`, then kill it. Returns its exit status."""
    ask_to_end(process)
    return wait_or_kill(process, grace_s=grace_s)


def ask_to_end(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM, once: a second one would end our programs without grace (`StopFlag`)."""
    if process.poll() is None:
        process.send_signal(signal.SIGTERM)
        # A stopped process (SIGSTOP) would never see the request.
        process.send_signal(signal.SIGCONT)


def wait_or_kill(process: subprocess.Popen[bytes], *, grace_s: float) -> int:
    """Wait up to `grace_s` for a process that was asked to end, then kill it. Returns its exit status."""
    try:
        return process.wait(timeout=grace_s)
    except subprocess.TimeoutExpired:
        log.warning("process %d did not end within %.0f s and is killed", process.pid, grace_s)
        # The whole group: a worker's own children must not go on without it.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        return process.wait()


@dataclass
class Member:
    """One process that shall always run. `poll()` starts it, notes its death and starts it again after a delay."""

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    log_path: Path | None = None
    pass_fds: Sequence[int] = ()
    process: subprocess.Popen[bytes] | None = None
    restarts: int = 0
    _delay_s: float = field(default=FIRST_DELAY_S, repr=False)
    _started_s: float = field(default=0.0, repr=False)
    _start_at_s: float = field(default=0.0, repr=False)

    def poll(self) -> int | None:
        """Keep it running; returns the exit status when it has just been found dead, else None."""
        if self.process is None:
            if time.monotonic() >= self._start_at_s:
                self.start()
            return None
        status = self.process.poll()
        if status is not None:
            self._note_death()
        return status

    def start(self) -> None:
        """Start it now."""
        self.process = spawn(self.command, environment=self.environment, log_path=self.log_path, pass_fds=self.pass_fds)
        self._started_s = time.monotonic()

    def _note_death(self) -> None:
        lived_s = time.monotonic() - self._started_s
        self._delay_s = FIRST_DELAY_S if lived_s > STEADY_S else min(2 * self._delay_s, LONGEST_DELAY_S)
        self._start_at_s = time.monotonic() + self._delay_s
        self.process = None
        self.restarts += 1


def stop_together(members: Sequence[Member], *, grace_s: float) -> None:
    """Stop members for good: all are asked first, so that they end side by side."""
    running = [member.process for member in members if member.process is not None]
    for process in running:
        ask_to_end(process)
    for process in running:
        wait_or_kill(process, grace_s=grace_s)


class Stop(Protocol):
    """Tells a loop when to stop; it asks before every turn, in its own thread."""

    @property
    def stopping(self) -> bool:
        """True once it is time to stop."""
        ...


class StopFlag:
    """Turns SIGTERM and SIGINT into a flag; the second signal ends the process at once."""

    def __init__(self) -> None:
        self.stopping = False
        signal.signal(signal.SIGTERM, self._on_signal)
        signal.signal(signal.SIGINT, self._on_signal)

    def _on_signal(self, number: int, _frame: object) -> None:
        if self.stopping:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
        self.stopping = True


def configure_logging(name: str, level: str) -> None:
    """Log to stderr with time, process name and level."""
    logging.basicConfig(level=level.upper(), format=f"%(asctime)s {name} %(levelname)s %(message)s", stream=sys.stderr)
