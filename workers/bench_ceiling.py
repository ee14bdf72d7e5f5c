"""What memory alone allows: bytes that a decode step must read, and how fast this device moves bytes (measured)."""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch

from engine.tokens.program import TokenProgram
from workers.bench_work import Mix

COPY_BYTES = 4 << 30
"""Largest block that is copied to measure a GPU; far beyond its caches."""
HOST_COPY_BYTES = 64 << 20
"""The same for a CPU."""
COPIES = 8


@dataclass(frozen=True, slots=True)
class Ceiling:
    """The least time of a decode step at one number of slots: weights and KV read once at the measured bandwidth."""

    slots: int
    weight_bytes: int
    kv_bytes: int
    copy_bytes_per_s: float
    step_ms: float
    audio_s_per_s: float
    """Audio per second if nothing but such steps ran."""


def ceiling(program: TokenProgram, mix: Mix, *, slots: int, copy_bytes_per_s: float) -> Ceiling:
    """The memory roofline of a decode step with the mean KV of `mix` in every slot."""
    kv_bytes = round(slots * mix.mean_kv_rows * program.kv.bytes_per_row)
    step_s = (program.weight_bytes + kv_bytes) / copy_bytes_per_s
    audio_s = slots * program.codec.samples_per_frame / program.tokens_per_frame / program.sample_rate_hz
    return Ceiling(slots, program.weight_bytes, kv_bytes, copy_bytes_per_s, 1000 * step_s, audio_s / step_s)


def copy_bandwidth(device: torch.device) -> float:
    """Bytes read and written per second when the device copies within its own memory: the best of `COPIES`."""
    on_gpu = device.type == "cuda"
    size = min(COPY_BYTES, torch.cuda.mem_get_info(device)[0] // 4) if on_gpu else HOST_COPY_BYTES
    source = torch.ones(size, dtype=torch.uint8, device=device)
    target = torch.zeros_like(source)
    target.copy_(source)
    times_s = [_gpu_copy_s(source, target) if on_gpu else _host_copy_s(source, target) for _copy in range(COPIES)]
    del source, target
    if on_gpu:
        torch.cuda.empty_cache()  # the engines' KV memory is sized by what is free
    return 2 * size / min(times_s)


def _gpu_copy_s(source: torch.Tensor, target: torch.Tensor) -> float:
    begin, end = (torch.cuda.Event(enable_timing=True) for _side in range(2))  # type: ignore[no-untyped-call]
    begin.record()
    target.copy_(source)
    end.record()
    end.synchronize()
    return float(begin.elapsed_time(end)) / 1000


def _host_copy_s(source: torch.Tensor, target: torch.Tensor) -> float:
    started_s = time.perf_counter()
    target.copy_(source)
    return time.perf_counter() - started_s
