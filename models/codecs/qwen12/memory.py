"""What a causal codec remembers of each utterance between two calls: rows of tensors, one row for each utterance."""

from __future__ import annotations

from dataclasses import dataclass, field

import torch
from torch import Tensor


@dataclass(slots=True)
class Layout:
    """Collects what the parts of a codec remember, while they are built."""

    device: torch.device
    shapes: list[tuple[tuple[int, ...], torch.dtype]] = field(default_factory=list)

    def add(self, shape: tuple[int, ...], dtype: torch.dtype) -> int:
        """Room for a tensor of that shape for each utterance; returns its index."""
        self.shapes.append((shape, dtype))
        return len(self.shapes) - 1

    def zeros(self, rows: int) -> tuple[Tensor, ...]:
        """Memory for so many utterances."""
        return tuple(torch.zeros((rows, *shape), dtype=dtype, device=self.device) for shape, dtype in self.shapes)


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of one call: its utterances' rows (`places` [B] int64). Where `fresh` [B] bool nothing is remembered:
    zeros, as the network's own padding before the first frame."""

    state: tuple[Tensor, ...]
    places: Tensor
    fresh: Tensor

    def recall(self, index: int) -> Tensor:
        """[B, ...] of one part."""
        kept = self.state[index].index_select(0, self.places)
        return kept.masked_fill(self.fresh.view(-1, *(1,) * (kept.dim() - 1)), 0)

    def keep(self, index: int, value: Tensor) -> None:
        """Remember [B, ...] for the next call."""
        self.state[index].index_copy_(0, self.places, value)
