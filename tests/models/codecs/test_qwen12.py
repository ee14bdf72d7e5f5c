"""The 12 Hz codec decodes what the package qwen-tts decodes, in pieces of any sizes and in any company."""

from __future__ import annotations

import json
from itertools import pairwise

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from models.codecs.qwen12.config import Qwen12Config
from models.codecs.qwen12.decoder import Qwen12Decoder
from models.codecs.qwen12.memory import Memory
from models.errors import BadWeights

CPU = torch.device("cpu")
TINY = Qwen12Config(
    codebook_size=16,
    codebook_dim=12,
    latent_dim=16,
    hidden=12,
    heads=2,
    head_dim=4,
    ffn=20,
    layers=2,
    window_frames=5,
    codes=3,
    upsample_rates=(3, 2),
    doublings=(2,),
    decoder_dim=16,
)
CLOSE = {"rtol": 0, "atol": 5e-6}


@pytest.fixture(scope="module")
def tiny():
    torch.set_num_threads(1)
    return Qwen12Decoder.random(TINY, seed=1, device=CPU)


def frames(count, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randint(0, TINY.codebook_size, (count, TINY.codes), generator=generator, dtype=torch.int32)


def in_pieces(decoder, codes, cuts, *, place=0, state=None):
    """The samples of an utterance that is decoded up to each cut, then to its end."""
    state = decoder.new_state(3) if state is None else state
    places = torch.tensor([place])
    edges = pairwise(sorted({0, *cuts, len(codes)}))
    return torch.cat(
        [decoder.decode(codes[None, start:stop], places, torch.tensor([start == 0]), state)[0] for start, stop in edges]
    )


def test_it_decodes_what_the_reference_decodes(reference_qwen12):
    decoder = Qwen12Decoder.from_folder(reference_qwen12, device=CPU)
    wanted = {name: torch.from_numpy(value) for name, value in np.load(reference_qwen12 / "decoded.npz").items()}
    codes = wanted["codes"]
    state, place = decoder.new_state(0), torch.zeros(1, dtype=torch.int64)
    memory = Memory(state, place, place == 0)
    latents = decoder._pre_conv(decoder._latents(codes[None]), memory)
    torch.testing.assert_close(latents[0], wanted["latents"], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(decoder._transformer(latents, memory)[0], wanted["hidden"], rtol=1e-5, atol=1e-5)
    torch.testing.assert_close(decoder.whole(codes), wanted["whole"], **CLOSE)
    assert wanted["whole"].abs().mean() > 0.1


def test_the_official_chunking_is_a_switch(reference_qwen12):
    decoder = Qwen12Decoder.from_folder(reference_qwen12, device=CPU)
    wanted = {name: torch.from_numpy(value) for name, value in np.load(reference_qwen12 / "decoded.npz").items()}
    official = decoder.official(wanted["codes"])
    torch.testing.assert_close(official, wanted["official"], **CLOSE)
    first = 300 * decoder.samples_per_frame
    torch.testing.assert_close(official[:first], wanted["whole"][:first], **CLOSE)
    assert (official[first:] - wanted["whole"][first:]).abs().max() > 1e-3  # it has forgotten what we remember


@given(st.integers(1, 40), st.sets(st.integers(1, 39), max_size=8), st.integers(0, 1000))
@settings(deadline=None, max_examples=30)
def test_pieces_of_any_sizes_join_to_the_whole(tiny, count, cuts, seed):
    codes = frames(count, seed)
    joined = in_pieces(tiny, codes, {cut for cut in cuts if cut < count})
    torch.testing.assert_close(joined, tiny.whole(codes), **CLOSE)


def test_it_is_causal(tiny):
    codes, other = frames(30), frames(30)
    other[20:] = (other[20:] + 1) % TINY.codebook_size
    same = 20 * TINY.samples_per_frame
    a, b = tiny.whole(codes), tiny.whole(other)
    torch.testing.assert_close(a[:same], b[:same], **CLOSE)
    assert (a[same:] - b[same:]).abs().max() > 1e-3


def test_an_utterance_sounds_the_same_among_sixteen_others(tiny):
    codes = torch.stack([frames(24, seed) for seed in range(17)])
    state, places = tiny.new_state(20), torch.randperm(20, generator=torch.Generator().manual_seed(1))[:17]
    parts = [
        tiny.decode(codes[:, start : start + 8], places, torch.full((17,), fill_value=start == 0), state)
        for start in (0, 8, 16)
    ]
    together = torch.cat(parts, dim=1)
    for row in range(17):
        torch.testing.assert_close(together[row], tiny.whole(codes[row]), **CLOSE)


def test_a_place_that_was_used_is_as_new(tiny):
    state = tiny.new_state(3)
    in_pieces(tiny, frames(30, 5), {7}, place=2, state=state)
    again = in_pieces(tiny, frames(12, 6), {4}, place=2, state=state)
    assert torch.equal(again, in_pieces(tiny, frames(12, 6), {4}, place=2))


def test_rows_of_padding_share_a_place(tiny):
    codes = torch.stack([frames(8, 1), frames(8, 2), frames(8, 3)])
    state = tiny.new_state(1)
    places, fresh = torch.tensor([0, 1, 1]), torch.ones(3, dtype=torch.bool)
    torch.testing.assert_close(tiny.decode(codes, places, fresh, state)[0], tiny.whole(codes[0]), **CLOSE)


def test_half_precision_stays_close(tiny):
    half = Qwen12Decoder.random(TINY, seed=1, device=CPU, compute_dtype=torch.float16)
    exact, rounded = tiny.whole(frames(40)), half.whole(frames(40))
    noise = (exact - rounded).square().mean()
    assert rounded.dtype == torch.float32
    assert 10 * torch.log10(exact.square().mean() / noise) > 50


def test_the_published_shape(reference_qwen12):
    config = Qwen12Config()
    assert (config.samples_per_frame, config.codes) == (1920, 16)
    fields = json.loads((reference_qwen12 / "config.json").read_text())
    assert Qwen12Config.parse(fields).samples_per_frame == 48


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"hidden_act": "gelu"}, "hidden_act is 'gelu'; only 'silu'"),
        ({"num_key_value_heads": 1}, "num_key_value_heads is 1"),
        ({"codebook_size": None}, "codebook_size is None, not a whole number"),
    ],
)
def test_what_it_cannot_do_is_told(reference_qwen12, tmp_path, change, said):
    fields = json.loads((reference_qwen12 / "config.json").read_text())
    fields["decoder_config"] |= change
    (tmp_path / "config.json").write_text(json.dumps(fields))
    with pytest.raises(BadWeights, match=said):
        Qwen12Config.from_json(tmp_path / "config.json")
    with pytest.raises(BadWeights, match="cannot be read"):
        Qwen12Config.from_json(tmp_path / "nothing.json")
