"""Sizes of the 12 Hz codec's decoder, from the config.json of its folder. Imports no torch.

Names and defaults are those of the published class (package qwen-tts 0.1.1, Apache-2.0).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from models.fields import Fields, integer, integers, number, only, parse_file, section

MODEL_TYPE = "qwen3_tts_tokenizer_12hz"
DILATIONS = (1, 3, 9)
"""Of the residual units of a block."""


@dataclass(frozen=True, slots=True)
class Qwen12Config:
    """The decoder: codes -> latents -> transformer with a sliding window -> two doublings -> blocks up to 24 kHz."""

    codebook_size: int = 2_048
    codebook_dim: int = 512
    latent_dim: int = 1_024
    hidden: int = 512
    heads: int = 16
    head_dim: int = 64
    ffn: int = 1_024
    layers: int = 8
    window_frames: int = 72
    """Frames that a frame of the transformer sees, itself included."""
    rope_theta: float = 10_000.0
    eps: float = 1e-5
    codes: int = 16
    upsample_rates: tuple[int, ...] = (8, 5, 4, 3)
    doublings: tuple[int, ...] = (2, 2)
    decoder_dim: int = 1_536
    sample_rate_hz: int = 24_000

    @property
    def samples_per_frame(self) -> int:
        """Samples that one frame makes."""
        return math.prod(self.upsample_rates) * math.prod(self.doublings)

    @classmethod
    def from_json(cls, path: Path) -> Self:
        """The config of a file `config.json`.

        Raises:
            BadWeights: it cannot be read, something is missing, or it is another codec.
        """
        hint = "fetch the folder speech_tokenizer of the checkpoint again"
        return parse_file(path, cls.parse, kind="a 12 Hz codec", hint=hint)

    @classmethod
    def parse(cls, fields: Fields) -> Self:
        """The config of a parsed file. Raises KeyError, TypeError or ValueError with what is wrong."""
        found = section(fields, "decoder_config")
        only(fields, {"model_type": MODEL_TYPE})
        only(found, {"hidden_act": "silu", "attention_bias": False})
        heads, hidden = integer(found, "num_attention_heads"), integer(found, "hidden_size")
        if integer(found, "num_key_value_heads") != heads:
            msg = f"num_key_value_heads is {found['num_key_value_heads']!r}, not that of the queries, {heads}"
            raise ValueError(msg)
        return cls(
            codebook_size=integer(found, "codebook_size"),
            codebook_dim=integer(found, "codebook_dim"),
            latent_dim=integer(found, "latent_dim"),
            hidden=hidden,
            heads=heads,
            head_dim=integer(found, "head_dim") if found.get("head_dim") else hidden // heads,
            ffn=integer(found, "intermediate_size"),
            layers=integer(found, "num_hidden_layers"),
            window_frames=integer(found, "sliding_window"),
            rope_theta=number(found, "rope_theta"),
            eps=number(found, "rms_norm_eps"),
            codes=integer(found, "num_quantizers"),
            upsample_rates=integers(found, "upsample_rates"),
            doublings=integers(found, "upsampling_ratios"),
            decoder_dim=integer(found, "decoder_dim"),
            sample_rate_hz=integer(fields, "output_sample_rate"),
        )
