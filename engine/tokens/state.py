"""What each slot keeps on the device between steps: its last token, its lengths, its pages, its sampling.

Every tensor has one row more than there are slots: the last is the dummy slot of padding rows.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from engine.tokens.program import Depth

FLOATS = ("temperature", "top_p", "min_p", "penalty")
"""Columns of `SlotState.floats`."""
INTS = ("top_k", "penalty_window", "ras_window", "ras_threshold", "min_tokens", "seed_low", "seed_high")
"""Columns of `SlotState.ints`; the seed's halves are uint32 bit patterns."""


@dataclass(frozen=True, slots=True)
class SlotState:
    """Device tensors of all slots (S of them, and the dummy slot S)."""

    token: torch.Tensor
    """[S + 1] int32: the id drawn last, input of the next decode step."""
    length: torch.Tensor
    """[S + 1] int32: rows in the KV of the slot; the next row's position."""
    drawn: torch.Tensor
    """[S + 1] int32: how many tokens were drawn."""
    history: torch.Tensor
    """[S + 1, H] int32: the ids drawn, in order."""
    counts: torch.Tensor
    """[S + 1, vocab] int16: how often each id (as head column) stands among those that the penalty looks at."""
    pages: torch.Tensor
    """[S + 1, P] int32: page table; position p is in page `pages[slot, p // page_size]`. Page 0 is scratch."""
    floats: torch.Tensor
    """[S + 1, len(FLOATS)] float32."""
    ints: torch.Tensor
    """[S + 1, len(INTS)] int32."""
    rest: torch.Tensor
    """[S + 1, K - 1] int32: the codes after the first of the frame drawn last (K = 1 without a depth)."""
    follow: torch.Tensor
    """[S + 1, F] int32: the ids that go into the rows after the prompt (F = 0 without a depth)."""

    @classmethod
    def zeros(
        cls,
        *,
        slots: int,
        max_tokens: int,
        vocab: int,
        max_pages: int,
        device: torch.device,
        depth: Depth | None = None,
    ) -> SlotState:
        """A state in which every slot is the dummy: greedy, page 0, nothing drawn."""
        rows = slots + 1

        def ints(*shape: int, dtype: torch.dtype = torch.int32) -> torch.Tensor:
            return torch.zeros(shape, dtype=dtype, device=device)

        floats = torch.tensor([[0.0, 1.0, 0.0, 1.0]], dtype=torch.float32, device=device).repeat(rows, 1)
        return cls(
            token=ints(rows),
            length=ints(rows),
            drawn=ints(rows),
            history=ints(rows, max_tokens),
            counts=ints(rows, vocab, dtype=torch.int16),
            pages=ints(rows, max_pages),
            floats=floats,
            ints=ints(rows, len(INTS)),
            rest=ints(rows, 0 if depth is None else depth.codes - 1),
            follow=ints(rows, 0 if depth is None else depth.follow_rows),
        )
