"""Measures a token model on this machine: the ceiling that memory sets, the engine alone, the engine behind a queue.

bench = Bench.open(wishes, settings)
for slots in wishes.slots:
    bench.ceiling(slots), bench.measure(slots)
"""

from __future__ import annotations

import gc
import resource
import sys
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

import torch

from engine.tokens.engine import TokenEngine
from engine.tokens.program import TokenProgram
from jobs.benchmarks import Measurements, Speed
from jobs.errors import BadOption
from jobs.settings import Settings
from jobs.spec import engine_name
from models.base import SpeechModel
from workers.bench_ceiling import Ceiling, ceiling, copy_bandwidth
from workers.bench_meter import Meter, Window
from workers.bench_queue import BenchModel, QueueReport, run_queue
from workers.bench_work import Mix, Piece
from workers.engines import (
    UTTERANCE_LANE,
    EngineSettings,
    device_name,
    load_model,
    make_token_engine,
    making,
    no_device,
    open_device,
)

REQUESTS_PER_SLOT = 4
"""Least number of requests for each slot: one that was cut short, one for the start, two to be measured."""


@dataclass(frozen=True, slots=True)
class BenchWishes:
    """What to measure. `requests` 0: `REQUESTS_PER_SLOT` for each slot."""

    model: str
    device: str
    random_weights: bool
    mix: Mix
    slots: tuple[int, ...]
    requests: int = 0
    queue: bool = True

    def count(self, slots: int) -> int:
        """How many requests a run of that many slots speaks. Raises BadOption when they are too few."""
        least = REQUESTS_PER_SLOT * slots
        if self.requests and self.requests < least:
            msg = (
                f"--requests {self.requests} is too few for {slots} slots: their start alone takes half of {least}; "
                f"use {least} or more, or leave it out"
            )
            raise BadOption(msg)
        return self.requests or least


@dataclass(frozen=True, slots=True)
class SlotReport:
    """One number of slots. `ceiling` is the memory roofline; ready_s: graphs and kernels, apart from the run."""

    slots: int
    requests: int
    ready_s: float
    graphs: int
    kv_pool_bytes: int
    peak_memory_bytes: int
    reserved_memory_bytes: int
    ceiling: Ceiling
    engine: Window
    queue: QueueReport | None

    @property
    def basis(self) -> str:
        """What is compared with the roofline: the decode step; on a CPU, which times no stages, the whole step."""
        return "decode step" if self.engine.decode_step_ms else "whole step"

    @property
    def basis_ms(self) -> float:
        """Milliseconds of it."""
        return self.engine.decode_step_ms or self.engine.step_wall_ms

    @property
    def roofline_ratio(self) -> float:
        """The same over the roofline."""
        return self.basis_ms / self.ceiling.step_ms

    @property
    def queue_share(self) -> float | None:
        """Audio per second through the queue over that of the engine alone."""
        if self.queue is None or not self.engine.audio_s_per_s:
            return None
        return self.queue.window.audio_s_per_s / self.engine.audio_s_per_s


@dataclass(frozen=True, slots=True)
class Bench:
    """A loaded model and what is to be measured with it."""

    wishes: BenchWishes
    settings: Settings
    model: SpeechModel
    device_name: str
    device_s: float
    """Seconds until the device was awake."""
    load_s: float
    copy_bytes_per_s: float

    @classmethod
    def open(cls, wishes: BenchWishes, settings: Settings) -> Bench:
        """Load the model and measure the device.

        Raises:
            BadOption: the model cannot be had or draws no tokens, or a number of the wishes is out of range.
            NoDevice: the device is not there.
        """
        for slots in wishes.slots:
            wishes.count(slots)
        started_s = time.perf_counter()
        open_device(wishes.device)
        awake_s = time.perf_counter()
        model = load_model(
            wishes.model, device=wishes.device, precision=settings.precision, random_weights=wishes.random_weights
        )
        loaded_s = time.perf_counter()
        return cls.of(model, wishes, settings, spent_s=(awake_s - started_s, loaded_s - awake_s))

    @classmethod
    def of(
        cls, model: SpeechModel, wishes: BenchWishes, settings: Settings, *, spent_s: tuple[float, float] = (0.0, 0.0)
    ) -> Bench:
        """The same for a loaded model; `spent_s` on waking the device and on loading. Raises BadOption."""
        if model.card.lane == UTTERANCE_LANE:
            msg = f"model {model.card.name} makes whole segments; bench measures models that draw tokens, like orpheus"
            raise BadOption(msg)
        device = cast("TokenProgram", model.program).device
        name = torch.cuda.get_device_name(device) if device.type == "cuda" else "CPU"
        return cls(wishes, settings, model, name, *spent_s, copy_bandwidth(device))

    def keep(self, reports: Sequence[SlotReport]) -> None:
        """Note how fast the engine was, for estimates: through the queue if that was measured. Raises OSError."""
        found: dict[str, list[Speed]] = {}
        for report in reports:
            window = report.engine if report.queue is None else report.queue.window
            run = replace(EngineSettings.of(self.settings, self.wishes.device), slots=report.slots)
            engine = engine_name(self.model.card.name, run.numerics(self.model.card))
            if window.audio_s > 0:
                speed = Speed(
                    device=device_name(self.wishes.device),
                    audio_s=window.audio_s,
                    device_s=window.window_s,
                    measured_at_s=round(time.time(), 3),
                    slots=report.slots,
                )
                found.setdefault(engine, []).append(speed)
        for engine, speeds in found.items():
            Measurements(self.settings.measurements_dir).note_bench(engine, speeds)

    @property
    def program(self) -> TokenProgram:
        """The program that is measured."""
        return cast("TokenProgram", self.model.program)

    def ceiling(self, slots: int) -> Ceiling:
        """The memory roofline of that many slots."""
        return ceiling(self.program, self.wishes.mix, slots=slots, copy_bytes_per_s=self.copy_bytes_per_s)

    def measure(self, slots: int) -> SlotReport:
        """Make an engine of that many slots, let it work alone, then through the queue.

        Raises:
            NoDevice: the device cannot have such an engine.
            BrokerUnavailable: the queue does not work.
        """
        count = self.wishes.count(slots)
        pieces = self.wishes.mix.pieces(count=count, slots=slots)
        _forget_peak(self.program.device)
        started_s = time.perf_counter()
        run = replace(EngineSettings.of(self.settings, self.wishes.device), slots=slots)
        with no_device(), making(self.model.card.name, run):
            engine = make_token_engine(self.program, run, timed=True)
            graphs = engine.warm().graphs
        ready_s = time.perf_counter() - started_s
        alone = self._alone(engine, pieces)
        queue = self._through_queue(engine, pieces) if self.wishes.queue else None
        peak, reserved = _memory(self.program.device)
        kv_pool_bytes = engine.stats().kv_bytes
        del engine
        _give_memory_back(self.program.device)
        return SlotReport(
            slots, count, ready_s, graphs, kv_pool_bytes, peak, reserved, self.ceiling(slots), alone, queue
        )

    def _meter(self, engine: TokenEngine, pieces: Sequence[Piece], *, audible: bool) -> Meter:
        warm_steps = round(self.wishes.mix.mean_tokens)
        return Meter(engine, total=len(pieces), warm_steps=warm_steps, audible=audible)

    def _alone(self, engine: TokenEngine, pieces: Sequence[Piece]) -> Window:
        meter = self._meter(engine, pieces, audible=False)
        waiting = deque(piece.request(self.program) for piece in pieces)
        while meter.end is None:
            while waiting and meter.free_slots:
                meter.add(waiting.popleft())
            meter.step()
        meter.drain()
        return meter.window()

    def _through_queue(self, engine: TokenEngine, pieces: Sequence[Piece]) -> QueueReport:
        card = replace(self.model.card, name="bench", devices=(self.wishes.device,))
        meter = self._meter(engine, pieces, audible=True)
        report = run_queue(BenchModel(card, self.program), meter, pieces, self.settings)
        meter.drain()
        return report


def _forget_peak(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.reset_peak_memory_stats(device)


def _memory(device: torch.device) -> tuple[int, int]:
    """Peak bytes in use and peak bytes reserved; on a CPU both are the process's peak."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device), torch.cuda.max_memory_reserved(device)
    unit_bytes = 1 if sys.platform == "darwin" else 1024
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit_bytes
    return peak, peak


def _give_memory_back(device: torch.device) -> None:
    """The next engine sizes its KV memory by what is free."""
    gc.collect()
    if device.type == "cuda":
        torch.cuda.empty_cache()
