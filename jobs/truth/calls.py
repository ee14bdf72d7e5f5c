"""One connection pool to Redis or Valkey: runs scripts and commands, repeats them over a lost connection.

A command whose reply was lost may have been done. So a repeated call is marked (`again`), and only calls that stand
repetition go through here; each script says how it does. Knows no keys and no meaning of replies.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from threading import Lock
from typing import Any, Protocol, TypeVar

import redis
from redis.backoff import NoBackoff
from redis.exceptions import (
    AuthenticationError,
    AuthorizationError,
    BusyLoadingError,
    NoPermissionError,
    OutOfMemoryError,
    ReadOnlyError,
    RedisError,
    ResponseError,
)
from redis.exceptions import (
    ConnectionError as RedisConnectionError,
)
from redis.exceptions import (
    TimeoutError as RedisTimeoutError,
)
from redis.retry import Retry

from jobs.errors import BrokerUnavailable
from jobs.truth.lua import compose
from jobs.truth.rules import STREAM_TTL_S

T = TypeVar("T")
Value = str | bytes | int | float
SOCKET_TIMEOUT_S = 30.0
"""Longest wait for a reply. Blocking reads ask for at most BLOCK_S, so that a silent server is not taken for busy."""
BLOCK_S = 10.0
CONNECT_TIMEOUT_S = 5.0
MAX_CONNECTIONS = 1024
"""Of one process. Calls of more threads than this at one time would fail: a server speaks to hundreds at once."""
FIRST_PAUSE_S = 0.02
LONGEST_PAUSE_S = 1.0
_REFUSAL = re.compile(r"(?:^|caused error: |: -)(BUSY|MISCONF|OOM) (.*)", re.DOTALL)
"""A refusal as redis-py tells it: alone, out of a transaction, or (Redis 6.2) out of a script. Nothing was done then: a
server refuses a script at its first change or not at all. BUSYGROUP is another word."""


_REFUSED = {
    "BUSY": "is busy with a long script; try again, or end it: redis-cli SCRIPT KILL",
    "MISCONF": "cannot save its data ({said}); free space on the broker's disk, it goes on by itself then",
    "OOM": "is out of memory ({said}); raise its maxmemory or forget old jobs",
}


class _Script(Protocol):
    def __call__(self, *, args: Sequence[Value]) -> Any: ...  # noqa: ANN401  # the shape is the script's own


class Calls:
    """Runs scripts and commands on one server.

    `retry_for_s`: how long a call is repeated while there is no connection or the server refuses for now (`may_pass`);
    then BrokerUnavailable. `last_error_s`: monotonic time of the last such error (at first: of the start), for whoever
    must not judge others after it.
    """

    def __init__(self, client: redis.Redis, *, retry_for_s: float = 5.0, stream_ttl_s: float = STREAM_TTL_S) -> None:
        # redis-py types a reply as the union of what every protocol version may give; `make_client` fixes one.
        self.client: Any = client
        self.last_error_s = time.monotonic()
        self._retry_for_s = retry_for_s
        self._stream_ttl_s = stream_ttl_s
        self._scripts: dict[str, _Script] = {}
        self._lock = Lock()

    def script(self, name: str, *args: Value) -> Any:  # noqa: ANN401  # the shape is the script's own
        """Run `scripts/<name>.lua`. Raises ResponseError with the script's error word, BrokerUnavailable."""
        return self.repeat(lambda _again: self._script(name)(args=args))

    def marked_script(self, name: str, before: Sequence[Value], after: Sequence[Value]) -> Any:  # noqa: ANN401  # as above
        """The same with a mark between the arguments: '1' when the call repeats one whose reply may be lost."""
        return self.repeat(lambda again: self._script(name)(args=[*before, "1" if again else "0", *after]))

    def repeat(self, call: Callable[[bool], T]) -> T:
        """Do `call(again)` until the server answers. Raises BrokerUnavailable when the time is up."""
        deadline_s = time.monotonic() + self._retry_for_s
        pause_s, again = FIRST_PAUSE_S, False
        while True:
            try:
                return call(again)
            except (AuthenticationError, AuthorizationError, NoPermissionError, ReadOnlyError) as error:
                raise unavailable(self.client, error) from error
            except (RedisConnectionError, RedisTimeoutError, ResponseError) as error:
                if isinstance(error, ResponseError) and not may_pass(error):
                    raise
                self.last_error_s = time.monotonic()
                if self.last_error_s + pause_s > deadline_s:
                    raise unavailable(self.client, error) from error
            time.sleep(pause_s * random.uniform(0.5, 1.0))  # many workers come back at once: not in step
            pause_s, again = min(2 * pause_s, LONGEST_PAUSE_S), True

    def together(self, commands: Iterable[Sequence[Value]]) -> list[Any]:
        """Do some commands in one transaction; returns their replies."""
        listed = list(commands)

        def send(_again: bool) -> list[Any]:  # noqa: FBT001  # the shape `repeat` calls
            with self.client.pipeline() as pipe:
                for command in listed:
                    pipe.execute_command(*command)
                return list(pipe.execute())

        return self.repeat(send)

    def block(self, timeout_s: float, read: Callable[[int | None], T | None]) -> T | None:
        """Do `read(block_ms)` until it returns something or `timeout_s` is over (None).

        The first read does not block: servers look for timed-out clients only ten times a second.
        """
        deadline_s = time.monotonic() + timeout_s
        found = self.repeat(partial(_unmarked, read, None))
        while not found and (left_s := deadline_s - time.monotonic()) > 0:
            block_ms = max(1, round(1000 * min(left_s, BLOCK_S)))  # 0 would be for ever
            found = self.repeat(partial(_unmarked, read, block_ms))
        return found

    def _script(self, name: str) -> _Script:
        with self._lock:
            if name not in self._scripts:
                self._scripts[name] = self.client.register_script(compose(name, stream_ttl_s=self._stream_ttl_s))
            return self._scripts[name]


def _unmarked(read: Callable[[int | None], T], block_ms: int | None, _again: bool) -> T:  # noqa: FBT001  # the shape `repeat` calls
    return read(block_ms)


def make_client(url: str) -> redis.Redis:
    """A client with its own pool; replies are bytes. Repetition is the business of `Calls`. Opens no connection."""
    return redis.Redis.from_url(
        url,
        socket_timeout=SOCKET_TIMEOUT_S,
        socket_connect_timeout=CONNECT_TIMEOUT_S,
        retry=Retry(NoBackoff(), 0),
        protocol=2,  # one shape of replies on every server
        max_connections=MAX_CONNECTIONS,
    )


def may_pass(error: RedisError) -> bool:
    """Whether the server is there and may do it later.

    It loads its data (LOADING), runs a long script (BUSY), cannot save what it would change (MISCONF: its disk is full)
    or has no memory left for it (OOM).
    """
    return isinstance(error, BusyLoadingError) or _refusal(error)[0] != ""


def _refusal(error: RedisError) -> tuple[str, str]:
    """Its word and what the server says of it; empty if it is none of these."""
    text = str(error)
    if isinstance(error, OutOfMemoryError):  # its word is the type now
        text = f"OOM {text.rpartition('caused error: ')[2]}"
    found = _REFUSAL.search(text)
    return (found[1], found[2].partition(" script: ")[0].rstrip(". ")) if found else ("", "")


def word_of(error: ResponseError) -> list[str]:
    """The words of a script's error reply: its name first."""
    return str(error).split()


def safe_url(url: str) -> str:
    """The URL without user, password or query: for texts people see."""
    scheme = re.match(r"[a-z]+://", url)
    kept = scheme.group() if scheme else ""
    return kept + url[len(kept) :].rpartition("@")[2].partition("?")[0]


def unavailable(client: redis.Redis, error: RedisError) -> BrokerUnavailable:
    """The error for a server that does not answer, or not as it must: where, what is wrong, what to do."""
    place = _place(client)
    if isinstance(error, (AuthenticationError, AuthorizationError, NoPermissionError)):
        return BrokerUnavailable(
            f"the broker at {place} refused the user or password; put them into the URL: redis://user:password@host"
        )
    if isinstance(error, ReadOnlyError):
        return BrokerUnavailable(f"the broker at {place} is a read-only replica; name the primary in TTS_BATCH_BROKER")
    if isinstance(error, BusyLoadingError):
        return BrokerUnavailable(f"the broker at {place} has started and still loads its data; try again in a while")
    word, said = _refusal(error)
    if word:
        return BrokerUnavailable(f"the broker at {place} {_REFUSED[word].format(said=said)}")
    return BrokerUnavailable(
        f"no Redis or Valkey answers at {place} ({type(error).__name__}); start it, or set TTS_BATCH_BROKER to the URL "
        "of one that runs"
    )


def _place(client: redis.Redis) -> str:
    options = client.connection_pool.connection_kwargs
    if "path" in options:
        return f"unix://{options['path']}"
    return f"{options.get('host', 'localhost')}:{options.get('port', 6379)}"
