"""How fast the Piper program is against onnxruntime on the same file: `python -m tests.bench.piper_engine`.

One process, one round after the other: own fp32, own bf16, onnxruntime with one and with two threads, each over the
same sentences one by one. Rounds are interleaved, so that a busy machine slows all of them; figures and ratios are
medians over rounds, by the wall clock and by processor time (which a busy machine disturbs less). The last line is
JSON. x = seconds of audio per second. Encoding and decoding alone, without queue and files.
"""

from __future__ import annotations

import argparse
import json
import statistics
import time
from collections.abc import Callable

import numpy as np
import onnxruntime
import torch

from engine.request import Request
from models.base import Prompt
from models.piper.model import PiperModel, load
from models.piper.program import PiperInputs
from models.piper.voices import find_voice

SENTENCES = [
    "The ferry left the harbour before the fog had lifted, and nobody on the pier waved.",
    "She asked whether the last train would wait for them.",
    "It did not.",
    "When the rain finally stopped, the children ran into the garden and shouted until supper was on the table.",
    "Nobody had told the gardener that the old oak would have to come down before the winter.",
    "He counted the coins twice, put them back into the tin, and said nothing.",
    "Bread, salt, and a little wine were all that was left in the house.",
    "A narrow road climbs from the village to the chapel on the hill.",
]


def own(model: PiperModel, inputs: list[PiperInputs]) -> Callable[[], float]:
    program = model.program

    def run() -> float:
        samples = 0
        requests = [Request(str(i), item, seed=i, length_hint=len(item.ids)) for i, item in enumerate(inputs)]
        for start in range(0, len(requests), 8):
            for latent in program.encode(requests[start : start + 8]):
                for frame in range(0, latent.num_frames, program.chunk_frames):
                    stop_frame = min(frame + program.chunk_frames, latent.num_frames)
                    samples += len(program.decode(latent, frame, stop_frame))
        return samples / program.sample_rate_hz

    return run


def reference(inputs: list[PiperInputs], num_threads: int) -> Callable[[], float]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = num_threads
    session = onnxruntime.InferenceSession(str(find_voice("joe").onnx), options)

    def run() -> float:
        samples = 0
        for item in inputs:
            scales = np.array([item.pace.noise_scale, item.pace.length_scale, item.pace.noise_w], np.float32)
            ids = np.array([item.ids])
            feeds = {"input": ids, "input_lengths": np.array([ids.shape[1]]), "scales": scales}
            samples += session.run(None, feeds)[0].size
        return samples / 22_050

    return run


def measure(runs: dict[str, Callable[[], float]], seconds: float) -> dict[str, list[tuple[float, float]]]:
    """Per run and round: audio seconds per second of the wall clock, and per second of processor time."""
    for run in runs.values():
        run()  # warm-up, apart
    speeds: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    ends = time.perf_counter() + seconds
    while time.perf_counter() < ends or len(next(iter(speeds.values()))) < 3:
        for name, run in runs.items():
            wall_s, cpu_s = time.perf_counter(), time.process_time()
            audio_s = run()
            speeds[name].append((audio_s / (time.perf_counter() - wall_s), audio_s / (time.process_time() - cpu_s)))
    return speeds


def summary(speeds: dict[str, list[tuple[float, float]]]) -> dict[str, float]:
    report: dict[str, float] = {}
    for name, pairs in speeds.items():
        walls, cpus = zip(*pairs, strict=True)
        report[f"{name}_x_wall"] = round(statistics.median(walls), 2)
        report[f"{name}_x_wall_best"] = round(max(walls), 2)
        report[f"{name}_x_cpu"] = round(statistics.median(cpus), 2)
    for mine in ("own_fp32_1_thread", "own_bf16_1_thread"):
        for theirs in ("onnxruntime_1_threads", "onnxruntime_2_threads"):
            for kind, clock in enumerate(("wall", "cpu")):
                both = zip(speeds[mine], speeds[theirs], strict=True)
                report[f"{mine}_to_{theirs}_{clock}"] = round(statistics.median(a[kind] / b[kind] for a, b in both), 3)
    return report


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    options = parser.parse_args()
    torch.set_num_threads(1)
    models = {precision: load(device="cpu", precision=precision) for precision in ("fp32", "bf16")}
    prepared = [models["fp32"].prepare(Prompt(text, "joe", "en")).inputs for text in SENTENCES]
    inputs = [item for item in prepared if isinstance(item, PiperInputs)]
    runs = {f"own_{precision}_1_thread": own(model, inputs) for precision, model in models.items()}
    runs |= {f"onnxruntime_{n}_threads": reference(inputs, n) for n in (1, 2)}
    report = summary(measure(runs, options.seconds))
    for name, value in report.items():
        print(f"{name:50s} {value:8.2f}")
    print(json.dumps(report))


if __name__ == "__main__":
    main()
