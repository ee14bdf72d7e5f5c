"""Measures the queue on an own Valkey and prints one JSON document: `python -m tests.bench.leases [segments]`.

Not a test: nothing is asserted, machines differ.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable

from jobs import keys
from jobs.spec import Priority
from jobs.truth.calls import Calls, make_client
from jobs.truth.redis_truth import RedisTruth
from tests.helpers_truth import record, result, tasks, worker
from tests.helpers_valkey import ValkeyServer


def timed(call: Callable[[], object]) -> float:
    began_s = time.perf_counter()
    call()
    return time.perf_counter() - began_s


def run_batch(truth: RedisTruth, want: int) -> int:
    """Lease and finish until nothing waits; returns how many calls of lease it took."""
    calls = 0
    while held := truth.lease("w", want):
        truth.finish("w", [result(task) for task in held])
        calls += 1
    return calls


def book_memory(calls: Calls, truth: RedisTruth, count: int) -> dict[str, float]:
    """Redis memory of one book, all waiting and all done: segments of 150 characters, 100 in a chapter."""

    def used_bytes() -> int:
        return int(calls.client.info("memory")["used_memory"])

    before = used_bytes()
    truth.create_job(record("memory"))
    book = [task.model_copy(update={"spoken": "x" * 150}) for task in tasks("memory", count, per_chapter=100)]
    truth.enqueue("memory", book, [])
    waiting = used_bytes() - before
    run_batch(truth, 16)
    done = used_bytes() - before
    events = calls.client.memory_usage(keys.events("memory"), samples=0)
    results = calls.client.memory_usage(keys.results("memory"), samples=0)
    return {
        "memory_of_a_waiting_book_bytes": waiting,
        "memory_of_a_done_book_bytes": done,
        "memory_of_its_events_bytes": events,
        "memory_of_its_results_bytes": results,
    }


def main(count: int) -> dict[str, float]:
    server = ValkeyServer().start()
    try:
        calls = Calls(make_client(server.url))
        truth = RedisTruth(calls)
        truth.register(worker("w"))
        figures: dict[str, float] = {"segments": count, **book_memory(calls, truth, count)}
        for want in (1, 16):
            job = f"want{want}"
            truth.create_job(record(job))
            all_tasks = tasks(job, count)
            used_before = calls.client.info("memory")["used_memory"]
            spent_s = timed(lambda job=job, all_tasks=all_tasks: truth.enqueue(job, all_tasks, []))
            used = calls.client.info("memory")["used_memory"] - used_before
            figures["enqueue_per_s"] = round(count / spent_s)
            figures["memory_per_waiting_segment_bytes"] = round(used / count)
            spent_s = timed(lambda want=want: run_batch(truth, want))
            figures[f"lease_and_finish_per_s_want_{want}"] = round(count / spent_s)
        truth.create_job(record("cancelled"))
        truth.enqueue("cancelled", tasks("cancelled", 5000), [])
        figures["cancel_5000_ms"] = round(1000 * timed(lambda: truth.cancel("cancelled")), 2)
        truth.create_job(record("book"))
        truth.enqueue("book", tasks("book", count), [])
        truth.create_job(record("live", priority=Priority.LIVE))
        truth.enqueue("live", tasks("live", 1), [])
        figures["lease_of_live_behind_a_book_ms"] = round(1000 * timed(lambda: truth.lease("w", 1)), 2)
        return figures
    finally:
        server.close()


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)))
