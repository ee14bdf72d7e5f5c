"""Qwen3-TTS on a CUDA device with random weights of the published shape: equal to torch, and how fast.

    python -m tests.bench.qwen3_tts --part kernels --part equality --part codec --part speed --json OUT.json

kernels: the Triton kernels of the depth step and the codec against their torch twins, on this device.
equality: frames drawn as graphs and eagerly, alone and among others, in deterministic engines.
codec: the half-precision codec against float32 (SNR), pieces against the whole, audio-seconds a second by batch.
speed: audio-seconds a second of the engine alone by number of slots, segments of 8 to 15 s, with time by stage.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch

from engine import ops
from engine.attention.small import SmallKv
from engine.kernels import conv_rows, norm, sampling, small
from engine.request import FinishReason, Request
from engine.tokens.engine import TokenEngine
from engine.tokens.inputs import Sampling, TokenInputs
from engine.tokens.options import EngineOptions
from engine.tokens.program import Grammar, KvShape
from engine.tokens.sampler import Sampler, _draw, _Rows
from engine.tokens.state import SlotState
from models.codecs.qwen12.config import Qwen12Config
from models.codecs.qwen12.decoder import Qwen12Decoder
from models.layers.rope import RopeConfig, rope_table
from models.qwen3_tts.program import Qwen3TtsProgram
from models.qwen3_tts.rows import Order, prompt_rows
from models.qwen3_tts.shape import published
from models.qwen3_tts.weights import Qwen3TtsWeights
from tests.bench.token_engine import drawn_ids
from workers.bench_ceiling import copy_bandwidth

GPU = torch.device("cuda")
SAMPLING = Sampling(temperature=0.9, top_k=50, penalty=1.05)
FRAMES_PER_S = 12.5
SEGMENT_S = (8.0, 15.0)
TEXT_IDS = 60
SLOTS = (1, 4, 16, 64, 128, 192, 256)


def make_program(size: str) -> Qwen3TtsProgram:
    config = published(size)
    weights = Qwen3TtsWeights.random(config, seed=0, device=GPU, dtype=torch.bfloat16)
    codec = Qwen12Decoder.random(Qwen12Config(), seed=0, device=GPU, compute_dtype=torch.float16)
    return Qwen3TtsProgram(config, weights, codec)


def make_request(program: Qwen3TtsProgram, number: int, frames: int) -> Request:
    """A prompt of a named speaker with its text, and exactly so many frames; everything follows from the number."""
    text = tuple(int(one) for one in np.random.default_rng(number).integers(0, 150_000, TEXT_IDS))
    order = Order(text_ids=text, role_ids=(151_644, 77_091, 198), language="english", speaker="ryan")
    prompt = prompt_rows(program.config, order)
    inputs = TokenInputs(
        prompt.rows,
        frames,
        SAMPLING,
        shared_rows=prompt.shared_rows,
        min_tokens=frames,
        budget_finish=FinishReason.STOP,
        follow=prompt.follow,
    )
    return Request(f"r{number}", inputs, number, len(prompt.rows))


def kernels(_arguments: argparse.Namespace) -> dict[str, object]:
    """Largest differences relative to the largest value, float32 unless named."""
    generator = torch.Generator(GPU).manual_seed(0)

    def rand(*shape: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        return torch.randn(shape, generator=generator, device=GPU).to(dtype)

    def off(ours: torch.Tensor, wanted: torch.Tensor) -> float:
        return float((ours.float() - wanted.float()).abs().max() / wanted.float().abs().max())

    found: dict[str, object] = {}
    for dtype in (torch.float32, torch.bfloat16):
        shape = KvShape(1, 16, 8, 128, dtype)
        rope = rope_table(RopeConfig(1e6), head_dim=128, positions=16, device=GPU)
        twin, ours = (SmallKv(shape, rows=37, positions=16, device=GPU) for _ in range(2))
        worst = 0.0
        for position in range(16):
            qkv = rand(37, 4096, dtype=dtype)
            wanted = twin._attend(twin.data[0], qkv, rope, position)
            worst = max(worst, off(small.attend(qkv, rope.cos_sin, ours.data[0], position), wanted))
        found[f"small attention {dtype}"] = worst
        qkv, weights = rand(37, 4096, dtype=dtype), rand(24, 128, dtype=dtype)
        wanted = ops.head_norm(qkv.cpu(), weights.cpu(), 1e-6).cuda()
        found[f"head norm {dtype}"] = off(norm.head_norm(qkv.clone(), weights, 1e-6), wanted)
    for dtype in (torch.float32, torch.float16):
        x, before = rand(3, 50, 96, dtype=dtype), rand(3, 6, 96, dtype=dtype)
        curve = ops.Snake(rand(96), rand(96))
        on_cpu = ops.Snake(curve.alpha.cpu(), curve.inverse.cpu())
        wanted = ops.snake_after(x.cpu(), before.cpu(), on_cpu).cuda()
        rows = conv_rows.snake_after(x, before, curve)
        found[f"snake {dtype}"] = off(rows, wanted)
        for taps, dilation, outputs in ((7, 1, 96), (3, 3, 64), (2, 1, 288), (1, 1, 192)):
            weight, bias = rand(taps, 96, outputs, dtype=dtype) / 26, rand(outputs)
            extra = rand(3, 56 - (taps - 1) * dilation, outputs, dtype=dtype)
            exact = ops.causal_conv(
                rows.double().cpu(), weight.double().cpu(), bias.cpu(), dilation=dilation, residual=extra.double().cpu()
            )
            ours = conv_rows.causal_conv(rows, weight, bias, dilation=dilation, residual=extra)
            found[f"convolution {taps} taps {outputs} outputs {dtype}"] = off(ours, exact.cuda())
    state = SlotState.zeros(slots=64, max_tokens=64, vocab=64, max_pages=1, device=GPU)
    state.floats[:, 0] = 0.9
    state.ints[:, 0] = 50
    state.ints[:, 5] = torch.arange(65, device=GPU)
    state.drawn.fill_(3)
    Sampler(Grammar(0, 64, ((0, 64),), (63,)), state)
    logits, slots = rand(64, 2048), torch.arange(64, dtype=torch.int32, device=GPU)
    ours = [sampling.draw(logits, slots, 33 + place, state) for place in range(15)]
    wanted = [_draw(logits, _Rows.of(state, slots), 33 + place) for place in range(15)]
    found["draws that agree"] = float((torch.stack(ours) == torch.stack(wanted)).float().mean())
    return found


def drawn(program: Qwen3TtsProgram, requests: list[Request], **options: object) -> dict[str, bytes]:
    """Frames of each request."""
    return drawn_ids(
        TokenEngine(program, EngineOptions(num_slots=32, max_tokens=512, memory_share=0.3, **options)), requests
    )


def equality(arguments: argparse.Namespace) -> dict[str, object]:
    """Shares of 8 probes of 100 frames that draw the same frames."""
    program = make_program(arguments.size)
    probes = [make_request(program, number, 100) for number in range(1, 9)]
    others = [make_request(program, 100 + number, 30 + 7 * (number % 20)) for number in range(40)]

    def same(left: dict[str, bytes], right: dict[str, bytes]) -> float:
        shared = [probe.request_id for probe in probes if probe.request_id in left and probe.request_id in right]
        return sum(left[one] == right[one] for one in shared) / len(shared)

    fixed = drawn(program, probes, deterministic=True)
    return {
        "deterministic: eager and graphs": same(fixed, drawn(program, probes, deterministic=True, eager=True)),
        "deterministic: alone": same(fixed, drawn(program, probes[:1], deterministic=True)),
        "deterministic: among 40 others": same(fixed, drawn(program, others + probes, deterministic=True)),
        "default: among 40 others": same(drawn(program, probes), drawn(program, others + probes)),
    }


def codec(_arguments: argparse.Namespace) -> dict[str, object]:
    """Against float32, and audio-seconds a second as graphs."""
    config = Qwen12Config()
    exact = Qwen12Decoder.random(config, seed=0, device=GPU)
    half = Qwen12Decoder.random(config, seed=0, device=GPU, compute_dtype=torch.float16)
    codes = torch.randint(0, 2048, (200, 16), device=GPU, dtype=torch.int32)
    wanted = exact.whole(codes)

    def snr_db(samples: torch.Tensor) -> float:
        return float(10 * torch.log10(wanted.square().mean() / (wanted - samples).square().mean()))

    def pieces(decoder: Qwen12Decoder, size: int) -> torch.Tensor:
        state, place = decoder.new_state(0), torch.zeros(1, dtype=torch.int64, device=GPU)
        parts = [
            decoder.decode(codes[None, start : start + size], place, torch.tensor([start == 0], device=GPU), state)[0]
            for start in range(0, len(codes), size)
        ]
        return torch.cat(parts)

    found: dict[str, object] = {
        "loudness rms": float(wanted.square().mean().sqrt()),
        "snr_db float16": snr_db(half.whole(codes)),
        "snr_db float32, pieces of 16": snr_db(pieces(exact, 16)),
        "snr_db float16, pieces of 64": snr_db(pieces(half, 64)),
    }
    for batch, frames in ((1, 4), (1, 64), (4, 64), (16, 64), (32, 64), (16, 32)):
        found[f"audio-s/s float16, {batch} x {frames} frames"] = _codec_rate(half, batch, frames)
    found["audio-s/s float32, 16 x 64 frames"] = _codec_rate(exact, 16, 64)
    return found


def _codec_rate(decoder: Qwen12Decoder, batch: int, frames: int) -> float:
    from engine.tokens.graphs import Replay, Track

    codes = torch.randint(0, 2048, (batch, frames, 16), device=GPU, dtype=torch.int32)
    state, places = decoder.new_state(batch), torch.arange(batch, device=GPU)
    fresh = torch.zeros(batch, dtype=torch.bool, device=GPU)
    track = Track.make(GPU, eager=False, priority=0)
    with track.current():
        replay = Replay(lambda: (decoder.decode(codes, places, fresh, state), None)[1], track)
        for _ in range(3):
            replay.run()
        torch.cuda.synchronize()
        started_s = time.perf_counter()
        for _ in range(20):
            replay.run()
        torch.cuda.synchronize()
    return round(20 * batch * frames / FRAMES_PER_S / (time.perf_counter() - started_s), 1)


def speed(arguments: argparse.Namespace) -> dict[str, object]:
    program = make_program(arguments.size)
    found: dict[str, object] = {"copy_bytes_per_s": copy_bandwidth(GPU), "weight_bytes": program.weight_bytes}
    for slots in arguments.slots:
        found[f"{slots} slots"] = _engine_rate(program, slots)
        torch.cuda.empty_cache()
    return found


def _engine_rate(program: Qwen3TtsProgram, slots: int) -> dict[str, object]:
    """Slots are out of step from the beginning; measured between the first audio of all and the last request."""
    engine = TokenEngine(program, EngineOptions(num_slots=slots, max_tokens=512, timed=True))
    warm = engine.warm()
    rng = np.random.default_rng(1)
    low, high = (round(seconds * FRAMES_PER_S) for seconds in SEGMENT_S)
    count = max(8, 5 * slots)
    lengths = rng.integers(low, high + 1, count)
    lengths[:slots] = [int(rng.integers(8, length + 1)) for length in lengths[:slots]]
    waiting = [make_request(program, 1000 + number, int(length)) for number, length in enumerate(lengths)]
    waiting.reverse()
    started_s, samples, full_s, full_samples = time.perf_counter(), 0, 0.0, 0
    while waiting or not engine.idle:
        while waiting and engine.free_slots:
            engine.add(waiting.pop())
        samples += sum(len(delta.samples) for delta in engine.step())
        if waiting:
            full_s, full_samples = time.perf_counter() - started_s, samples
    stats = engine.stats()
    rate = program.sample_rate_hz

    def ms(timings: list[tuple[int, float]]) -> float:
        return round(sum(one for _, one in timings), 1)

    full = [one for rows, one in stats.decode_ms if rows == slots]
    return {
        "audio_s_per_s": round(full_samples / rate / full_s, 1),
        "audio_s_per_s with the end": round(samples / rate / (time.perf_counter() - started_s), 1),
        "graphs": warm.graphs,
        "capture_s": round(warm.capture_s, 1),
        "median step_ms": round(float(np.median(full)), 3) if full else None,
        "device ms: decode, prefill, codec": [ms(stats.decode_ms), ms(stats.prefill_ms), ms(stats.codec_ms)],
        "wall_s": round(time.perf_counter() - started_s, 2),
        "occupancy": round(stats.occupancy, 4),
        "host_s by stage": {name: round(value, 2) for name, value in engine.stage_s.items()},
    }


PARTS: dict[str, Callable[[argparse.Namespace], object]] = {
    "kernels": kernels,
    "equality": equality,
    "codec": codec,
    "speed": speed,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", action="append", choices=list(PARTS))
    parser.add_argument("--size", default="1.7b")
    parser.add_argument("--slots", type=int, nargs="+", default=SLOTS)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    results: dict[str, object] = {"device": torch.cuda.get_device_name(), "torch": torch.__version__}
    for part in arguments.part or PARTS:
        started_s = time.perf_counter()
        try:
            results[part] = PARTS[part](arguments)
        except RuntimeError as error:
            results[part] = f"failed: {error}"
        results[f"{part} took_s"] = round(time.perf_counter() - started_s, 1)
        print(json.dumps({part: results[part]}, indent=1), flush=True)
        torch.cuda.empty_cache()
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()
