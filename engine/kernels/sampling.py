"""Triton kernel of `engine.tokens.sampler`, which says what it must do: one program draws one row's token.

A row's window columns lie in one block of registers, the few stop columns in a second, small one. Thresholds of top-k
and top-p come from a bisection over the bits of float32 values, so nothing is sorted. No program touches what another
one does (but for rows of the dummy slot), and the order of sums is fixed by the block: a row's token does not depend on
the other rows.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from engine.kernels.normal import uniform_in
from engine.kernels.overlap import launch_options, wait
from engine.tokens.candidates import DRAW_RAS, DRAW_TOKEN, Candidates
from engine.tokens.state import FLOATS, INTS, SlotState

_TEMPERATURE = tl.constexpr(FLOATS.index("temperature"))
_TOP_P = tl.constexpr(FLOATS.index("top_p"))
_MIN_P = tl.constexpr(FLOATS.index("min_p"))
_PENALTY = tl.constexpr(FLOATS.index("penalty"))
_TOP_K = tl.constexpr(INTS.index("top_k"))
_PENALTY_WINDOW = tl.constexpr(INTS.index("penalty_window"))
_RAS_WINDOW = tl.constexpr(INTS.index("ras_window"))
_RAS_THRESHOLD = tl.constexpr(INTS.index("ras_threshold"))
_MIN_TOKENS = tl.constexpr(INTS.index("min_tokens"))
_SEED_LOW = tl.constexpr(INTS.index("seed_low"))
_SEED_HIGH = tl.constexpr(INTS.index("seed_high"))
_DRAW_TOKEN = tl.constexpr(DRAW_TOKEN)
_DRAW_RAS = tl.constexpr(DRAW_RAS)
_LARGEST = tl.constexpr(torch.finfo(torch.float32).max)
_FAR = tl.constexpr(2**31 - 1)
_HISTORY_BLOCK = tl.constexpr(128)


@triton.jit
def _scaled(logits, counts, columns, usable, penalty, temperature):
    """Logits after penalty and temperature, -inf where not usable; never NaN, +inf or -0."""
    x = tl.load(logits + columns, mask=usable, other=0.0).to(tl.float32)
    if penalty != 1.0:
        counted = tl.load(counts + columns, mask=usable, other=0)
        x = tl.where(counted > 0, tl.where(x < 0, x * penalty, tl.div_rn(x, penalty)), x)
    x = tl.div_rn(x, tl.where(temperature > 0, temperature, 1.0))
    x = tl.where((x == x) & usable, tl.minimum(x, _LARGEST), float("-inf"))
    return tl.where(x == 0, 0.0, x)


@triton.jit
def _key(x):
    """int32 in the order of the floats: the bits of negative ones are turned round."""
    bits = x.to(tl.int32, bitcast=True)
    return bits ^ ((bits >> 31) & 0x7FFFFFFF)


@triton.jit
def _threshold(keys, weights, stop_keys, stop_weights, goal):
    """The largest key whose upper set weighs at least `goal`; the smallest int32 if no set does."""
    upper = tl.sum(tl.where(keys >= 0, weights, 0.0), axis=0) + tl.sum(
        tl.where(stop_keys >= 0, stop_weights, 0.0), axis=0
    )
    found = tl.where(upper >= goal, 0, -2147483648).to(tl.int32)
    step = tl.full((), 1 << 30, tl.int32)
    for _ in range(31):
        trial = found + step
        upper = tl.sum(tl.where(keys >= trial, weights, 0.0), axis=0)
        upper += tl.sum(tl.where(stop_keys >= trial, stop_weights, 0.0), axis=0)
        found = tl.where(upper >= goal, trial, found)
        step = step >> 1
    return found


@triton.jit
def _gumbel(columns, drawn, seed_low, seed_high, number):
    """Noise at position (drawn << 34) + column of `engine.noise`: Philox block (drawn << 32) + column / 4."""
    u = uniform_in((columns >> 2).to(tl.uint32), drawn.to(tl.uint32), columns & 3, number, seed_low, seed_high)
    return -tl.log(-tl.log(u))


@triton.jit
def _best(score, columns, stop_score, stop_columns):
    """Column of the highest score, of equals the lowest."""
    highest = tl.maximum(tl.max(score, axis=0), tl.max(stop_score, axis=0))
    column = tl.min(tl.where(score == highest, columns, _FAR), axis=0)
    return tl.minimum(column, tl.min(tl.where(stop_score == highest, stop_columns, _FAR), axis=0))


@triton.jit
def _draw_filtered(x, columns, y, stop_columns, highest, floats, ints, drawn, seed_low, seed_high, number):
    """A draw from what top-k, top-p and min-p leave of window logits `x` and stop logits `y`, of which none is higher
    than `highest`."""
    top = tl.maximum(highest, -_LARGEST)
    weights, stop_weights = tl.exp(x - top), tl.exp(y - top)
    keys, stop_keys = _key(x), _key(y)
    least = tl.full((), -2147483648, tl.int32)
    top_k = tl.load(ints + _TOP_K)
    if top_k > 0:
        ones, stop_ones = tl.where(x > float("-inf"), 1.0, 0.0), tl.where(y > float("-inf"), 1.0, 0.0)
        least = _threshold(keys, ones, stop_keys, stop_ones, top_k.to(tl.float32))
    top_p = tl.load(floats + _TOP_P)
    if top_p < 1.0:
        rest, stop_rest = tl.where(keys >= least, weights, 0.0), tl.where(stop_keys >= least, stop_weights, 0.0)
        goal = top_p * (tl.sum(rest, axis=0) + tl.sum(stop_rest, axis=0))
        least = tl.maximum(least, tl.minimum(_threshold(keys, rest, stop_keys, stop_rest, goal), _key(top)))
    min_p = tl.load(floats + _MIN_P)
    noisy = x + _gumbel(columns, drawn, seed_low, seed_high, number)
    stop_noisy = y + _gumbel(stop_columns, drawn, seed_low, seed_high, number)
    score = tl.where((keys >= least) & (weights >= min_p), noisy, float("-inf"))
    stop_score = tl.where((stop_keys >= least) & (stop_weights >= min_p), stop_noisy, float("-inf"))
    return _best(score, columns, stop_score, stop_columns)


@triton.jit
def _repeats(history, drawn, token, ints):
    """Whether RAS is on and the token stands often enough among the last drawn."""
    window = tl.load(ints + _RAS_WINDOW)
    start = tl.maximum(drawn - window, 0)
    times = tl.full((), 0, tl.int32)
    while start < drawn:
        places = start + tl.arange(0, _HISTORY_BLOCK)
        recent = tl.load(history + places, mask=places < drawn, other=-1)
        times += tl.sum((recent == token).to(tl.int32), axis=0)
        start += _HISTORY_BLOCK
    return (window > 0) & (times >= tl.load(ints + _RAS_THRESHOLD))


@triton.jit
def _record(column, first_id, vocab, drawn, slot, tokens, num_drawn, history, counts, ints):
    """The slot's books. Everything is read before anything is written: threads of one program do not wait here."""
    window = tl.load(ints + _PENALTY_WINDOW)
    leaves = (window > 0) & (drawn >= window)
    oldest = tl.load(history + tl.maximum(drawn - window, 0), mask=leaves, other=0) - first_id
    oldest = tl.minimum(tl.maximum(oldest, 0), vocab - 1)
    count, oldest_count = tl.load(counts + column), tl.load(counts + oldest)
    changes = (oldest != column) | (leaves == 0)
    tl.store(counts + column, (count + 1).to(tl.int16), mask=changes)
    tl.store(counts + oldest, (oldest_count - 1).to(tl.int16), mask=changes & leaves)
    tl.store(history + drawn, column + first_id)
    tl.store(tokens + slot, column + first_id)
    tl.store(num_drawn + slot, drawn + 1)


@triton.jit
def _sample_kernel(
    logits, slots, out, tokens, num_drawn, history, counts, floats, ints, starts, stops,
    logits_stride, history_stride, counts_stride, floats_stride, ints_stride, max_drawn, first_id, vocab,
    PHASES: tl.constexpr, WIDTH: tl.constexpr, BLOCK: tl.constexpr, STOPS: tl.constexpr, OVERLAP: tl.constexpr,
    PDL: tl.constexpr,
):  # fmt: skip
    wait(PDL)
    row = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots + row).to(tl.int64)
    logits += row * logits_stride
    history += slot * history_stride
    counts += slot * counts_stride
    floats += slot * floats_stride
    ints += slot * ints_stride
    drawn = tl.minimum(tl.maximum(tl.load(num_drawn + slot), 0), max_drawn - 1)
    may_stop = drawn >= tl.load(ints + _MIN_TOKENS)
    start = tl.load(starts + drawn % PHASES)
    columns = start + tl.arange(0, BLOCK)
    usable = columns < start + WIDTH
    if OVERLAP:
        for i in tl.static_range(STOPS):
            usable = usable & ((columns != tl.load(stops + i)) | may_stop)
    stop_columns = tl.load(stops + tl.arange(0, STOPS))
    beside = (stop_columns < start) | (stop_columns >= start + WIDTH)
    stop_usable = (stop_columns >= 0) & beside & may_stop
    stop_columns = tl.where(stop_usable, stop_columns, _FAR)
    temperature, penalty = tl.load(floats + _TEMPERATURE), tl.load(floats + _PENALTY)
    x = _scaled(logits, counts, columns, usable, penalty, temperature)
    y = _scaled(logits, counts, stop_columns, stop_usable, penalty, temperature)
    highest = tl.maximum(tl.max(x, axis=0), tl.max(y, axis=0))
    if temperature > 0:
        seed_low = tl.load(ints + _SEED_LOW).to(tl.uint32, bitcast=True)
        seed_high = tl.load(ints + _SEED_HIGH).to(tl.uint32, bitcast=True)
        column = _draw_filtered(
            x, columns, y, stop_columns, highest, floats, ints, drawn, seed_low, seed_high, _DRAW_TOKEN
        )
        if _repeats(history, drawn, column + first_id, ints):
            noisy = x + _gumbel(columns, drawn, seed_low, seed_high, _DRAW_RAS)
            stop_noisy = y + _gumbel(stop_columns, drawn, seed_low, seed_high, _DRAW_RAS)
            column = _best(noisy, columns, stop_noisy, stop_columns)
    else:
        column = _best(x, columns, y, stop_columns)
    nothing = highest == float("-inf")
    column = tl.where(nothing, start, column)
    _record(column, first_id, vocab, drawn, slot, tokens, num_drawn, history, counts, ints)
    tl.store(out + row, tl.where(nothing, -1, column + first_id))


@triton.jit
def _draw_kernel(
    logits, slots, out, num_drawn, floats, ints, logits_stride, floats_stride, ints_stride, max_drawn, width, number,
    BLOCK: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    wait(PDL)
    row = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots + row).to(tl.int64)
    logits += row * logits_stride
    floats += slot * floats_stride
    ints += slot * ints_stride
    # the frame's first id was drawn already, and counted
    drawn = tl.minimum(tl.maximum(tl.load(num_drawn + slot), 0), max_drawn - 1)
    drawn = tl.maximum(drawn - 1, 0)
    columns = tl.arange(0, BLOCK)
    temperature = tl.load(floats + _TEMPERATURE)
    x = _scaled(logits, logits, columns, columns < width, 1.0, temperature)
    no_columns = tl.full((1,), _FAR, tl.int32)
    nothing = tl.full((1,), float("-inf"), tl.float32)
    highest = tl.max(x, axis=0)
    if temperature > 0:
        seed_low = tl.load(ints + _SEED_LOW).to(tl.uint32, bitcast=True)
        seed_high = tl.load(ints + _SEED_HIGH).to(tl.uint32, bitcast=True)
        column = _draw_filtered(
            x, columns, nothing, no_columns, highest, floats, ints, drawn, seed_low, seed_high, number
        )
    else:
        column = _best(x, columns, nothing, no_columns)
    tl.store(out + row, tl.where(highest == float("-inf"), 0, column))


def draw(logits: torch.Tensor, slots: torch.Tensor, number: int, state: SlotState) -> torch.Tensor:
    """`engine.tokens.sampler.Sampler.draws` on CUDA: [E, V] logits and [E] int32 slots to [E] int32 columns."""
    columns = torch.empty(slots.shape[0], dtype=torch.int32, device=slots.device)
    block = triton.next_power_of_2(logits.shape[1])
    _draw_kernel[(slots.shape[0],)](
        *(logits, slots, columns, state.drawn, state.floats, state.ints),
        *(logits.stride(0), state.floats.stride(0), state.ints.stride(0)),
        *(state.history.shape[1], logits.shape[1], number),
        BLOCK=block,
        num_warps=min(max(block // 256, 1), 16),
        **launch_options(logits.device),
    )
    return columns


def sample(logits: torch.Tensor, slots: torch.Tensor, candidates: Candidates, state: SlotState) -> torch.Tensor:
    """`engine.tokens.sampler.Sampler.sample` on CUDA: [E, V] logits and [E] int32 slots to [E] int32 ids."""
    ids = torch.empty(slots.shape[0], dtype=torch.int32, device=slots.device)
    block = triton.next_power_of_2(candidates.width)
    books = (state.token, state.drawn, state.history, state.counts, state.floats, state.ints)
    strides = (logits, state.history, state.counts, state.floats, state.ints)
    _sample_kernel[(slots.shape[0],)](
        *(logits, slots, ids, *books, candidates.starts, candidates.stops),
        *(one.stride(0) for one in strides),
        *(state.history.shape[1], candidates.first_id, candidates.vocab),
        PHASES=len(candidates.starts),
        WIDTH=candidates.width,
        BLOCK=block,
        STOPS=len(candidates.stops),
        OVERLAP=candidates.overlap,
        num_warps=min(max(block // 256, 1), 16),
        **launch_options(logits.device),
    )
    return ids
