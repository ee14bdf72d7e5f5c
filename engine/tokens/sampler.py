"""Draws one token per row and keeps the slots' books: grammar, penalty, temperature, filters, draw, RAS.

`engine.tokens.inputs.Sampling` says what the parameters mean. The noise of a candidate depends on the request's seed,
on how many tokens were drawn before and on the candidate, on nothing else: a row draws the same in any company.
The torch code here runs on any device and can be captured into graphs; on CUDA a kernel does the same in one pass
(`engine.kernels.sampling`) unless the windows are too wide for it. Knows neither lengths nor pages of the slots.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import torch

from engine import noise_torch
from engine.tokens.candidates import DRAW_DEPTH, DRAW_RAS, DRAW_TOKEN, DRAWN_SHIFT, Candidates
from engine.tokens.program import Draw, Grammar
from engine.tokens.state import FLOATS, INTS, SlotState

MAX_KERNEL_CANDIDATES = 16384
"""What one program of the kernel can hold in registers."""

_INFINITY = float("inf")
_LARGEST = torch.finfo(torch.float32).max


@dataclass(frozen=True, slots=True)
class _Rows:
    """What the slots of this step's rows hold: [E, 1] tensors, on the device."""

    slots: torch.Tensor
    drawn: torch.Tensor
    seeds: torch.Tensor
    floats: torch.Tensor
    ints: torch.Tensor

    @classmethod
    def of(cls, state: SlotState, slots: torch.Tensor) -> _Rows:
        slots = slots.to(torch.int64)[:, None]
        ints = state.ints[slots[:, 0]].to(torch.int64)
        low, high = ints[:, INTS.index("seed_low")], ints[:, INTS.index("seed_high")]
        # the dummy slot goes on drawing; it must stay inside its history
        drawn = state.drawn[slots].to(torch.int64).clamp(0, state.history.shape[1] - 1)
        return cls(slots, drawn, (low & 0xFFFFFFFF) | (high << 32), state.floats[slots[:, 0]], ints)

    def float(self, name: str) -> torch.Tensor:
        """[E, 1] float32."""
        place = FLOATS.index(name)
        return self.floats[:, place : place + 1]

    def int(self, name: str) -> torch.Tensor:
        """[E, 1] int64."""
        place = INTS.index(name)
        return self.ints[:, place : place + 1]


class Sampler:
    """Samples for one grammar and one state. Bound to the state's device."""

    def __init__(self, grammar: Grammar, state: SlotState) -> None:
        """Raises ValueError: a window has nothing but stop ids, or the state counts fewer ids than the head scores."""
        if state.counts.shape[1] < grammar.vocab:
            msg = f"the slot state counts {state.counts.shape[1]} ids; the grammar needs at least {grammar.vocab}"
            raise ValueError(msg)
        self._state = state
        self._candidates = Candidates.of(grammar, state.token.device)
        self._kernel = state.token.is_cuda and self._candidates.columns.shape[1] <= MAX_KERNEL_CANDIDATES

    def sample(self, logits: torch.Tensor, slots: torch.Tensor) -> torch.Tensor:
        """Draw one id for each row of `logits` [E, V] (any float dtype) of `slots` [E] int32: [E] int32 ids.

        Updates token, drawn, history and counts of those slots, not their length. Slots must differ, but for the
        dummy slot, whose state then is any of what its rows made of it. A NaN logit is never drawn. The id is -1
        where all that may be drawn is NaN or -inf: the row's request cannot go on. Its state then is that of a slot
        which drew the first id of its window: harmless as an input of steps that are under way, never speech.

        Raises:
            ValueError: `logits` has fewer columns than the grammar's head.
        """
        if logits.shape[1] < self._candidates.vocab:
            msg = f"logits {tuple(logits.shape)} have fewer columns than the grammar's head, {self._candidates.vocab}"
            raise ValueError(msg)
        if self._kernel:
            from engine.kernels import sampling

            return sampling.sample(logits, slots, self._candidates, self._state)
        return _sample(logits, slots, self._candidates, self._state)

    def draws(self, slots: torch.Tensor) -> Draw:
        """How the other codes of the frames are drawn whose first ids `sample` has just drawn for `slots` [E] int32.

        The state stays as it is. A NaN logit is never drawn; where all are, it is column 0.
        """

        def draw(logits: torch.Tensor, place: int) -> torch.Tensor:
            if self._state.token.is_cuda and logits.shape[1] <= MAX_KERNEL_CANDIDATES:
                from engine.kernels import sampling

                return sampling.draw(logits, slots, DRAW_DEPTH + place, self._state)
            return _draw(logits, _Rows.of(self._state, slots), DRAW_DEPTH + place)

        return draw


def _draw(logits: torch.Tensor, rows: _Rows, draw: int) -> torch.Tensor:
    """[E, V] to [E] int32: the torch twin of the kernel's `draw`."""
    before = replace(rows, drawn=(rows.drawn - 1).clamp(min=0))
    x = _scaled(logits, None, rows)
    warm = rows.float("temperature") > 0
    columns = torch.arange(logits.shape[1], device=logits.device).expand(logits.shape)
    score = x
    if _perhaps(warm):
        score = torch.where(warm, _filtered(x, rows) + _gumbel(columns, before, draw), x)
    return _best(score, columns)[:, 0].to(torch.int32)


def _sample(logits: torch.Tensor, slots: torch.Tensor, candidates: Candidates, state: SlotState) -> torch.Tensor:
    """The torch twin of the kernel. Works on the C candidates of each row, however large the vocabulary is."""
    rows = _Rows.of(state, slots)
    phase = rows.drawn[:, 0] % len(candidates.starts)
    columns = candidates.columns[phase]
    early = rows.drawn < rows.int("min_tokens")
    allowed = candidates.usable[phase] & ~(candidates.stopping[phase] & early)
    x = _scaled(logits.gather(1, columns), state.counts[rows.slots, columns], rows)
    x = x.masked_fill(~allowed, -_INFINITY)
    warm = rows.float("temperature") > 0
    score = x
    if _perhaps(warm):
        score = torch.where(warm, _filtered(x, rows) + _gumbel(columns, rows, DRAW_TOKEN), x)
    drawn = _best(score, columns)
    again = warm & _repeats(drawn + candidates.first_id, rows, state)
    if _perhaps(again):
        drawn = torch.where(again, _best(x + _gumbel(columns, rows, DRAW_RAS), columns), drawn)
    nothing = x.amax(dim=1) == -_INFINITY
    column = torch.where(nothing, candidates.starts[phase].to(torch.int64), drawn[:, 0])
    _record(column, rows, candidates, state)
    return (column + candidates.first_id).masked_fill(nothing, -1).to(torch.int32)


def _perhaps(mask: torch.Tensor) -> bool:
    """Whether any row may need the work; only on a CPU, since to ask a device is to wait for it."""
    return mask.device.type != "cpu" or bool(mask.any())


def _scaled(logits: torch.Tensor, counts: torch.Tensor | None, rows: _Rows) -> torch.Tensor:
    """[E, C] float32 logits after penalty (none without `counts`) and temperature (1 for greedy rows)."""
    x = logits.to(torch.float32)
    penalty, temperature = rows.float("penalty"), rows.float("temperature")
    if counts is not None:
        x = torch.where(counts > 0, torch.where(x < 0, x * penalty, x / penalty), x)
    x = x / torch.where(temperature > 0, temperature, 1.0)
    return torch.nan_to_num(x, nan=-_INFINITY, posinf=_LARGEST, neginf=-_INFINITY)


def _filtered(x: torch.Tensor, rows: _Rows) -> torch.Tensor:
    """[E, C] with -inf for what top-k, top-p and min-p drop; of equal values all are kept or none."""
    ordered = x.sort(dim=1, descending=True).values
    last = x.shape[1] - 1
    top_k, top_p = rows.int("top_k"), rows.float("top_p")
    least = torch.where(top_k > 0, ordered.gather(1, (top_k - 1).clamp(0, last)), -_INFINITY)
    top = ordered[:, :1].clamp(min=-_LARGEST)
    # float64: how a scan adds up must not depend on how many rows there are
    weights = torch.exp(ordered - top).to(torch.float64).masked_fill(ordered < least, 0.0)
    mass = weights.cumsum(dim=1)
    place = (mass < top_p * mass[:, -1:]).sum(dim=1, keepdim=True).clamp(max=last)
    least = torch.where(top_p < 1, torch.maximum(least, ordered.gather(1, place)), least)
    kept = (x >= least) & (torch.exp(x - top) >= rows.float("min_p"))
    return x.masked_fill(~kept, -_INFINITY)


def _gumbel(columns: torch.Tensor, rows: _Rows, draw: int) -> torch.Tensor:
    """[E, C] Gumbel noise: the argmax of logits plus it is a draw from their softmax (Gumbel 1954)."""
    u = noise_torch.uniform(rows.seeds, draw, (rows.drawn << DRAWN_SHIFT) + columns)
    return -torch.log(-torch.log(u))


def _best(score: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """[E, 1] column of the highest score, of equals the lowest."""
    highest = score.amax(dim=1, keepdim=True)
    return columns.masked_fill(score != highest, torch.iinfo(columns.dtype).max).amin(dim=1, keepdim=True)


def _repeats(ids: torch.Tensor, rows: _Rows, state: SlotState) -> torch.Tensor:
    """[E, 1] True where RAS is on and `ids` [E, 1] stand often enough among the last drawn."""
    window = rows.int("ras_window")
    places = torch.arange(state.history.shape[1], device=ids.device)
    recent = (places < rows.drawn) & (places >= rows.drawn - window)
    times = ((state.history[rows.slots[:, 0]] == ids) & recent).sum(dim=1, keepdim=True)
    return (window > 0) & (times >= rows.int("ras_threshold"))


def _record(columns: torch.Tensor, rows: _Rows, candidates: Candidates, state: SlotState) -> None:
    """Write down `columns` [E], just drawn, in the state of the rows' slots."""
    slots, drawn = rows.slots[:, 0], rows.drawn[:, 0]
    ids = (columns + candidates.first_id).to(torch.int32)
    state.token[slots] = ids
    state.drawn[slots] = (drawn + 1).to(torch.int32)
    state.history[slots, drawn] = ids
    state.counts[slots, columns] = state.counts[slots, columns] + 1
    window = rows.int("penalty_window")[:, 0]
    leaves = (window > 0) & (drawn >= window)
    oldest = state.history[slots, (drawn - window).clamp(min=0)].to(torch.int64) - candidates.first_id
    oldest = oldest.clamp(0, candidates.vocab - 1)
    state.counts[slots, oldest] = state.counts[slots, oldest] - leaves.to(torch.int16)
