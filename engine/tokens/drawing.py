"""What a step draws and what the next step reads of it: an id for each row, or with a depth a frame of them."""

from __future__ import annotations

import torch

from engine.tokens.program import TokenProgram
from engine.tokens.sampler import Sampler
from engine.tokens.state import SlotState


class Drawing:
    """Draws for the slots of one state, and keeps what it drew in it. Its methods are captured into graphs."""

    def __init__(self, program: TokenProgram, state: SlotState) -> None:
        self._program = program
        self._state = state
        self._sampler = Sampler(program.grammar, state)

    def shape(self, rows: int) -> tuple[int, ...]:
        """Shape of what so many rows draw."""
        return (rows,) if self._program.depth is None else (rows, self._program.depth.codes)

    def draw(self, hidden: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
        """The next id, or frame of ids, of each of `slots` [E] int32 from its row `hidden` [E, D]."""
        program, state = self._program, self._state
        ids = self._sampler.sample(program.head(hidden), slots)
        if program.depth is None:
            return ids
        index = slots.long()
        # The state's token, not what was drawn: that is -1 where nothing could be.
        rest = program.depth.rest(hidden, state.token.index_select(0, index), self._sampler.draws(slots))
        state.rest.index_copy_(0, index, rest)
        return torch.cat((ids[:, None], rest), dim=1)

    def last_rows(self, index: torch.Tensor) -> torch.Tensor:
        """The rows of what slots `index` [E] int64 drew last, for `TokenProgram.embed`."""
        state = self._state
        ids = state.token.index_select(0, index)
        if self._program.depth is None:
            return ids.long()
        place = (state.drawn.index_select(0, index) - 1).clamp(0, state.follow.shape[1] - 1).long()
        follow = state.follow.index_select(0, index).gather(1, place[:, None])
        return torch.cat((follow, ids[:, None], state.rest.index_select(0, index)), dim=1).long()
