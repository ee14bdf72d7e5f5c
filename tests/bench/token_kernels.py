"""The token lane's kernels on a CUDA device, at Orpheus' shape: checks against their torch twins, then timings.

    python -m tests.bench.token_kernels --part check --part gemm --json OUT.json

Parts: check, bandwidth, gemm, attention, pointwise, sampler, codec, step. Times are medians of events around graph
replays of many calls, over buffers larger than the cache.
"""

# ruff: noqa: B023  # the closures run before the loop goes on
from __future__ import annotations

import argparse
import functools
import json
import statistics
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from engine.attention.base import PagedKv, Rows
from engine.attention.torch_pages import TorchAttention
from engine.attention.triton_pages import TritonAttention, Tuning
from engine.kernels import overlap
from engine.tokens.candidates import Candidates
from engine.tokens.inputs import Sampling
from engine.tokens.program import Grammar, KvShape
from engine.tokens.sampler import Sampler, _sample
from engine.tokens.state import FLOATS, SlotState

DEVICE = torch.device("cuda")
HIDDEN, FFN, HEADS, KV_HEADS, DIM, LAYERS = 3072, 8192, 24, 8, 128, 28
PAGE = 64
CODES, PHASES = 4096, 7


def timed_ms(call: Callable[[], object], *, repeats: int = 20, inner: int = 10) -> float:
    """Median milliseconds of one call, from replays of a graph that holds `inner` of them."""
    torch.cuda.synchronize()
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            call()
        stream.synchronize()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, stream=stream):
            for _ in range(inner):
                call()
        graph.replay()
        times = []
        for _ in range(repeats):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            graph.replay()
            end.record()
            end.synchronize()
            times.append(begin.elapsed_time(end) / inner)
    return statistics.median(times)


def bandwidth() -> dict[str, float]:
    """Copy (read and written) and read-only bandwidth in TB/s."""
    source = torch.randn(1 << 30, device=DEVICE)
    target = torch.empty_like(source)
    copy_ms = timed_ms(lambda: target.copy_(source), inner=2)
    sum_ms = timed_ms(source.sum, inner=2)
    return {"copy_tb_s": 2 * source.nbytes / copy_ms / 1e9, "read_tb_s": source.nbytes / sum_ms / 1e9}


def gemm() -> list[dict[str, float | str]]:
    """Each matrix of a layer, at several row counts; weights rotate over 8 copies so that the cache holds none."""
    shapes = {"qkv": (5120, HIDDEN), "out": (HIDDEN, HIDDEN), "gate_up": (2 * FFN, HIDDEN), "down": (HIDDEN, FFN)}
    shapes["head"] = (28736, HIDDEN)
    found: list[dict[str, float | str]] = []
    for name, (rows_out, columns) in shapes.items():
        copies = 2 if name == "head" else 8
        weights = [torch.randn(rows_out, columns, device=DEVICE, dtype=torch.bfloat16) * 0.02 for _ in range(copies)]
        for rows in (1, 8, 32, 64, 128, 256, 512):
            x = torch.randn(rows, columns, device=DEVICE, dtype=torch.bfloat16)

            def call(x: torch.Tensor = x, weights: list[torch.Tensor] = weights) -> None:
                for weight in weights:
                    torch.nn.functional.linear(x, weight)

            ms = timed_ms(call, inner=2) / copies
            found.append(
                {
                    "matrix": name,
                    "rows": rows,
                    "us": round(ms * 1e3, 2),
                    "tb_s": round(weights[0].nbytes / ms / 1e9, 2),
                    "tflops": round(2 * rows * rows_out * columns / ms / 1e9, 0),
                }
            )
    return found


def skinny() -> list[dict[str, float | str]]:
    """Our product of few rows against the library's, by program size."""
    from engine.kernels.linear import linear

    shapes = {"out": (HIDDEN, HIDDEN), "down": (HIDDEN, FFN)}
    found: list[dict[str, float | str]] = []
    for name, (outputs, columns) in shapes.items():
        copies = 8
        weights = [torch.randn(outputs, columns, device=DEVICE, dtype=torch.bfloat16) * 0.02 for _ in range(copies)]
        x = torch.randn(1, columns, device=DEVICE, dtype=torch.bfloat16)
        plain = torch.nn.functional.linear
        calls = {"library": plain}
        for block, piece, stages, warps in (
            *((16, 512, 4, 2), (16, 512, 5, 2), (16, 512, 6, 2), (16, 1024, 3, 2), (16, 256, 8, 2), (16, 512, 4, 1)),
            *((16, 256, 6, 2), (16, 1024, 2, 2), (32, 512, 3, 2), (32, 256, 5, 2)),
        ):
            calls[f"{block} {piece} {stages} {warps}"] = functools.partial(
                linear, block=block, piece=piece, stages=stages, warps=warps
            )
        for kind, product in calls.items():

            def call(product=product) -> None:
                for weight in weights:
                    product(x, weight)

            error = relative(product(x, weights[0]), plain(x.double(), weights[0].double()))
            us = timed_ms(call, inner=2) / copies * 1e3
            row = {"matrix": name, "kind": kind, "us": round(us, 2), "tb_s": round(weights[0].nbytes / us / 1e6, 2)}
            found.append({**row, "error": round(error, 5)})
    return found


def pages_and_rows(batch: int, context: int, *, layers: int, dtype: torch.dtype = torch.bfloat16):
    """KV memory with random content, a page table and one row for each slot at position context - 1."""
    per_slot = -(-context // PAGE)
    shape = KvShape(layers, HEADS, KV_HEADS, DIM, dtype)
    kv = PagedKv.zeros(shape, num_pages=batch * per_slot + 1, page_size=PAGE, device=DEVICE)
    kv.data.normal_()
    pages = torch.zeros(batch + 1, per_slot, dtype=torch.int32, device=DEVICE)
    pages[:batch] = torch.randperm(batch * per_slot, device=DEVICE).reshape(batch, per_slot).int() + 1
    slots = torch.arange(batch, dtype=torch.int32, device=DEVICE)
    positions = torch.full((batch,), context - 1, dtype=torch.int32, device=DEVICE)
    return kv, pages, Rows(slots, positions)


def attention(tunings: dict[str, Tuning | None], contexts: tuple[int, ...] = (1000,)) -> list[dict[str, float | str]]:
    """One layer's attention of B rows, with the K and V bytes it must read as bandwidth."""
    found: list[dict[str, float | str]] = []
    for batch in (1, 8, 32, 64, 128, 256, 512):
        for context in contexts:
            layers = max(1, min(8, 1024 // batch))  # more than the cache holds
            kv, pages, rows = pages_and_rows(batch, context, layers=layers)
            qkv = torch.randn(batch, (HEADS + 2 * KV_HEADS) * DIM, device=DEVICE, dtype=torch.bfloat16)
            for name, tuning in tunings.items():
                backend = TritonAttention(kv, pages) if tuning is None else TritonAttention(kv, pages, tuning=tuning)
                step = backend.for_step(rows, entries=batch)

                def call(step=step, qkv=qkv, layers=layers) -> None:
                    for layer in range(layers):
                        step(layer, qkv, None)

                ms = timed_ms(call, inner=2) / layers
                read = 2 * batch * context * KV_HEADS * DIM * 2
                found.append(
                    {
                        "tuning": name,
                        "rows": batch,
                        "context": context,
                        "us": round(ms * 1e3, 2),
                        "tb_s": round(read / ms / 1e9, 2),
                    }
                )
            del kv
    return found


def pointwise() -> list[dict[str, float | str]]:
    """The small kernels between the matrices."""
    from engine import ops

    found: list[dict[str, float | str]] = []
    weight = torch.randn(HIDDEN, device=DEVICE, dtype=torch.bfloat16)
    for rows in (1, 64, 256, 512):
        x = torch.randn(rows, HIDDEN, device=DEVICE, dtype=torch.bfloat16)
        residual = torch.randn_like(x)
        both = torch.randn(rows, 2 * FFN, device=DEVICE, dtype=torch.bfloat16)
        for name, call in (
            ("add_rms_norm", lambda x=x, residual=residual: ops.add_rms_norm(x, residual, weight, 1e-5)),
            ("silu_mul", lambda both=both: ops.silu_mul(both)),
        ):
            found.append({"op": name, "rows": rows, "us": round(timed_ms(call) * 1e3, 2)})
    return found


def sampler_state(slots: int, **sampling: float) -> tuple[Grammar, SlotState]:
    """Orpheus' grammar and a state of random counts, each slot with the given sampling."""
    grammar = Grammar(0, 28682, tuple((10 + k * CODES, 10 + (k + 1) * CODES) for k in range(PHASES)), (2,))
    state = SlotState.zeros(slots=slots, max_tokens=4096, vocab=28682, max_pages=4, device=DEVICE)
    chosen = Sampling(**{"temperature": 0.6, "top_p": 0.8, "penalty": 1.3, **sampling})
    state.floats.copy_(torch.tensor([[getattr(chosen, name) for name in FLOATS]]).expand(slots + 1, -1))
    state.ints[:, 0] = chosen.top_k
    state.ints[:, -2] = torch.arange(slots + 1)
    state.counts.random_(0, 3)
    state.drawn.random_(0, 1000)
    return grammar, state


def sampler() -> list[dict[str, float | str]]:
    """Drawing, kernel and torch, with the default sampling of Orpheus."""
    found: list[dict[str, float | str]] = []
    for rows in (1, 256, 512):
        grammar, state = sampler_state(rows)
        logits = torch.randn(rows, 28736, device=DEVICE, dtype=torch.bfloat16)
        slots = torch.arange(rows, dtype=torch.int32, device=DEVICE)
        candidates = Candidates.of(grammar, DEVICE)
        kernel = Sampler(grammar, state)
        for name, call in (
            ("kernel", lambda: kernel.sample(logits, slots)),
            ("torch", lambda: _sample(logits, slots, candidates, state)),
        ):
            state.drawn.zero_()
            found.append({"sampler": name, "rows": rows, "us": round(timed_ms(call, inner=2) * 1e3, 1)})
    return found


def codec() -> list[dict[str, float | str]]:
    """SNAC at the lane's shapes, in each type, and how far it is from the plain decoder in float32."""
    from models.codecs.snac.config import SnacConfig
    from models.codecs.snac.decoder import SnacDecoder

    found: list[dict[str, float | str]] = []
    torch.backends.cudnn.allow_tf32 = False
    plain = SnacDecoder.random(SnacConfig(), seed=0, device=DEVICE, fused=False)
    for dtype, matmul in (
        (torch.float32, "highest"),
        (torch.float32, "high"),
        (torch.bfloat16, "highest"),
        (torch.float16, "highest"),
    ):
        torch.set_float32_matmul_precision(matmul)
        fused = SnacDecoder.random(SnacConfig(), seed=0, device=DEVICE, compute_dtype=dtype)
        for batch, frames in ((1, 10), (1, 70), (8, 70), (16, 38), (16, 70), (32, 70)):
            codes = torch.randint(0, 4096, (batch, frames, 7), device=DEVICE, dtype=torch.int32)
            valid = torch.tensor([[0, frames]] * batch, device=DEVICE, dtype=torch.int32)
            seeds = torch.arange(batch, device=DEVICE)
            first = torch.zeros(batch, dtype=torch.int64, device=DEVICE)
            row: dict[str, float | str] = {"dtype": f"{dtype} {matmul}", "batch": batch, "frames": frames}
            if batch <= 8:
                want, got = plain.decode(codes, valid, seeds, first), fused.decode(codes, valid, seeds, first)
                row["snr_db"] = round(float(10 * torch.log10(want.square().mean() / (want - got).square().mean())), 1)
            ms = timed_ms(lambda: fused.decode(codes, valid, seeds, first), inner=2, repeats=8)
            row |= {"ms": round(ms, 3), "audio_s_per_s": round(batch * frames * 2048 / 24_000 / ms * 1e3, 0)}
            found.append(row)
    return found


def check() -> dict[str, float | bool]:
    """Kernels against their torch twins, on fresh random inputs."""
    from engine import ops
    from engine.tokens.program import Rope

    found: dict[str, float | bool] = {}
    kv, pages, rows = pages_and_rows(9, 700, layers=1)
    rows.positions.copy_(torch.tensor([0, 1, 63, 64, 65, 300, 511, 512, 699]))
    qkv = torch.randn(9, (HEADS + 2 * KV_HEADS) * DIM, device=DEVICE, dtype=torch.bfloat16)
    rope = Rope(torch.randn(4096, DIM, device=DEVICE))
    want = TorchAttention(PagedKv(kv.data.clone(), kv.shape, kv.page_size), pages).for_step(rows, entries=9)(
        0, qkv, rope
    )
    found["attention_error"] = relative(TritonAttention(kv, pages).for_step(rows, entries=9)(0, qkv, rope), want)
    kv, pages, rows = pages_and_rows(160, 700, layers=1)
    rows.positions.random_(0, 700)
    qkv = torch.randn(160, qkv.shape[1], device=DEVICE, dtype=torch.bfloat16)
    got = TritonAttention(kv, pages).for_step(rows, entries=160)(0, qkv, rope)
    want = TorchAttention(kv, pages).for_step(rows, entries=160)(0, qkv, rope)
    found["attention_unsplit_error"] = relative(got, want)
    x, residual = (torch.randn(33, HIDDEN, device=DEVICE, dtype=torch.bfloat16) for _ in range(2))
    weight = torch.randn(HIDDEN, device=DEVICE, dtype=torch.bfloat16)
    normed, kept = ops.add_rms_norm(x, residual.clone(), weight, 1e-5)
    normed_cpu, kept_cpu = ops.add_rms_norm(x.cpu(), residual.cpu(), weight.cpu(), 1e-5)
    found["add_rms_norm_error"] = max(relative(normed.cpu(), normed_cpu), relative(kept.cpu(), kept_cpu))
    both = torch.randn(33, 2 * FFN, device=DEVICE, dtype=torch.bfloat16)
    found["silu_mul_error"] = relative(ops.silu_mul(both).cpu(), ops.silu_mul(both.cpu()))
    found |= check_sampler()
    return found


def check_sampler() -> dict[str, float | bool]:
    """Ids drawn by the kernel and by torch from the same logits and states."""
    same = total = 0
    for sampling in ({}, {"top_k": 50}, {"temperature": 0.0}, {"top_p": 1.0, "min_p": 0.05}):
        grammar, state = sampler_state(256, **sampling)
        twin = SlotState(**{name: getattr(state, name).clone() for name in SlotState.__dataclass_fields__})
        logits = torch.randn(256, 28736, device=DEVICE, dtype=torch.bfloat16) * 3
        slots = torch.arange(256, dtype=torch.int32, device=DEVICE)
        ours, theirs = (
            Sampler(grammar, state).sample(logits, slots),
            _sample(logits, slots, Candidates.of(grammar, DEVICE), twin),
        )
        same, total = same + int((ours == theirs).sum()), total + 256
    return {"sampler_same": same, "sampler_total": total}


def step(sizes: tuple[int, ...] = (1, 8, 32, 64, 128, 256, 512)) -> list[dict[str, object]]:
    """Whole decode steps, captured, at a context of 1,000 rows each, against the bytes they must read."""
    from engine.tokens.options import EngineOptions
    from engine.tokens.runner import Runner
    from models.orpheus.model import load_random

    program = load_random(device="cuda").program
    found: list[dict[str, object]] = []
    for size in sizes:
        options = EngineOptions(num_slots=size, max_tokens=1024, timed=True)
        runner = Runner(program, options)
        runner.decode_shape(size)
        pages = torch.arange(1, size * 16 + 1, dtype=torch.int32, device=DEVICE).reshape(size, 16)
        runner.state.pages[:size] = pages
        runner.kv.data.normal_()
        runner.state.floats[:size] = torch.tensor([0.6, 0.8, 0.0, 1.3])
        slots = np.arange(size, dtype=np.int32)
        times = []
        for _ in range(30):
            runner.state.length[:size] = 999
            torch.cuda.synchronize()
            launch = runner.decode(slots, np.full(size, 1000, np.int32), size=size)
            launch.ids()
            times.append(launch.begin.ms_until(launch.end))
        ms = statistics.median(times[5:])
        bytes_read = program.weight_bytes + size * 1000 * program.kv.bytes_per_row
        row: dict[str, object] = {"rows": size, "ms": round(ms, 3), "read_gb": round(bytes_read / 1e9, 2)}
        row |= {"roofline_ms": round(bytes_read / 4.3e9, 3), "ratio": round(ms / (bytes_read / 4.3e9), 3)}
        if size in {1, 256} and len(sizes) > 2:
            row["kernels_us"] = profile(lambda: runner.decode(slots, np.full(size, 1000, np.int32), size=size).ids())
        found.append(row)
        print(json.dumps(row), flush=True)
        runner = launch = None
        torch.cuda.empty_cache()
    return found


def halves(batch: int = 512, context: int = 644) -> dict[str, float]:
    """All layers of one batch, and as two halves on two streams (products of one beside attention of the other)."""
    from models.orpheus.model import load_random

    program = load_random(device="cuda").program
    kv, pages, rows = pages_and_rows(batch, context, layers=LAYERS)
    backend = TritonAttention(kv, pages)
    half = batch // 2
    parts = [Rows(rows.slots[k * half : (k + 1) * half], rows.positions[k * half : (k + 1) * half]) for k in range(2)]
    steps = [backend.for_step(part, entries=half) for part in parts]
    whole = backend.for_step(rows, entries=batch)
    hidden = torch.randn(batch, HIDDEN, device=DEVICE, dtype=torch.bfloat16)
    streams = [torch.cuda.Stream(), torch.cuda.Stream()]

    def apart() -> None:
        current = torch.cuda.current_stream()
        for stream, part, attend, place in zip(streams, parts, steps, range(2), strict=True):
            stream.wait_stream(current)
            with torch.cuda.stream(stream):
                program.backbone(hidden[place * half : (place + 1) * half].clone(), part.positions, attend)
        for stream in streams:
            current.wait_stream(stream)

    together_ms = timed_ms(lambda: program.backbone(hidden.clone(), rows.positions, whole), inner=1)
    apart_ms = timed_ms(apart, inner=1)
    return {"rows": batch, "context": context, "together_ms": together_ms, "halves_ms": apart_ms}


def profile(call: Callable[[], object]) -> dict[str, str]:
    """Device microseconds of one call by kernel, with counts; the largest first."""
    from torch.profiler import ProfilerActivity
    from torch.profiler import profile as record

    with record(activities=[ProfilerActivity.CUDA]) as recorded:
        call()
        torch.cuda.synchronize()
    events = sorted(recorded.key_averages(), key=lambda one: -one.self_device_time_total)[:14]
    return {one.key[:70]: f"{one.self_device_time_total:.0f} in {one.count}" for one in events}


def relative(got: torch.Tensor, want: torch.Tensor) -> float:
    """Norm of the difference over the norm; NaN stays NaN."""
    return float((got.double() - want.double()).norm() / want.double().norm())


TUNINGS: dict[str, Tuning | None] = {
    "default": None,
    "stages 4": Tuning(num_stages=4),
    "stages 4, block 32": Tuning(num_stages=4, block_keys=32),
    "stages 5, block 32": Tuning(num_stages=5, block_keys=32),
    "warps 2": Tuning(num_warps=2),
    "warps 8": Tuning(num_warps=8),
    "cut 1024": Tuning(chunks=((0, 1024),)),
    "cut 512": Tuning(chunks=((0, 512),)),
    "cut 256": Tuning(chunks=((0, 256),)),
    "cut 128": Tuning(chunks=((0, 128),)),
}
PARTS: dict[str, Callable[[], object]] = {
    "check": check,
    "bandwidth": bandwidth,
    "gemm": gemm,
    "skinny": skinny,
    "attention": lambda: attention(TUNINGS),
    "pointwise": pointwise,
    "sampler": sampler,
    "codec": codec,
    "step": step,
    "halves": halves,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--json", type=Path)
    parser.add_argument("--overlap", choices=("off", "on"), help="how kernels follow each other")
    parser.add_argument("--sizes", default="1,8,32,64,128,256,512", help="rows of the step part")
    arguments = parser.parse_args()
    if arguments.overlap is not None:
        overlap.ENABLED = arguments.overlap == "on"
    PARTS["step"] = functools.partial(step, tuple(int(size) for size in arguments.sizes.split(",")))
    results: dict[str, object] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for part in arguments.part or PARTS:
        torch.manual_seed(0)
        results[part] = PARTS[part]()
        torch.cuda.empty_cache()
        print(json.dumps({part: results[part]}), flush=True)
        if arguments.json:
            arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
