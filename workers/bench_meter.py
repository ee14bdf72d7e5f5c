"""An engine with a meter around it: marks the stretch of a run in which every slot has work, and what came of it.

The stretch begins when the start has passed (`warm_steps`) and ends when the last request got its slot. The same meter
measures the engine alone and the engine in a machine room.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from statistics import median

import numpy as np

from engine.request import Delta, Request, Samples
from engine.tokens.engine import TokenEngine
from engine.tokens.stats import TokenStats

HUM_PEAK = 0.05
"""Loudness of the noise under the audio: a codec with random weights may be silent, and silent takes are not kept."""
HUM_SAMPLES = 1 << 18


@dataclass(frozen=True, slots=True)
class Mark:
    """The counts at one moment of a run; `at_s` is of the performance counter."""

    at_s: float
    samples: int
    stats: TokenStats


@dataclass(frozen=True, slots=True)
class Window:
    """What happened between two marks. Milliseconds are the device's own, medians; 0.0 when nothing was measured."""

    window_s: float
    steps: int
    tokens: int
    audio_s: float
    audio_s_per_s: float
    decode_step_ms: float
    decode_step_p90_ms: float
    prefill_pass_ms: float
    prefill_passes: int
    prefill_rows_per_pass: float
    codec_launch_ms: float
    codec_launches: int
    codec_frames_per_launch: float
    occupancy: float
    refill_wait_steps: float

    @property
    def step_wall_ms(self) -> float:
        """Milliseconds of a step on the clock on the wall, prefill, codec and host included."""
        return 1000 * self.window_s / max(1, self.steps)


class Meter:
    """Passes everything on to a token engine and counts. `total` requests will be added in all."""

    def __init__(self, engine: TokenEngine, *, total: int, warm_steps: int, audible: bool = False) -> None:
        self._engine = engine
        self._total = total
        self._warm_steps = warm_steps
        self._hum = _hum() if audible else None
        self._steps = 0
        self._samples = 0
        self._added = 0
        self._held: set[str] = set()
        self.first: Mark | None = None
        self.begin: Mark | None = None
        self.end: Mark | None = None

    @property
    def stage_s(self) -> dict[str, float]:
        """Time in each stage of the engine that is measured."""
        return self._engine.stage_s

    @property
    def num_slots(self) -> int:
        """As the engine's."""
        return self._engine.num_slots

    @property
    def free_slots(self) -> int:
        """As the engine's."""
        return self._engine.free_slots

    @property
    def idle(self) -> bool:
        """As the engine's."""
        return self._engine.idle

    def add(self, request: Request) -> None:
        """As the engine's."""
        self._engine.add(request)
        self.first = self.first or self._mark()
        self._added += 1
        self._held.add(request.request_id)

    def cancel(self, request_id: str) -> None:
        """As the engine's."""
        self._engine.cancel(request_id)

    def step(self) -> list[Delta]:
        """As the engine's; marks are set when their moment has come."""
        deltas = self._engine.step()
        self._steps += 1
        self._samples += sum(delta.samples.size for delta in deltas)
        self._held.difference_update(delta.request_id for delta in deltas if delta.last)
        if self.begin is None and self._steps >= self._warm_steps:
            self.begin = self._mark()
        if self.end is None and self._added >= self._total:
            self.end = self._mark()
        return deltas if self._hum is None else [_with_hum(delta, self._hum) for delta in deltas]

    def drain(self) -> None:
        """Drop what is still held."""
        for request_id in sorted(self._held):
            self._engine.cancel(request_id)
        while not self._engine.idle:
            self.step()

    def window(self) -> Window:
        """What was measured; from the first request on if the run was shorter than its start."""
        assert self.first is not None and self.end is not None, "a window has an end"  # noqa: S101, PT018  # our bug if not
        late = self.begin is not None and self.begin.at_s < self.end.at_s
        begin = self.begin if late and self.begin is not None else self.first
        return _window(begin, self.end, rate_hz=self._engine.program.sample_rate_hz)

    def _mark(self) -> Mark:
        stats = self._engine.stats()
        kept = replace(stats, decode_ms=[*stats.decode_ms], prefill_ms=[*stats.prefill_ms], codec_ms=[*stats.codec_ms])
        return Mark(time.perf_counter(), self._samples, kept)


def _window(begin: Mark, end: Mark, *, rate_hz: int) -> Window:
    def count(name: str) -> int:
        return int(getattr(end.stats, name)) - int(getattr(begin.stats, name))

    def timed_ms(name: str) -> list[tuple[int, float]]:
        times: list[tuple[int, float]] = getattr(end.stats, name)
        return times[len(getattr(begin.stats, name)) :]

    decodes = timed_ms("decode_ms")
    full = [ms for rows, ms in decodes if rows == end.stats.num_slots] or [ms for _, ms in decodes]
    window_s = end.at_s - begin.at_s
    audio_s = (end.samples - begin.samples) / rate_hz
    return Window(
        window_s=window_s,
        steps=count("steps"),
        tokens=count("tokens"),
        audio_s=audio_s,
        audio_s_per_s=audio_s / window_s if window_s else 0.0,
        decode_step_ms=_median(full),
        decode_step_p90_ms=float(np.percentile(full, 90)) if full else 0.0,
        prefill_pass_ms=_median([ms for _, ms in timed_ms("prefill_ms")]),
        prefill_passes=count("prefill_passes"),
        prefill_rows_per_pass=count("prefill_rows") / max(1, count("prefill_passes")),
        codec_launch_ms=_median([ms for _, ms in timed_ms("codec_ms")]),
        codec_launches=count("codec_launches"),
        codec_frames_per_launch=count("codec_frames") / max(1, count("codec_launches")),
        occupancy=count("decode_rows") / max(1, count("decode_slots")),
        refill_wait_steps=count("refill_wait_steps") / max(1, count("prefilled_requests")),
    )


def _median(values: list[float]) -> float:
    return float(median(values)) if values else 0.0


def _hum() -> Samples:
    return np.random.default_rng(0).uniform(-HUM_PEAK, HUM_PEAK, HUM_SAMPLES).astype(np.float32)


def _with_hum(delta: Delta, hum: Samples) -> Delta:
    count = delta.samples.size
    under = hum[:count] if count <= hum.size else np.resize(hum, count)
    return replace(delta, samples=delta.samples + under) if count else delta
