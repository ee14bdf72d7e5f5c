"""Sizes of the 12 Hz codec's decoder, from the config.json of its folder. Imports no torch.

Names and defaults are those of the published class (package qwen-tts 0.1.1, Apache-2.0).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from models.errors import BadWeights

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
        try:
            return cls.parse(json.loads(path.read_text("utf-8")))
        except OSError as error:
            msg = f"{path} cannot be read ({error.strerror}); fetch the folder speech_tokenizer of the checkpoint again"
            raise BadWeights(msg) from error
        except KeyError as error:
            msg = f"{path} does not say {error}; fetch it again"
            raise BadWeights(msg) from error
        except (ValueError, TypeError, AttributeError) as error:
            msg = f"{path} is not of a 12 Hz codec that can be run here: {error}"
            raise BadWeights(msg) from error

    @classmethod
    def parse(cls, fields: Mapping[str, object]) -> Self:
        """The config of a parsed file. Raises KeyError, TypeError or ValueError with what is wrong."""
        found = fields["decoder_config"]
        if fields.get("model_type", MODEL_TYPE) != MODEL_TYPE or not isinstance(found, dict):
            msg = f"model_type {fields.get('model_type')!r}, decoder_config {type(found).__name__}"
            raise ValueError(msg)
        fixed = {"hidden_act": "silu", "attention_bias": False}
        for name, allowed in fixed.items():
            if found.get(name, allowed) != allowed:
                msg = f"{name} is {found[name]!r}; only {allowed!r} is possible"
                raise ValueError(msg)
        heads, hidden = int(found["num_attention_heads"]), int(found["hidden_size"])
        if int(found["num_key_value_heads"]) != heads:
            msg = f"num_key_value_heads is {found['num_key_value_heads']!r}, not that of the queries, {heads}"
            raise ValueError(msg)
        return cls(
            codebook_size=int(found["codebook_size"]),
            codebook_dim=int(found["codebook_dim"]),
            latent_dim=int(found["latent_dim"]),
            hidden=hidden,
            heads=heads,
            head_dim=int(found.get("head_dim") or hidden // heads),
            ffn=int(found["intermediate_size"]),
            layers=int(found["num_hidden_layers"]),
            window_frames=int(found["sliding_window"]),
            rope_theta=float(found["rope_theta"]),
            eps=float(found["rms_norm_eps"]),
            codes=int(found["num_quantizers"]),
            upsample_rates=tuple(int(rate) for rate in found["upsample_rates"]),
            doublings=tuple(int(rate) for rate in found["upsampling_ratios"]),
            decoder_dim=int(found["decoder_dim"]),
            sample_rate_hz=int(fields.get("output_sample_rate", 24_000)),  # type: ignore[call-overload]
        )
