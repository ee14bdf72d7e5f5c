"""The published shape of Orpheus 3B (that of Llama 3.2 3B with a larger vocabulary), for random weights."""

from __future__ import annotations

from models.layers.llama_config import LlamaConfig
from models.layers.rope import Llama3Scaling, RopeConfig

ORPHEUS_3B = LlamaConfig(
    vocab=156_940,
    hidden=3_072,
    layers=28,
    query_heads=24,
    kv_heads=8,
    head_dim=128,
    ffn=8_192,
    eps=1e-5,
    rope=RopeConfig(
        500_000.0,
        Llama3Scaling(factor=32.0, low_freq_factor=1.0, high_freq_factor=4.0, original_positions=8_192),
    ),
    max_positions=131_072,
)
