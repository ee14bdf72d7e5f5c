"""How much of the broker's memory live jobs take: `python -m tests.bench.memory --jobs 100 --minutes 2`.

So many live jobs at once write chunks of 24 kHz audio as fast as a full GPU would; then they end, and their streams
expire. Prints one JSON line: the memory over time beside the bounds that the settings give.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable

from jobs.events import AudioChunk
from jobs.spec import Priority
from jobs.state import JobState
from jobs.truth.calls import Calls, make_client
from jobs.truth.redis_streams import RedisStreams
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import record, result, tasks, worker
from tests.helpers_valkey import ValkeyServer

RATE_HZ = 24_000
CHUNK_S = 0.5
MB = 1_000_000


def write(streams: RedisStreams, names: list[str], audio_s: float, used_mb: Callable[[], float]) -> dict[str, object]:
    """Chunks to all jobs in turn, so much audio in all; the memory at ten moments of it."""
    data, over_time = bytes(int(2 * RATE_HZ * CHUNK_S)), []
    began_s, rounds = time.monotonic(), int(audio_s / CHUNK_S / len(names))
    for turn in range(rounds):
        for name in names:
            chunk = AudioChunk(
                segment=turn // 20,
                take=f"{turn // 20}",
                chunk=turn % 20,
                start_sample=turn % 20 * len(data) // 2,
                samples=len(data) // 2,
                sample_rate_hz=RATE_HZ,
                data=data,
            )
            streams.write_audio(name, chunk)
        if turn % max(1, rounds // 10) == 0:
            over_time.append(used_mb())
    per_s = rounds * len(names) * CHUNK_S / (time.monotonic() - began_s)
    written_mb = round(rounds * len(names) * len(data) / MB)
    return {"live_mb_over_time": over_time, "live_audio_written_mb": written_mb, "written_audio_s_per_s": round(per_s)}


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--segments", type=int, default=2000, help="of each job")
    parser.add_argument("--audio-s", type=float, default=60_000, help="live audio in all")
    parser.add_argument("--job-mb", type=float, default=16)
    parser.add_argument("--total-mb", type=float, default=256)
    asked = parser.parse_args()
    server = ValkeyServer().start()
    try:
        client = make_client(server.url)
        calls = Calls(client, stream_ttl_s=5.0)
        truth = RedisTruth(calls)
        streams = RedisStreams(calls, max_audio_bytes=int(asked.job_mb * MB), max_total_bytes=int(asked.total_mb * MB))

        def used_mb() -> float:
            return round(client.info("memory")["used_memory"] / MB, 1)

        figures: dict[str, object] = {"empty_mb": used_mb(), "bounds_mb": [asked.job_mb, asked.total_mb]}
        names = [f"live{number:03d}" for number in range(asked.jobs)]
        for name in names:
            truth.create_job(record(name, priority=Priority.NORMAL))
            truth.enqueue(name, tasks(name, asked.segments, per_chapter=asked.segments), [])
        figures["queued_mb"] = used_mb()
        figures |= write(streams, names, asked.audio_s, used_mb)
        truth.register(worker("w"))
        while held := truth.lease("w", 256):
            truth.finish("w", [result(task) for task in held])
        figures["spoken_mb"] = used_mb()
        for name in names:
            truth.chapter_assembled(name, 0)
            truth.move_job(name, JobState.DONE)
        time.sleep(8)
        figures["a_while_after_the_end_mb"] = used_mb()
        for name in names:
            truth.forget(name)
        figures["deleted_mb"] = used_mb()
        print(json.dumps(figures))
    finally:
        server.close()


if __name__ == "__main__":
    main()
