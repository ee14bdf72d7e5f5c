"""The token engine on a CUDA device at Orpheus' shape: who draws the same ids where, and what the host waits for.

    python -m tests.bench.token_engine --part equality --part trace --json OUT.json

equality: the same probe requests among different others, eager and as graphs, in default and deterministic engines.
trace: a window of steps at 256 slots under the profiler: how busy the device is, and every call of the host that waits.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from engine.request import FinishReason, Request
from engine.tokens.engine import TokenEngine
from engine.tokens.inputs import Sampling, TokenInputs
from engine.tokens.options import EngineOptions
from engine.tokens.program import TokenProgram
from models.orpheus.model import SAMPLING, load_random

PROBE_TOKENS = 700
WAITS = ("Synchronize", "cudaMemcpy", "cudaFree", "cudaMalloc", "cudaHostAlloc")
"""Runtime calls that wait for the device, or may."""


def make_request(number: int, tokens: int, sampling: Sampling = SAMPLING) -> Request:
    """A prompt of about 60 rows and exactly so many ids; everything follows from the number."""
    rng = np.random.default_rng(number)
    ids = tuple(int(one) for one in rng.integers(0, 128_000, int(rng.integers(40, 81))))
    inputs = TokenInputs(ids, tokens, sampling, min_tokens=tokens, budget_finish=FinishReason.STOP)
    return Request(f"r{number}", inputs, number, len(ids))


def drawn_ids(engine: TokenEngine, requests: Sequence[Request]) -> dict[str, bytes]:
    """Run all requests, in that order, and keep the ids of each."""
    found: dict[str, bytes] = {}
    end = engine._delivery.end

    def note(request_id: str, ids: np.ndarray, finish: FinishReason) -> None:
        found[request_id] = ids.tobytes()
        end(request_id, ids, finish)

    engine._delivery.end = note
    waiting = list(reversed(requests))
    while waiting or not engine.idle:
        while waiting and engine.free_slots:
            engine.add(waiting.pop())
        engine.step()
    return found


def company(seed: int, probes: Sequence[Request], others: int) -> list[Request]:
    """The probes among others, in an order of their own."""
    rng = np.random.default_rng(seed)
    mixed = [*probes, *(make_request(seed * 10_000 + k, int(rng.integers(100, 900))) for k in range(others))]
    rng.shuffle(mixed)
    return mixed


def equality(program: TokenProgram) -> dict[str, object]:
    """Shares of 32 probes that draw the same ids."""
    probes = [make_request(k, PROBE_TOKENS) for k in range(1, 33)]

    def run(requests: Sequence[Request], **options: object) -> dict[str, bytes]:
        engine = TokenEngine(program, EngineOptions(num_slots=64, max_tokens=1024, memory_share=0.4, **options))
        return drawn_ids(engine, requests)

    def same(left: dict[str, bytes], right: dict[str, bytes]) -> float:
        shared = [probe.request_id for probe in probes if probe.request_id in left and probe.request_id in right]
        return sum(left[one] == right[one] for one in shared) / len(shared)

    first, second = company(1, probes, 64), company(2, probes, 64)
    found: dict[str, object] = {}
    default = run(first)
    found["default: same company again"] = same(default, run(first))
    found["default: eager and graphs, same company"] = same(default, run(first, eager=True))
    found["default: other company"] = same(default, run(second))
    fixed = run(first, deterministic=True)
    found["deterministic: other company"] = same(fixed, run(second, deterministic=True))
    found["deterministic: eager, other company"] = same(fixed, run(second, deterministic=True, eager=True))
    found["deterministic: alone (4 probes)"] = same(fixed, run(probes[:1], deterministic=True)) * 0.25 + 0.75 * same(
        fixed, run(probes[5:8], deterministic=True)
    )
    return found


def trace(program: TokenProgram) -> dict[str, object]:
    """60 steps of a full engine of 256 slots."""
    from torch.profiler import ProfilerActivity, profile

    engine = TokenEngine(program, EngineOptions(num_slots=256, max_tokens=2048))
    engine.warm()
    rng = np.random.default_rng(0)
    numbers = iter(range(1, 100_000))

    def turn() -> None:
        while engine.free_slots:
            engine.add(make_request(next(numbers), int(rng.integers(300, 1400))))
        engine.step()

    for _ in range(500):
        turn()
    torch.cuda.synchronize()
    before = engine.stats()
    started_tokens, started_s = before.tokens, time.perf_counter()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA]) as recorded:
        for _ in range(60):
            turn()
        torch.cuda.synchronize()
    elapsed_s = time.perf_counter() - started_s
    calls = Counter(event.name for event in recorded.events() if event.name.startswith("cuda"))
    kernels = sorted(
        (event.time_range.start, event.time_range.end)
        for event in recorded.events()
        if event.device_type == torch.autograd.DeviceType.CUDA
    )
    busy_us, reached_us = 0.0, kernels[0][0]
    for start_us, end_us in kernels:
        busy_us += max(0.0, end_us - max(start_us, reached_us))
        reached_us = max(reached_us, end_us)
    span_us = reached_us - kernels[0][0]
    waits = {name: count for name, count in calls.items() if any(part in name for part in WAITS)}
    return {
        "steps": 60,
        "device_busy_share": round(busy_us / span_us, 4),
        "audio_s_per_s_under_the_profiler": round((engine.stats().tokens - started_tokens) / 82.03 / elapsed_s, 1),
        "calls_that_may_wait": waits,
        "all_runtime_calls": dict(calls.most_common(12)),
    }


PARTS: dict[str, Callable[[TokenProgram], object]] = {"equality": equality, "trace": trace}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    program = load_random(device="cuda").program
    results: dict[str, object] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for part in arguments.part or PARTS:
        results[part] = PARTS[part](program)
        torch.cuda.empty_cache()
        print(json.dumps({part: results[part]}, indent=1), flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
