"""How an event and an audio chunk stand in a stream entry (docs/streams.md). Pure."""

from __future__ import annotations

from collections.abc import Mapping

from jobs.events import EVENT_VERSION, AudioChunk, Event

EVENTS_PER_READ = 1000
CHUNKS_PER_READ = 128
"""Most entries one call returns; the next call goes on after the last id."""
NEWS_PER_READ = 4096
"""Most entries one call for the news of many jobs returns, shared evenly: a bound for however many."""
NO_BOUND = 2**53
"""As a bound of bytes: none."""


def read_event(fields: Mapping[bytes, bytes]) -> Event:
    """The event of an entry: its `data`."""
    _check_version(fields)
    return Event.model_validate_json(fields[b"data"])


def chunk_fields(chunk: AudioChunk) -> list[str | bytes | int]:
    """Field, value, … of a chunk: the four that name it first, the data last (`audio.lua` counts on that)."""
    return [
        *("segment", chunk.segment, "take", chunk.take, "chunk", chunk.chunk, "discard", int(chunk.discard)),
        *("v", chunk.v, "start_sample", chunk.start_sample, "samples", chunk.samples),
        *("sample_rate_hz", chunk.sample_rate_hz, "encoding", chunk.encoding, "last", int(chunk.last)),
        *("data", chunk.data),
    ]


def read_chunk(fields: Mapping[bytes, bytes]) -> AudioChunk:
    """The chunk of an entry."""
    _check_version(fields)
    return AudioChunk(
        v=int(fields[b"v"]),
        segment=int(fields[b"segment"]),
        take=fields[b"take"].decode(),
        chunk=int(fields[b"chunk"]),
        start_sample=int(fields[b"start_sample"]),
        samples=int(fields[b"samples"]),
        sample_rate_hz=int(fields[b"sample_rate_hz"]),
        encoding=fields[b"encoding"].decode(),
        last=fields[b"last"] == b"1",
        discard=fields[b"discard"] == b"1",
        data=fields[b"data"],
    )


def _check_version(fields: Mapping[bytes, bytes]) -> None:
    version = fields[b"v"].decode()
    if version != str(EVENT_VERSION):
        msg = f"stream entry of version {version}; this program reads version {EVENT_VERSION}: use one release for all"
        raise ValueError(msg)
