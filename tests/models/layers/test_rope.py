"""Rotary tables against transformers', plain and with Llama 3's scaling."""

from __future__ import annotations

import pytest
import torch
from transformers import LlamaConfig as TheirConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from models.layers.rope import Llama3Scaling, RopeConfig, inverse_frequencies, rope_table

SCALING = Llama3Scaling(factor=32.0, low_freq_factor=1.0, high_freq_factor=4.0, original_positions=8192)
ROWS = 3000


@pytest.mark.parametrize("head_dim", [16, 64, 128])
@pytest.mark.parametrize("scaling", [SCALING, None])
def test_tables_are_those_of_transformers(head_dim, scaling):
    parameters = {"rope_type": "default", "rope_theta": 500000.0}
    if scaling is not None:
        parameters |= {"rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0}
        parameters |= {"original_max_position_embeddings": 8192}
    config = TheirConfig(
        hidden_size=4 * head_dim, num_attention_heads=4, max_position_embeddings=131072, rope_parameters=parameters
    )
    theirs = LlamaRotaryEmbedding(config)
    cos, sin = theirs(torch.zeros(1, 1, 1), torch.arange(ROWS)[None])
    table = rope_table(RopeConfig(500000.0, scaling), head_dim=head_dim, positions=ROWS, device=torch.device("cpu"))
    assert table.cos_sin.shape == (ROWS, head_dim)
    assert table.cos_sin.dtype == torch.float32
    half = head_dim // 2
    torch.testing.assert_close(table.cos_sin[:, :half], cos[0, :, :half], atol=2e-4, rtol=0)
    torch.testing.assert_close(table.cos_sin[:, half:], sin[0, :, :half], atol=2e-4, rtol=0)


def test_scaling_changes_low_frequencies_only():
    plain = inverse_frequencies(RopeConfig(500000.0), 128)
    scaled = inverse_frequencies(RopeConfig(500000.0, SCALING), 128)
    ratio = plain / scaled
    assert torch.equal(scaled[:20], plain[:20])
    torch.testing.assert_close(ratio[-20:], torch.full((20,), 32.0))
    assert ((ratio > 1.001) & (ratio < 31.9)).any()
    assert (ratio.diff() >= -1e-4).all()


@pytest.mark.parametrize("change", [{"factor": 0.5}, {"low_freq_factor": 4.0}, {"original_positions": 0}])
def test_impossible_scalings_are_refused(change):
    values = {"factor": 32.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_positions": 8192}
    with pytest.raises(ValueError, match="factor must be at least 1, 0 < low < high"):
        Llama3Scaling(**(values | change))
