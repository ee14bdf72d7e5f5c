"""How a token engine is run: slots, memory, graphs or eager, attention. Nothing here changes what a request means."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """`eager` leaves graphs out (CPU always does). `attention`: auto, torch, triton or flashinfer.

    `deterministic` runs all steps in one batch size and all prompts in one row bucket (of 512: longer ones are
    refused), so that a request draws the same tokens in any company; without it matrix products of another batch size
    may round otherwise. `memory_share` of the free device memory becomes KV pages (at most what all slots can use).
    `timed` measures each stage on the device.
    """

    num_slots: int = 4
    eager: bool = False
    deterministic: bool = False
    attention: str = "auto"
    page_size: int = 64
    memory_share: float = 0.85
    max_rows: int = 2048
    max_tokens: int = 4096
    timed: bool = False

    def __post_init__(self) -> None:
        if self.num_slots < 1 or self.page_size < 1 or self.max_rows < 1 or self.max_tokens < 1:
            msg = (
                f"num_slots={self.num_slots}, page_size={self.page_size}, max_rows={self.max_rows}, "
                f"max_tokens={self.max_tokens}: all must be at least 1"
            )
            raise ValueError(msg)
        if not 0 < self.memory_share < 1:
            msg = f"memory_share={self.memory_share} is not allowed; it is a share between 0 and 1"
            raise ValueError(msg)
