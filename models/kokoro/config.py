"""Sizes of a Kokoro network, from config.json or as published. Imports no torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from models.errors import BadWeights

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
        try:
            fields = json.loads(path.read_text("utf-8"))
            return cls.parse(fields), {str(symbol): int(index) for symbol, index in fields["vocab"].items()}
        except OSError as error:
            msg = f"{path} cannot be read ({error.strerror}); a Kokoro folder has config.json, the .pth and voices/"
            raise BadWeights(msg) from error
        except KeyError as error:
            msg = f"{path} does not say {error}; fetch it again"
            raise BadWeights(msg) from error
        except (ValueError, TypeError, AttributeError) as error:
            msg = f"{path} is not of a Kokoro network that can be run here: {error}"
            raise BadWeights(msg) from error

    @classmethod
    def parse(cls, fields: Mapping[str, object]) -> Self:
        """The config of a parsed file. Raises KeyError, TypeError or ValueError with what is wrong."""
        bert, decoder = fields["plbert"], fields["istftnet"]
        if not isinstance(bert, dict) or not isinstance(decoder, dict):
            msg = f"plbert is {type(bert).__name__}, istftnet {type(decoder).__name__}; both must be objects"
            raise TypeError(msg)
        dilations = decoder["resblock_dilation_sizes"]
        if any(row != dilations[0] for row in dilations):
            msg = f"resblock_dilation_sizes {dilations} differ; all blocks must have the same"
            raise ValueError(msg)
        return cls(
            symbols=_int(fields, "n_token"),
            hidden=_int(fields, "hidden_dim"),
            style=_int(fields, "style_dim"),
            layers=_int(fields, "n_layer"),
            duration_frames=_int(fields, "max_dur"),
            text_kernel=_int(fields, "text_encoder_kernel_size"),
            bert_hidden=_int(bert, "hidden_size"),
            bert_heads=_int(bert, "num_attention_heads"),
            bert_ffn=_int(bert, "intermediate_size"),
            bert_layers=_int(bert, "num_hidden_layers"),
            bert_positions=_int(bert, "max_position_embeddings"),
            bert_embedding=int(bert.get("embedding_size", 128)),
            upsample_rates=tuple(int(rate) for rate in decoder["upsample_rates"]),
            upsample_kernels=tuple(int(size) for size in decoder["upsample_kernel_sizes"]),
            channels=_int(decoder, "upsample_initial_channel"),
            kernels=tuple(int(size) for size in decoder["resblock_kernel_sizes"]),
            dilations=tuple(int(size) for size in dilations[0]),
            fft=_int(decoder, "gen_istft_n_fft"),
            hop=_int(decoder, "gen_istft_hop_size"),
        )


def _int(fields: Mapping[str, object], name: str) -> int:
    value = fields[name]
    if not isinstance(value, int) or isinstance(value, bool):
        msg = f"{name} is {value!r}, not a whole number"
        raise TypeError(msg)
    return value
