"""From a broker URL to its truth and streams: redis://, rediss://, unix://, or memory:// (one process, for tests).

`open_broker("unix:///run/valkey.sock", settings).truth.jobs()`
"""

from __future__ import annotations

from dataclasses import dataclass, field

from redis.exceptions import RedisError

from jobs.access.gate import Gate
from jobs.access.memory import MemoryGate
from jobs.access.redis_gate import RedisGate
from jobs.errors import BadOption
from jobs.protocols import Streams, Truth
from jobs.settings import Settings
from jobs.streams.memory import MemoryStreams
from jobs.truth.calls import Calls, make_client, may_pass, safe_url, unavailable
from jobs.truth.memory import MemoryTruth
from jobs.truth.redis_streams import RedisStreams
from jobs.truth.redis_truth import RedisTruth

SCHEMES = ("redis", "rediss", "unix", "memory")


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What a check of the deployment wants to know of the server. None: the server does not tell."""

    software: str
    version: str
    appendonly: bool | None
    maxmemory_policy: str | None
    used_memory_bytes: int | None
    maxmemory_bytes: int | None = None
    """0: no limit."""


@dataclass(frozen=True, slots=True)
class Broker:
    """An open broker. `url` may hold a password; `safe_url` is for texts. `calls` is None for memory://."""

    url: str
    safe_url: str
    truth: Truth
    streams: Streams
    calls: Calls | None
    gate: Gate = field(default_factory=MemoryGate)
    """Tokens of the HTTP door and what they used."""

    def ping(self) -> None:
        """Ask for one answer; waits a little for a server that refuses for now, not for one that is away.

        Raises:
            BrokerUnavailable: none came.
        """
        if self.calls is None:
            return
        client = self.calls.client
        try:
            client.ping()
        except RedisError as error:
            if not may_pass(error):
                raise unavailable(client, error) from error
            self.calls.repeat(lambda _again: client.ping())

    def close(self) -> None:
        """Close the connections; the broker is not used after this."""
        if self.calls is not None:
            self.calls.client.close()

    def facts(self) -> ServerFacts:
        """Version and durability of the server.

        Raises:
            BrokerUnavailable: it does not answer.
        """
        if self.calls is None:
            return ServerFacts("memory", "", appendonly=False, maxmemory_policy=None, used_memory_bytes=None)
        client = self.calls.client
        info = self.calls.repeat(lambda _again: client.info())
        return ServerFacts(
            software=str(info.get("server_name", "redis")),
            version=str(info.get("valkey_version", info["redis_version"])),
            appendonly=bool(info["aof_enabled"]) if "aof_enabled" in info else None,
            maxmemory_policy=info.get("maxmemory_policy"),
            used_memory_bytes=info.get("used_memory"),
            maxmemory_bytes=info.get("maxmemory"),
        )


def open_broker(url: str, settings: Settings) -> Broker:
    """Connect and return the truth and the streams of a broker.

    Raises:
        BadOption: the URL is none of SCHEMES.
        BrokerUnavailable: no server answers there, or it refuses the password.
    """
    scheme = url.partition("://")[0]
    if scheme not in SCHEMES:
        raise _bad_url(url)
    if scheme == "memory":
        streams = MemoryStreams(
            max_audio_bytes=settings.max_audio_stream_bytes,
            max_total_bytes=settings.max_audio_total_bytes,
            stream_ttl_s=settings.stream_ttl_s,
        )
        truth = MemoryTruth(streams, worker_ttl_s=settings.worker_ttl_s)
        return Broker(url=url, safe_url=url, truth=truth, streams=streams, calls=None)
    try:
        client = make_client(url)
    except ValueError:
        raise _bad_url(url) from None  # its text would show the whole URL
    calls = Calls(client, stream_ttl_s=settings.stream_ttl_s)
    broker = Broker(
        url=url,
        safe_url=safe_url(url),
        truth=RedisTruth(calls, worker_ttl_s=settings.worker_ttl_s),
        streams=RedisStreams(
            calls, max_audio_bytes=settings.max_audio_stream_bytes, max_total_bytes=settings.max_audio_total_bytes
        ),
        calls=calls,
        gate=RedisGate(calls),
    )
    broker.ping()
    return broker


def _bad_url(url: str) -> BadOption:
    return BadOption(
        f"{safe_url(url)!r} is not a broker URL; use redis://host:6379/0, rediss://host:6379/0 (TLS) or "
        "unix:///path/to/socket"
    )
