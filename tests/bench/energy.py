"""Device time and energy of the token engine on a CUDA device, and what measuring them costs the step loop.

    python -m tests.bench.energy --json OUT.json

Orpheus' shape with random weights, 256 slots, as in `token_engine.py`. Prints JSON: the sums of device time over
requests against the clock, joules from the meter against the power that nvidia-smi shows meanwhile, watt-hours for an
hour of audio, how long one question to NVML takes, and milliseconds of a step with and without the metering (in turns,
so that a drift of the clock rate shows in both). Needs nvidia-ml-py; without it energies are null.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import threading
import time
from pathlib import Path
from typing import Self

import numpy as np
import torch

from engine.tokens.engine import TokenEngine
from engine.tokens.options import EngineOptions
from models.orpheus.model import load_random
from tests.bench.token_engine import make_request
from workers.costs import Costs
from workers.energy import _uuid, gpu_counter

SLOTS = 256
LOW_TOKENS, HIGH_TOKENS = 300, 1400
WARM_STEPS = 300
LAP_STEPS = 400
SMI = ("nvidia-smi", "--query-gpu=power.draw", "--format=csv,noheader,nounits")


class Load:
    """An engine that always has work; `paid` sums what ended requests had to bear."""

    def __init__(self, engine: TokenEngine) -> None:
        self.engine = engine
        self.costs = Costs("cuda")
        self.paid_s = self.paid_j = 0.0
        self._rng = np.random.default_rng(0)
        self._numbers = iter(range(1, 1_000_000))
        self.samples = 0
        self.metered: set[str] = set()

    def turn(self, *, metered: bool) -> None:
        """One turn of a step loop."""
        while self.engine.free_slots:
            request = make_request(next(self._numbers), int(self._rng.integers(LOW_TOKENS, HIGH_TOKENS)))
            self.engine.add(request)
            if metered:
                self.enter(request.request_id)
        deltas = self.costs.step("m", self.engine) if metered else self.engine.step()
        for delta in deltas:
            self.samples += delta.samples.size
            if delta.last and delta.request_id in self.metered:
                self.leave(delta.request_id)

    def enter(self, ref: str) -> None:
        self.costs.enter(ref, "m")
        self.metered.add(ref)

    def leave(self, ref: str) -> None:
        cost = self.costs.leave(ref)
        self.metered.discard(ref)
        self.paid_s += cost.device_s
        self.paid_j += cost.energy_j or 0.0


class Smi:
    """Mean power by nvidia-smi while the block runs."""

    def __enter__(self) -> Self:
        self.watts: list[float] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        return self

    def _run(self) -> None:
        while not self._over.wait(0.2):
            told = subprocess.run(SMI, capture_output=True, text=True, check=False).stdout.split()
            self.watts += [float(told[0])] if told else []

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()


def question_us(count: int = 200) -> dict[str, float] | None:
    """How long one reading of the counter takes, in microseconds."""
    counter = gpu_counter(_uuid())
    if counter is None:
        return None
    times = []
    for _ in range(count):
        started_s = time.perf_counter()
        counter.read_j()
        times.append(1e6 * (time.perf_counter() - started_s))
    found = {"median": float(np.median(times)), "p99": float(np.percentile(times, 99))}
    return {"counter": type(counter).__name__, **found}


def laps(load: Load) -> dict[str, float]:
    """Milliseconds of a step without and with metering, medians of laps in turns."""
    found: dict[bool, list[float]] = {False: [], True: []}
    for lap in range(8):
        metered = bool(lap % 2)
        if not metered:
            for ref in sorted(load.metered):
                load.leave(ref)
            load.costs.rest()
        started_s = time.perf_counter()
        for _ in range(LAP_STEPS):
            load.turn(metered=metered)
        found[metered].append(1000 * (time.perf_counter() - started_s) / LAP_STEPS)
    return {"plain_ms": float(np.median(found[False])), "metered_ms": float(np.median(found[True]))}


def whole_run(load: Load, seconds: float, rate_hz: int) -> dict[str, object]:
    """Everything metered for a time: sums against the clock and against nvidia-smi."""
    for ref in sorted(load.metered):
        load.leave(ref)
    while not load.engine.idle:  # empty it, so that all that is measured was begun here
        load.engine.step()
    load.costs.rest()
    load.paid_s = load.paid_j = 0.0
    load.samples = 0
    with Smi() as smi:
        started_s = time.perf_counter()
        while time.perf_counter() - started_s < seconds:
            load.turn(metered=True)
        wall_s = time.perf_counter() - started_s
    for ref in sorted(load.metered):
        load.leave(ref)
    audio_s = load.samples / rate_hz
    smi_w = float(np.mean(smi.watts)) if smi.watts else None
    metered = load.costs.energy_known
    return {
        "wall_s": wall_s,
        "device_s": load.paid_s,
        "device_s_over_wall": load.paid_s / wall_s,
        "audio_s": audio_s,
        "audio_s_per_device_s": audio_s / load.paid_s,
        "energy_j": load.paid_j if metered else None,
        "nvidia_smi_w": smi_w,
        "nvidia_smi_j": None if smi_w is None else smi_w * wall_s,
        "energy_over_nvidia_smi": load.paid_j / (smi_w * wall_s) if smi_w and metered else None,
        "wh_per_audio_hour": load.paid_j / audio_s if metered else None,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=40.0)
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    program = load_random(device="cuda").program
    engine = TokenEngine(program, EngineOptions(num_slots=SLOTS, max_tokens=2048))
    engine.warm()
    load = Load(engine)
    for _ in range(WARM_STEPS):
        load.turn(metered=False)
    found = {
        "device": torch.cuda.get_device_name(),
        "torch": torch.__version__,
        "slots": SLOTS,
        "question_us": question_us(),
        "loop": laps(load),
        "run": whole_run(load, arguments.seconds, program.sample_rate_hz),
    }
    text = json.dumps(found, indent=1)
    print(text)
    if arguments.json:
        arguments.json.write_text(text)


if __name__ == "__main__":
    main()
