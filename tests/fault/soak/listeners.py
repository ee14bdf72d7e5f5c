"""Readers from outside: of live streams by plain XREAD, and of speech over HTTP. They keep what they heard."""

from __future__ import annotations

import json
import random
import threading
import time
from dataclasses import dataclass, field

import httpx
import redis

from tests.fault.soak.machines import Cluster

FINAL = {"done", "done_with_failures", "cancelled", "failed"}
SPEAK_EVERY_S = 4.0
BATCH_EVERY_S = 60.0
PCM_RATE_HZ = 24_000
PAUSE_S = 2.0
"""More than any pause between two segments."""


class Listener:
    """Follows a live job as docs/streams.md says; `heard` has each segment that was heard whole."""

    def __init__(self, cluster: Cluster, job: str) -> None:
        self.job = job
        self.heard: dict[int, tuple[str, bytes]] = {}
        self.faults: list[str] = []
        self._open: dict[int, tuple[str, int, int, bytes]] = {}
        self._cluster = cluster
        self.stopping = threading.Event()
        self.thread = threading.Thread(target=self._follow, daemon=True)
        self.thread.start()

    def _follow(self) -> None:
        last = {f"tts:events:{self.job}": "0", f"tts:audio:{self.job}": "0"}
        state = ""
        with redis.Redis(port=self._cluster.port, socket_timeout=10) as client:
            while not self.stopping.is_set():
                try:
                    news = client.xread(last, block=1000) or []
                except redis.RedisError:
                    time.sleep(0.5)
                    continue
                if not news and state in FINAL:
                    return
                for stream, entries in dict(news).items():
                    for entry, fields in entries:
                        last[stream.decode()] = entry
                        if b"kind" in fields:
                            state = json.loads(fields[b"data"])["state"]
                        else:
                            self._hear(fields)

    def _hear(self, fields: dict[bytes, bytes]) -> None:
        segment, take, chunk = int(fields[b"segment"]), fields[b"take"].decode(), int(fields[b"chunk"])
        if fields[b"discard"] == b"1":
            if self.heard.get(segment, ("",))[0] == take:
                del self.heard[segment]
            self._open.pop(segment, None)
            return
        start, data = int(fields[b"start_sample"]), fields[b"data"]
        if len(data) != 2 * int(fields[b"samples"]):
            self.faults.append(f"segment {segment}: {len(data)} bytes for {fields[b'samples']!r} samples")
        if chunk == 0:
            self._open[segment] = (take, 0, 0, b"")
        if segment not in self._open or self._open[segment][0] != take:
            return
        _, following, at, kept = self._open[segment]
        if chunk != following or start != at:
            del self._open[segment]  # a chunk was lost while the broker was away: the store has it
            return
        self._open[segment] = (take, chunk + 1, start + len(data) // 2, kept + data)
        if fields[b"last"] == b"1":
            self.heard[segment] = (take, kept + data)


@dataclass
class Callers:
    """Requests over HTTP until `stop()`: speech all the time, a batch now and then."""

    cluster: Cluster
    random: random.Random
    whole: int = 0
    refused: int = 0
    broken: int = 0
    faults: list[str] = field(default_factory=list)
    batches: dict[str, list[str]] = field(default_factory=dict)
    """Batch id → the custom ids of its lines."""

    def __post_init__(self) -> None:
        self._ended = threading.Event()
        self.url = f"http://127.0.0.1:{self.cluster.http_port}/v1"
        self._threads = [threading.Thread(target=work, daemon=True) for work in (self._speak_all, self._batch_all)]

    def start(self) -> None:
        """Begin."""
        for thread in self._threads:
            thread.start()

    def stop(self) -> None:
        """No more."""
        self._ended.set()
        for thread in self._threads:
            thread.join()

    def _speak_all(self) -> None:
        number = 0
        while not self._ended.wait(self.random.expovariate(1 / SPEAK_EVERY_S)):
            number += 1
            self._speak(f"Request {number} asks for a word. And for another one of {number} words.")

    def _speak(self, text: str) -> None:
        """A whole answer must be as long as the server says the speech is; a broken one must not end as if whole."""
        body = {"model": "fake", "voice": "tone", "input": text, "response_format": "pcm"}
        try:
            with httpx.stream("POST", f"{self.url}/audio/speech", json=body, timeout=90) as answer:
                if answer.status_code != 200:
                    answer.read()
                    self.refused += 1
                    return
                size_bytes = sum(map(len, answer.iter_raw()))
                request = answer.headers["x-request-id"]
        except httpx.HTTPError:
            self.broken += 1
            return
        self.whole += 1
        self._check(request, size_bytes)

    def _check(self, request: str, size_bytes: int) -> None:
        for _ in range(60):
            try:
                about = httpx.get(f"{self.url}/audio/speech/{request}", timeout=20)
            except httpx.HTTPError:
                time.sleep(1)
                continue
            told = about.json() if about.status_code == 200 else {"finish_reason": None}
            if told["finish_reason"] is not None:
                heard_s = size_bytes / 2 / PCM_RATE_HZ
                fits = told["audio_s"] - 0.01 <= heard_s <= told["audio_s"] + PAUSE_S * told["segments"]
                if told["finish_reason"] != "stop" or not fits:
                    self.faults.append(f"speech {request}: {heard_s:.2f} s heard, the server says {told}")
                return
            time.sleep(1)
        self.faults.append(f"speech {request} ended whole and is not known")

    def _batch_all(self) -> None:
        number = 0
        while not self._ended.wait(self.random.expovariate(1 / BATCH_EVERY_S)):
            number += 1
            self._batch(number)

    def _batch(self, number: int) -> None:
        ids = [f"line-{number}-{place}" for place in range(12)]
        lines = [
            {
                "custom_id": name,
                "method": "POST",
                "url": "/v1/audio/speech",
                "body": {"model": "fake", "input": f"Line {name} of a batch.", "response_format": "flac"},
            }
            for name in ids
        ]
        data = "\n".join(map(json.dumps, lines)).encode()
        try:
            sent = httpx.post(
                f"{self.url}/files", files={"file": ("b.jsonl", data)}, data={"purpose": "batch"}, timeout=60
            )
            if sent.status_code != 200:
                return
            order = {"input_file_id": sent.json()["id"], "endpoint": "/v1/audio/speech", "completion_window": "24h"}
            made = httpx.post(f"{self.url}/batches", json=order, timeout=60)
            if made.status_code == 200:
                self.batches[made.json()["id"]] = ids
        except httpx.HTTPError:
            return
