"""What a sampler may choose from: a grammar as head columns on the device, and the draws' names in the noise.

Read by the torch sampler and by its kernel; imports neither.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch

from engine.tokens.program import Grammar

DRAW_TOKEN = 16
"""Draw number (see `engine.noise`) of a token; codecs take numbers from 64 on."""
DRAW_RAS = 17
"""Draw number of a token drawn again because it repeats itself."""
DRAW_DEPTH = 32
"""Draw number of a frame's code 0, which is a token; code k has DRAW_DEPTH + k. Up to 32 codes."""
DRAWN_SHIFT = 34
"""Noise positions: (tokens drawn before << 34) + head column; whole Philox blocks of four columns each."""


@dataclass(frozen=True, slots=True)
class Candidates:
    """A grammar as head columns on the device: P phases with W window columns each, and C = W + stops in all.

    `starts` [P] int32 are the windows' first columns; `stops` int32 the stop columns, padded with -1 to a power of 2;
    `columns` [P, C] int64; `usable` [P, C] is False where a stop column stands in the window already; `stopping` [P, C]
    is True at stop columns, in the window or beside it. `overlap` says that some window holds a stop column.
    """

    first_id: int
    vocab: int
    width: int
    starts: torch.Tensor
    stops: torch.Tensor
    columns: torch.Tensor
    usable: torch.Tensor
    stopping: torch.Tensor
    overlap: bool

    @classmethod
    def of(cls, grammar: Grammar, device: torch.device) -> Candidates:
        """The tables of `grammar`. Raises ValueError: a window has nothing but stop ids."""
        starts = torch.tensor([start for start, _ in grammar.windows], dtype=torch.int64) - grammar.first_id
        stops = torch.tensor(sorted(set(grammar.stop_ids)), dtype=torch.int64) - grammar.first_id
        width = grammar.windows[0][1] - grammar.windows[0][0]
        window = starts[:, None] + torch.arange(width)
        window_stops = torch.isin(window, stops)
        if bool(window_stops.all(dim=1).any()):
            msg = f"grammar windows {grammar.windows} must each hold an id that is not a stop id {grammar.stop_ids}"
            raise ValueError(msg)
        beside = (stops < starts[:, None]) | (stops >= starts[:, None] + width)
        padding = torch.full(((1 << max(len(stops) - 1, 0).bit_length()) - len(stops),), -1)
        return cls(
            first_id=grammar.first_id,
            vocab=grammar.vocab,
            width=width,
            starts=starts.to(device, torch.int32),
            stops=torch.cat([stops, padding]).to(device, torch.int32),
            columns=torch.cat([window, stops.expand(len(starts), -1)], dim=1).to(device),
            usable=torch.cat([torch.ones_like(window_stops), beside], dim=1).to(device),
            stopping=torch.cat([window_stops, torch.ones_like(beside)], dim=1).to(device),
            overlap=bool(window_stops.any()),
        )
