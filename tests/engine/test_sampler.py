"""The sampler: each row against a slow reference, the kernel against torch, frequencies, Hugging Face's filters."""

from __future__ import annotations

import importlib
import math
import os
from dataclasses import dataclass, field, replace

import numpy as np
import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from engine import noise
from engine.tokens import sampler as ours
from engine.tokens.candidates import DRAW_RAS, DRAW_TOKEN
from engine.tokens.inputs import Sampling
from engine.tokens.program import Grammar
from engine.tokens.sampler import Sampler
from engine.tokens.state import FLOATS, INTS, SlotState

FIRST = 100
GRAMMAR = Grammar(FIRST, 40, ((103, 114), (114, 125), (126, 137)), (101, 130))
"""Three phases; one stop id beside the windows and below them, one inside the third."""
PLAIN = Grammar(0, 64, ((0, 64),), ())
MAX_TOKENS = 24
KERNEL_DEVICE = "cpu" if os.environ.get("TRITON_INTERPRET") == "1" else "cuda"


@dataclass
class Slot:
    """One slot as plain Python: what the reference reads and writes."""

    sampling: Sampling
    seed: int = 0
    min_tokens: int = 0
    history: list[int] = field(default_factory=list)


# ── the reference: one row, float by float ──────────────────────────────────────────────────────────────────────────
def f32(value):
    return np.float32(value)


def counted(slot):
    window = slot.sampling.penalty_window
    return set(slot.history[-window:] if window else slot.history)


def candidates(grammar, slot):
    start, stop = grammar.windows[len(slot.history) % len(grammar.windows)]
    ids = sorted({*range(start, stop), *grammar.stop_ids})
    return ids if len(slot.history) >= slot.min_tokens else [one for one in ids if one not in grammar.stop_ids]


def scaled(grammar, slot, logits):
    sampling, repeated = slot.sampling, counted(slot)
    x = {}
    for one in candidates(grammar, slot):
        value, penalty = f32(logits[one - grammar.first_id]), f32(sampling.penalty)
        if one in repeated:
            value = value * penalty if value < 0 else value / penalty
        x[one] = value / f32(sampling.temperature) if sampling.temperature > 0 else value
    return x


def kept(sampling, x):
    """Ids that survive the filters; leaves examples aside whose answer hangs on a rounding."""
    values = sorted(x.values(), reverse=True)
    least = values[min(sampling.top_k, len(values)) - 1] if sampling.top_k else -math.inf
    left = {one: math.exp(float(value) - float(values[0])) for one, value in x.items() if value >= least}
    if sampling.top_p < 1:
        total, goal = sum(left.values()), sampling.top_p
        masses = {w: sum(v for v in left.values() if v >= w) / total for w in left.values()}
        assume(all(abs(mass - goal) > 1e-5 for mass in masses.values()))
        least_weight = max(w for w, mass in masses.items() if mass >= goal)
        left = {one: w for one, w in left.items() if w >= least_weight}
    assume(all(abs(w - sampling.min_p) > 1e-5 for w in left.values()) or sampling.min_p == 0)
    return {one for one, w in left.items() if w >= sampling.min_p}


def noisy_best(grammar, slot, x, draw):
    score = {}
    for one, value in x.items():
        position = (len(slot.history) << 34) + one - grammar.first_id
        u = float(noise.uniform(slot.seed, draw, (1,), start=position)[0])
        score[one] = float(value) - math.log(-math.log(u))
    ranks = sorted(score.values(), reverse=True)
    assume(len(ranks) < 2 or ranks[0] - ranks[1] > 1e-4)
    return max(score, key=score.get)


def reference(grammar, slot, logits):
    """The id a row draws."""
    sampling, x = slot.sampling, scaled(grammar, slot, logits)
    if sampling.temperature == 0:
        return min(one for one, value in x.items() if value == max(x.values()))
    left = kept(sampling, x)
    drawn = noisy_best(grammar, slot, {one: x[one] for one in left}, DRAW_TOKEN)
    recent = slot.history[-sampling.ras_window :] if sampling.ras_window else []
    if sampling.ras_window and recent.count(drawn) >= sampling.ras_threshold:
        return noisy_best(grammar, slot, x, DRAW_RAS)
    return drawn


# ── slots on the device ─────────────────────────────────────────────────────────────────────────────────────────────
def state_of(slots, grammar, *, max_tokens=MAX_TOKENS, device="cpu"):
    """A state that holds `slots`, as an engine would have left it."""
    state = SlotState.zeros(
        slots=len(slots), max_tokens=max_tokens, vocab=grammar.vocab, max_pages=1, device=torch.device("cpu")
    )
    for row, slot in enumerate(slots):
        values = {
            **{name: getattr(slot.sampling, name) for name in (*FLOATS, *INTS) if hasattr(slot.sampling, name)},
            "min_tokens": slot.min_tokens,
            "seed_low": signed(slot.seed & 0xFFFFFFFF),
            "seed_high": signed(slot.seed >> 32),
        }
        state.floats[row] = torch.tensor([values[name] for name in FLOATS])
        state.ints[row] = torch.tensor([values[name] for name in INTS], dtype=torch.int32)
        state.drawn[row] = len(slot.history)
        state.history[row, : len(slot.history)] = torch.tensor(slot.history, dtype=torch.int32)
        window = slot.sampling.penalty_window
        for one in slot.history[-window:] if window else slot.history:
            state.counts[row, one - grammar.first_id] += 1
    return SlotState(**{name: getattr(state, name).to(device) for name in SlotState.__slots__})


def signed(word):
    return word - (1 << 32) if word >> 31 else word


def draw(grammar, slots, logits, state=None):
    state = state or state_of(slots, grammar)
    return Sampler(grammar, state).sample(logits, torch.arange(len(slots), dtype=torch.int32))


def same_state(left, right, num_slots):
    """Every tensor of two states, without the dummy slot."""
    for name in SlotState.__slots__:
        assert torch.equal(getattr(left, name)[:num_slots].cpu(), getattr(right, name)[:num_slots].cpu()), name


sampling_values = st.builds(
    Sampling,
    temperature=st.sampled_from([0.0, 0.3, 0.6, 1.0, 1.7]),
    top_k=st.sampled_from([0, 1, 2, 5, 11, 500]),
    top_p=st.sampled_from([1.0, 1e-6, 0.3, 0.8, 0.95]),
    min_p=st.sampled_from([0.0, 0.05, 0.3, 0.99]),
    penalty=st.sampled_from([1.0, 1.3, 0.7]),
    penalty_window=st.sampled_from([0, 1, 3, 100]),
    ras_window=st.sampled_from([0, 2, 10]),
    ras_threshold=st.integers(1, 2),
)


@st.composite
def slot_values(draw_value):
    length = draw_value(st.integers(0, MAX_TOKENS - 4))
    narrow = st.sampled_from([103, 104, 115, 116, 126, 127])  # repeats are what RAS and penalty look for
    return Slot(
        sampling=draw_value(sampling_values),
        seed=draw_value(st.integers(0, 2**64 - 1)),
        min_tokens=draw_value(st.sampled_from([0, length, length + 1, length + 2])),
        history=draw_value(st.lists(narrow, min_size=length, max_size=length)),
    )


@st.composite
def logit_values(draw_value, num_rows):
    """Rows of logits: smooth ones, ones full of ties, and ones with -inf in them."""
    generator = np.random.default_rng(draw_value(st.integers(0, 2**32)))
    x = generator.normal(0, 3, (num_rows, GRAMMAR.vocab + 3)).astype(np.float32)
    kind = draw_value(st.sampled_from(["smooth", "ties", "holes"]))
    if kind == "ties":
        x = np.round(x / 2)
    if kind == "holes":
        x[generator.random(x.shape) < 0.3] = -1e30
    return torch.from_numpy(x)


# ── against the reference ───────────────────────────────────────────────────────────────────────────────────────────
@settings(max_examples=150, deadline=None)
@given(st.data())
def test_a_row_draws_what_the_reference_draws_for_several_steps(data):
    slot = data.draw(slot_values())
    state = state_of([slot], GRAMMAR)
    for _ in range(3):
        logits = data.draw(logit_values(1))
        expected = reference(GRAMMAR, slot, logits[0].numpy())
        assert draw(GRAMMAR, [slot], logits, state).tolist() == [expected]
        slot = replace(slot, history=[*slot.history, expected])
        after = state_of([slot], GRAMMAR)
        after.token[0] = expected
        same_state(state, after, 1)


def test_greedy_takes_the_lowest_of_equal_ids_also_when_it_is_a_stop_id():
    logits = torch.zeros(2, GRAMMAR.vocab)
    greedy = Sampling(temperature=0.0, ras_window=5)
    assert draw(GRAMMAR, [Slot(greedy), Slot(greedy, min_tokens=1)], logits).tolist() == [101, 103]


def test_no_stop_id_is_drawn_before_min_tokens_also_inside_a_window():
    logits = torch.zeros(1, GRAMMAR.vocab)
    logits[0, [101 - FIRST, 130 - FIRST]] = 50.0
    for drawn, expected in ((2, False), (5, True)):
        slot = Slot(Sampling(), min_tokens=3, history=[103] * drawn)
        assert (draw(GRAMMAR, [slot], logits).item() in GRAMMAR.stop_ids) is expected


def test_a_nan_logit_is_never_drawn():
    logits = torch.full((64, 64), math.nan)
    logits[:, 7] = -5.0
    assert draw(PLAIN, [Slot(Sampling(), seed=i) for i in range(64)], logits).tolist() == [7] * 64


def hopeless():
    """Slots of which nothing may be drawn, their logits, and the first id of each one's window."""
    kinds = [Sampling(), Sampling(0.0), Sampling(0.6, top_p=0.8, penalty=1.3), Sampling(top_k=3, min_p=0.1)]
    kinds += [Sampling(ras_window=4), Sampling(penalty=1.2, penalty_window=1)]
    slots, rows, firsts = [], [], []
    for value in (math.nan, -math.inf):
        for number, kind in enumerate(kinds):
            history = [103, 115, 126, 103, 115][: number % 6]
            slots.append(Slot(kind, seed=number, min_tokens=number % 2 * 20, history=history))
            rows.append(torch.full((GRAMMAR.vocab,), value))
            firsts.append(GRAMMAR.windows[len(history) % 3][0])
    rows[1][[104 - FIRST, 139 - FIRST]] = 3.0  # another phase's window, and no window's
    rows[1][[101 - FIRST, 130 - FIRST]] = 3.0  # stop ids, before min_tokens
    return slots, torch.stack(rows), firsts


def test_where_nothing_may_be_drawn_the_id_is_minus_one_and_the_state_stays_in_bounds():
    slots, logits, firsts = hopeless()
    slots.append(Slot(Sampling(), seed=9))
    logits = torch.cat([logits, torch.full((1, GRAMMAR.vocab), math.nan)])
    logits[-1, 105 - FIRST] = math.inf
    state = state_of(slots, GRAMMAR)
    assert draw(GRAMMAR, slots, logits, state).tolist() == [-1] * len(firsts) + [105]
    drawn = [*firsts, 105]
    slots = [replace(slot, history=[*slot.history, one]) for slot, one in zip(slots, drawn, strict=True)]
    after = state_of(slots, GRAMMAR)
    after.token[:-1] = torch.tensor(drawn)
    same_state(state, after, len(slots))


def test_ras_draws_again_without_the_filters():
    logits = torch.zeros(200, 64)
    logits[:, 5] = 1.0
    often = [Slot(Sampling(top_k=1, ras_window=4, ras_threshold=2), seed=i, history=[9, 5, 5, 9]) for i in range(200)]
    rarely = [replace(slot, history=[5, 5, 9, 9, 5, 9]) for slot in often]
    assert len(set(draw(PLAIN, often, logits).tolist())) > 20
    assert set(draw(PLAIN, rarely, logits).tolist()) == {5}


# ── a row and its company ───────────────────────────────────────────────────────────────────────────────────────────
def mixed(num_slots):
    """Slots of many kinds, and their logits."""
    kinds = [
        Sampling(),
        Sampling(temperature=0.0, penalty=1.2),
        Sampling(temperature=0.6, top_p=0.8, penalty=1.3, penalty_window=2),
        Sampling(top_k=4, min_p=0.1),
        Sampling(temperature=0.9, top_k=9, top_p=0.9, ras_window=10, ras_threshold=1),
    ]
    slots = [
        Slot(kinds[i % len(kinds)], seed=2**63 + i, min_tokens=i % 4, history=[103, 116, 127, 103][: i % 5])
        for i in range(num_slots)
    ]
    generator = torch.Generator().manual_seed(5)
    return slots, torch.randn(num_slots, GRAMMAR.vocab, generator=generator) * 2


def test_alone_in_a_batch_and_in_another_order_a_row_draws_the_same():
    slots, logits = mixed(15)
    together = draw(GRAMMAR, slots, logits).tolist()
    alone = [draw(GRAMMAR, [slot], row[None]).item() for slot, row in zip(slots, logits, strict=True)]
    assert together == alone
    order = torch.randperm(15, generator=torch.Generator().manual_seed(1))
    state = state_of(slots, GRAMMAR)
    mixed_up = Sampler(GRAMMAR, state).sample(logits[order], order.to(torch.int32))
    assert mixed_up.tolist() == [together[i] for i in order.tolist()]
    assert state.token[:15].tolist() == together


def test_padding_rows_leave_the_slots_alone_however_long_they_go_on():
    slots, logits = mixed(3)
    state = state_of(slots, GRAMMAR)
    sampler = Sampler(GRAMMAR, state)
    padding = torch.full((5,), 3, dtype=torch.int32)
    for _ in range(MAX_TOKENS + 3):
        sampler.sample(torch.randn(5, GRAMMAR.vocab), padding)
    same_state(state, state_of(slots, GRAMMAR), 3)
    assert sampler.sample(logits, torch.arange(3, dtype=torch.int32)).tolist() == draw(GRAMMAR, slots, logits).tolist()


def test_lengths_are_the_engines():
    slots, logits = mixed(4)
    state = state_of(slots, GRAMMAR)
    state.length[:] = 17
    draw(GRAMMAR, slots, logits, state)
    assert state.length.tolist() == [17] * 5


def test_captured_code_never_asks_the_device_for_a_value():
    """Tensors without values: whatever would wait for one, or shape itself by one, raises."""
    slots, logits = mixed(4)
    state, tables = state_of(slots, GRAMMAR), ours.Candidates.of(GRAMMAR, torch.device("cpu"))
    bare = SlotState(**{name: getattr(state, name).to("meta") for name in SlotState.__slots__})
    names = [name for name in tables.__slots__ if isinstance(getattr(tables, name), torch.Tensor)]
    tables = replace(tables, **{name: getattr(tables, name).to("meta") for name in names})
    ids = ours._sample(logits.to("meta"), torch.empty(4, dtype=torch.int32, device="meta"), tables, bare)
    assert ids.shape == (4,)
    assert ids.dtype == torch.int32


# ── frequencies ─────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize("draw_number", [DRAW_TOKEN, DRAW_RAS])
def test_frequencies_are_those_of_the_softmax(draw_number):
    num_draws, width = 20_000, 12
    grammar = Grammar(0, width, ((0, width),), ())
    logits = torch.linspace(-1.5, 1.5, width)
    # RAS draws again whenever its first draw, here always 0 by top-k, stands in the history
    ras = Sampling(temperature=0.8, top_k=1, ras_window=1)
    sampling = ras if draw_number == DRAW_RAS else Sampling(temperature=0.8)
    slot = Slot(sampling, seed=77, history=[width - 1])
    state = state_of([slot], grammar, max_tokens=2)
    wide = SlotState(**{name: getattr(state, name)[:1].repeat_interleave(num_draws, 0) for name in state.__slots__})
    wide.ints[:, INTS.index("seed_low")] = torch.arange(num_draws, dtype=torch.int32)
    ids = Sampler(grammar, wide).sample(logits.expand(num_draws, -1), torch.arange(num_draws, dtype=torch.int32))
    expected = torch.softmax(logits / 0.8, dim=0) * num_draws
    seen = torch.bincount(ids, minlength=width)
    chi_square = ((seen - expected) ** 2 / expected).sum().item()
    assert chi_square < 31.3  # 11 degrees of freedom: one in a thousand is above


# ── Hugging Face's filters ──────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "sampling",
    [
        Sampling(temperature=0.7, penalty=1.4),
        Sampling(top_k=7),
        Sampling(temperature=0.6, top_p=0.8),
        Sampling(min_p=0.07),
        Sampling(temperature=1.3, top_k=20, top_p=0.9, min_p=0.02, penalty=1.2),
    ],
    ids=repr,
)
def test_the_kept_sets_are_those_of_hugging_face(sampling):
    hf = pytest.importorskip("transformers.generation.logits_process")
    generator = torch.Generator().manual_seed(3)
    logits = torch.randn(20, 64, generator=generator) * 2
    histories = torch.randint(0, 64, (20, 6), generator=generator)
    steps = [hf.RepetitionPenaltyLogitsProcessor(sampling.penalty), hf.TemperatureLogitsWarper(sampling.temperature)]
    steps += [hf.TopKLogitsWarper(sampling.top_k)] if sampling.top_k else []
    steps += [hf.TopPLogitsWarper(sampling.top_p)] if sampling.top_p < 1 else []
    steps += [hf.MinPLogitsWarper(sampling.min_p)] if sampling.min_p else []
    theirs = logits
    for step in steps:
        theirs = step(histories, theirs)
    state = state_of([Slot(sampling, history=row) for row in histories.tolist()], PLAIN)
    rows = ours._Rows.of(state, torch.arange(20))
    filtered = ours._filtered(ours._scaled(logits, state.counts[:20], rows), rows)
    torch.testing.assert_close(filtered, theirs)


# ── the kernel ──────────────────────────────────────────────────────────────────────────────────────────────────────
@pytest.fixture(scope="module")
def kernel():
    pytest.importorskip("triton")
    if KERNEL_DEVICE == "cuda" and not torch.cuda.is_available():
        pytest.skip("neither Triton's interpreter nor a CUDA device is here")
    return importlib.import_module("engine.kernels.sampling")


def compare(kernel, grammar, slots, steps):
    """The kernel and torch, step by step: tokens and states."""
    theirs, state = state_of(slots, grammar), state_of(slots, grammar, device=KERNEL_DEVICE)
    tables = ours.Candidates.of(grammar, torch.device(KERNEL_DEVICE))
    places = torch.arange(len(slots), dtype=torch.int32)
    for logits in steps:
        expected = Sampler(grammar, theirs).sample(logits, places)
        drawn = kernel.sample(logits.to(KERNEL_DEVICE), places.to(KERNEL_DEVICE), tables, state)
        assert drawn.tolist() == expected.tolist()
        same_state(state, theirs, len(slots))


@settings(max_examples=25, deadline=None)
@given(st.data())
def test_the_kernel_draws_what_torch_draws(kernel, data):
    slots = data.draw(st.lists(slot_values(), min_size=1, max_size=3))
    steps = [data.draw(logit_values(len(slots))) for _ in range(2)]
    for slot, row in zip(slots, steps[0].numpy(), strict=True):
        reference(GRAMMAR, slot, row)  # leaves examples aside whose answer hangs on a rounding
    compare(kernel, GRAMMAR, slots, steps[:1])


@pytest.mark.parametrize(
    "grammar",
    [PLAIN, Grammar(5, 9, ((6, 7),), ()), Grammar(0, 300, ((0, 130), (130, 260)), (299, 298, 297, 296, 140))],
    ids=["no stops", "one candidate", "many stops"],
)
def test_the_kernel_takes_any_grammar(kernel, grammar):
    samplings = [Sampling(), Sampling(temperature=0.5, top_k=30, top_p=0.85, min_p=0.01, penalty=1.2), Sampling(0.0)]
    slots = [Slot(one, seed=i << 40, min_tokens=1) for i, one in enumerate(samplings)]
    generator = torch.Generator().manual_seed(8)
    compare(kernel, grammar, slots, [torch.randn(3, grammar.vocab, generator=generator) for _ in range(4)])


def test_the_kernel_reads_half_precision_and_never_draws_nan(kernel):
    slots = [Slot(Sampling(top_p=0.9), seed=i) for i in range(4)]
    logits = torch.randn(4, 64, generator=torch.Generator().manual_seed(2)).to(torch.bfloat16)
    logits[:, ::3] = math.nan
    compare(kernel, PLAIN, slots, [logits])


def test_the_kernel_draws_minus_one_where_nothing_may_be_drawn(kernel):
    slots, logits, _ = hopeless()
    compare(kernel, GRAMMAR, slots, [logits, torch.zeros_like(logits), logits])
    grammar = Grammar(0, 300, ((0, 130), (130, 260)), (299, 140))  # a window narrower than the block
    compare(kernel, grammar, slots[:1], [torch.full((1, 300), math.nan)] * 2)


def test_the_kernel_stays_inside_its_memory_for_padding_rows_and_for_nothing_but_nan(kernel):
    state = state_of([], GRAMMAR, max_tokens=2, device=KERNEL_DEVICE)
    tables = ours.Candidates.of(GRAMMAR, torch.device(KERNEL_DEVICE))
    padding = torch.zeros(3, dtype=torch.int32, device=KERNEL_DEVICE)
    for value in (0.0, math.nan, -math.inf, math.inf):
        ids = kernel.sample(torch.full((3, GRAMMAR.vocab), value, device=KERNEL_DEVICE), padding, tables, state)
        nothing = value not in (0.0, math.inf)
        assert all(one == -1 if nothing else FIRST <= one < FIRST + GRAMMAR.vocab for one in ids.tolist())
        assert FIRST <= state.token.item() < FIRST + GRAMMAR.vocab
    assert state.drawn.item() == 2


def test_kernel_noise_is_the_noise(kernel):
    """A flat row without filters is drawn by its noise alone, at any column, place and half of the seed."""
    slots = [Slot(Sampling(), seed=seed, history=[1] * drawn) for seed in (5, 2**33, 2**64 - 1) for drawn in (0, 1, 7)]
    compare(kernel, PLAIN, slots, [torch.zeros(len(slots), 64)])


# ── what cannot be asked ────────────────────────────────────────────────────────────────────────────────────────────
def test_what_does_not_fit_together_is_refused():
    state = state_of([Slot(Sampling())], PLAIN)
    with pytest.raises(ValueError, match="64 ids"):
        Sampler(Grammar(0, 65, ((0, 65),), ()), state)
    with pytest.raises(ValueError, match="not a stop id"):
        Sampler(Grammar(0, 64, ((0, 1), (1, 2)), (1,)), state)
    with pytest.raises(ValueError, match="fewer columns"):
        Sampler(PLAIN, state).sample(torch.zeros(1, 63), torch.zeros(1, dtype=torch.int32))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a CUDA device")
@pytest.mark.parametrize(("phases", "width"), [(7, 4096), (1, 20_000)], ids=["kernel", "torch"])
def test_cuda_draws_what_the_processor_draws_also_from_a_graph(phases, width):
    windows = tuple((10 + i * width, 10 + (i + 1) * width) for i in range(phases))
    grammar = Grammar(7, phases * width + 3, windows, (7,))
    samplings = [Sampling(0.6, top_p=0.8, penalty=1.3), Sampling(top_k=50, min_p=0.05), Sampling(0.0), Sampling()]
    slots = [Slot(samplings[i % 4], seed=i) for i in range(64)]
    state, there = state_of(slots, grammar), state_of(slots, grammar, device="cuda")
    places = torch.arange(64, dtype=torch.int32)
    logits = torch.randn(64, grammar.vocab, generator=torch.Generator().manual_seed(4)) * 3
    sampler, on_device, device_places = Sampler(grammar, there), logits.cuda(), places.cuda()
    sampler.sample(on_device, device_places)  # compiles
    fresh = state_of(slots, grammar, device="cuda")
    for name in SlotState.__slots__:
        getattr(there, name).copy_(getattr(fresh, name))
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        ids = sampler.sample(on_device, device_places)
    for _ in range(3):
        graph.replay()
        assert ids.tolist() == Sampler(grammar, state).sample(logits, places).tolist()
        same_state(there, state, 64)
