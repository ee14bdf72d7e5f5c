"""What a token engine counts and, if asked, measures. Totals since the engine was made."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class TokenStats:
    """Counts of a token engine. The lists are filled only with `EngineOptions.timed`: device milliseconds.

    `tokens` are ids that became speech. `decode_rows` over `decode_slots` is the occupancy; it counts the one row that
    each request decodes after its end, before the host has read of it. `refill_wait_steps` sums, over requests, the
    steps between getting a slot and the first decode.
    """

    num_slots: int
    weight_bytes: int = 0
    kv_bytes: int = 0
    steps: int = 0
    decode_steps: int = 0
    decode_rows: int = 0
    decode_slots: int = 0
    prefill_passes: int = 0
    prefilled_requests: int = 0
    prefill_rows: int = 0
    shared_rows: int = 0
    refill_wait_steps: int = 0
    codec_launches: int = 0
    codec_frames: int = 0
    finished_requests: int = 0
    tokens: int = 0
    audio_samples: int = 0
    decode_ms: list[tuple[int, float]] = field(default_factory=list)
    """(rows, milliseconds) of each decode step."""
    prefill_ms: list[tuple[int, float]] = field(default_factory=list)
    """(rows, milliseconds) of each prefill pass."""
    codec_ms: list[tuple[int, float]] = field(default_factory=list)
    """(frames, milliseconds) of each codec launch."""

    @property
    def occupancy(self) -> float:
        """Share of the slots that drew a token, over all decode steps; 0.0 before the first."""
        return self.decode_rows / self.decode_slots if self.decode_slots else 0.0


@dataclass(frozen=True, slots=True)
class WarmReport:
    """What getting ready took: compiling kernels and capturing graphs."""

    graphs: int
    capture_s: float
