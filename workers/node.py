"""The embedded node (`python -m workers.node`): a real Valkey, a CPU worker and a supervisor for one user's machine.

One node per data folder, held by a lock. It restarts whatever of its parts dies, ends with the process that started it,
and leaves everything it knows in the data folder: the next node goes on from there.
"""

from __future__ import annotations

import fcntl
import logging
import sys
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from jobs.connect import open_broker
from jobs.embedded import Embedded, lock_file
from jobs.errors import BrokerUnavailable
from jobs.settings import Settings, child_environment, load_settings
from workers.devices import has_nvidia_driver
from workers.process import Member, StopFlag, configure_logging, module_command, stop_together
from workers.room_config import EXIT_NOTHING_TO_RUN

log = logging.getLogger(__name__)

POLL_S = 0.1
BROKER_START_S = 15.0
BROKER_STOP_S = 15.0
OLD_BROKER_S = 15.0
MEMBER_MARGIN_S = 10.0
PROBE_S = 0.5
"""How long somebody who only asks whether a node runs may hold the lock in our way."""
LOG_LIMIT_BYTES = 4 * 1024 * 1024

EXIT_TAKEN = 73
"""Exit status when another node holds the data folder (`EX_CANTCREAT`)."""


class Node:
    """The parts of one embedded node and the round that keeps them alive."""

    def __init__(self, settings: Settings) -> None:
        self._settings = replace(settings, broker=Embedded(settings.data_dir).url)
        self._embedded = Embedded(settings.data_dir)
        logs = self._embedded.log_dir
        logs.mkdir(parents=True, exist_ok=True)
        environment = child_environment(self._settings)
        self._lock_fd = self._lock_broker_files()
        self._broker = Member(
            "broker",
            self._embedded.server_command(),
            environment,
            log_path=_fresh_log(logs / "broker.log"),
            pass_fds=(self._lock_fd,),
        )
        # With an NVIDIA driver a second supervisor looks what it can run on the GPUs; it ends when that is nothing.
        devices = ("cpu", "cuda") if has_nvidia_driver() else ("cpu",)
        commands = {"cpu-worker": module_command("workers.steward")}
        for device in devices:
            name = "supervisor" if device == "cpu" else f"supervisor-{device}"
            commands[name] = module_command("workers.supervisor", device)
        self._workers = [
            Member(name, command, environment, _fresh_log(logs / f"{name}.log")) for name, command in commands.items()
        ]

    def run(self, stop: StopFlag) -> None:
        """Start everything, keep it running until told to stop, then stop it in order (workers, then broker)."""
        self._broker.start()
        # The broker inherits the lock on its files: if we are killed, the next node waits until the broker is gone too.
        self._wait_for_broker(stop)
        while not stop.stopping:
            for member in (self._broker, *self._workers):
                status = member.poll()
                if status == EXIT_NOTHING_TO_RUN and member is not self._broker:
                    log.info("%s found nothing to run and is not started again", member.name)
                    self._workers.remove(member)
                elif status is not None:
                    log.error("%s ended with status %d and is started again", member.name, status)
                    self._send_steps_again()
            time.sleep(POLL_S)
        self._stop()

    def _send_steps_again(self) -> None:
        """Steps that a dead CPU worker had in hand would be found by the reconciler only minutes later."""
        with suppress(BrokerUnavailable):
            open_broker(self._embedded.url, self._settings).truth.reconcile(quiet_s=0)

    def _lock_broker_files(self) -> int:
        """Wait until no older broker works on the files (one may outlive a killed node for a moment)."""
        lock = lock_file(self._embedded.broker_lock)
        if not _locked(lock, patience_s=OLD_BROKER_S):
            msg = f"another broker still works on {self._embedded.broker_dir}; stop it, then try again"
            raise SystemExit(msg)
        return lock

    def _wait_for_broker(self, stop: StopFlag) -> None:
        deadline_s = time.monotonic() + BROKER_START_S
        while not stop.stopping:
            try:
                truth = open_broker(self._embedded.url, self._settings).truth
                # Nobody else can work for this node: what is listed, or has a step in hand, is of a node that is gone.
                for status in truth.workers():
                    truth.retire(status.info.worker)
                truth.reconcile(quiet_s=0)
            except BrokerUnavailable as error:
                if time.monotonic() > deadline_s:
                    msg = f"the embedded broker does not start: {error}; see {self._embedded.log_dir / 'broker.log'}"
                    raise SystemExit(msg) from error
                time.sleep(POLL_S)
            else:
                return

    def _stop(self) -> None:
        stop_together(self._workers, grace_s=self._settings.grace_s + MEMBER_MARGIN_S)
        stop_together([self._broker], grace_s=BROKER_STOP_S)


def _locked(descriptor: int, *, patience_s: float) -> bool:
    """Lock a file for us alone; False when somebody else kept it all the time."""
    deadline_s = time.monotonic() + patience_s
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline_s:
                return False
            time.sleep(POLL_S)
        else:
            return True


def _fresh_log(path: Path) -> Path:
    """Keep one old log when the present one has grown large."""
    with suppress(FileNotFoundError):
        if path.stat().st_size > LOG_LIMIT_BYTES:
            path.replace(path.with_suffix(".old.log"))
    return path


def main() -> None:
    """Entry of the process. Exit status 73: another node holds this data folder."""
    settings = load_settings()
    configure_logging("node", settings.log_level)
    embedded = Embedded(settings.data_dir)
    embedded.prepare()
    lock = lock_file(embedded.node_lock)
    if not _locked(lock, patience_s=PROBE_S):
        sys.exit(EXIT_TAKEN)
    Node(settings).run(StopFlag())


if __name__ == "__main__":
    main()
