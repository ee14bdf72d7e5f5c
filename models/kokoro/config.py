"""Sizes of a Kokoro network, from config.json or as published. Imports no torch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from models.fields import Fields, integer, integers, parse_file, section

SAMPLE_RATE_HZ = 24_000
HARMONICS = 9
"""Of the source: the fundamental and eight overtones."""


@dataclass(frozen=True, slots=True)
class KokoroConfig:
    """Kokoro-82M's own sizes are the defaults (config.json of hexgrad/Kokoro-82M)."""

    symbols: int = 178
    hidden: int = 512
    style: int = 128
    """Half of a style row: the first half goes to the decoder, the second to the predictor."""
    layers: int = 3
    duration_frames: int = 50
    text_kernel: int = 5
    bert_hidden: int = 768
    bert_heads: int = 12
    bert_ffn: int = 2_048
    bert_layers: int = 12
    bert_positions: int = 512
    bert_embedding: int = 128
    upsample_rates: tuple[int, ...] = (10, 6)
    upsample_kernels: tuple[int, ...] = (20, 12)
    channels: int = 512
    kernels: tuple[int, ...] = (3, 7, 11)
    dilations: tuple[int, ...] = (1, 3, 5)
    fft: int = 20
    hop: int = 5

    @property
    def samples_per_frame(self) -> int:
        """Samples of one duration frame: the decoder doubles frames before it raises them."""
        scale = 2 * self.hop
        for rate in self.upsample_rates:
            scale *= rate
        return scale

    @property
    def max_ids(self) -> int:
        """Phonemes of one utterance at most: positions less the two zeros around them."""
        return self.bert_positions - 2

    @classmethod
    def from_json(cls, path: Path) -> tuple[Self, dict[str, int]]:
        """The config and the vocabulary (symbol to id) of a file `config.json`. Raises BadWeights."""
        hint = "a Kokoro folder has config.json, the .pth and voices/"
        return parse_file(
            path, lambda fields: (cls.parse(fields), _vocabulary(fields)), kind="a Kokoro network", hint=hint
        )

    @classmethod
    def parse(cls, fields: Fields) -> Self:
        """The config of a parsed file. Raises KeyError, TypeError or ValueError with what is wrong."""
        bert, decoder = section(fields, "plbert"), section(fields, "istftnet")
        dilations = decoder["resblock_dilation_sizes"]
        if not isinstance(dilations, list) or any(row != dilations[0] for row in dilations):
            msg = f"resblock_dilation_sizes {dilations} differ; all blocks must have the same"
            raise ValueError(msg)
        return cls(
            symbols=integer(fields, "n_token"),
            hidden=integer(fields, "hidden_dim"),
            style=integer(fields, "style_dim"),
            layers=integer(fields, "n_layer"),
            duration_frames=integer(fields, "max_dur"),
            text_kernel=integer(fields, "text_encoder_kernel_size"),
            bert_hidden=integer(bert, "hidden_size"),
            bert_heads=integer(bert, "num_attention_heads"),
            bert_ffn=integer(bert, "intermediate_size"),
            bert_layers=integer(bert, "num_hidden_layers"),
            bert_positions=integer(bert, "max_position_embeddings"),
            bert_embedding=integer(bert, "embedding_size") if "embedding_size" in bert else 128,
            upsample_rates=integers(decoder, "upsample_rates"),
            upsample_kernels=integers(decoder, "upsample_kernel_sizes"),
            channels=integer(decoder, "upsample_initial_channel"),
            kernels=integers(decoder, "resblock_kernel_sizes"),
            dilations=tuple(int(size) for size in dilations[0]),
            fft=integer(decoder, "gen_istft_n_fft"),
            hop=integer(decoder, "gen_istft_hop_size"),
        )


def _vocabulary(fields: Fields) -> dict[str, int]:
    found = section(fields, "vocab")
    return {symbol: integer(found, symbol) for symbol in found}
