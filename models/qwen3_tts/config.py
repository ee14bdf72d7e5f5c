"""What a Qwen3-TTS checkpoint's config.json says, read strictly. Imports no torch.

Names and defaults are those of the published files (package qwen-tts 0.1.1, Apache-2.0).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Self

from models.fields import Fields, integer, number, only, parse_file, section
from models.layers.llama_config import LlamaConfig
from models.layers.rope import RopeConfig

ARCHITECTURE = "Qwen3TTSForConditionalGeneration"
CODEC = "qwen3_tts_tokenizer_12hz"
SPECIAL_CODES = 1_024
"""The last ids of the codec vocabulary are no codes; only the end may be drawn of them."""


class Kind(StrEnum):
    """What a checkpoint was trained for (`tts_model_type`)."""

    BASE = "base"
    """Clones a voice from a recording."""
    CUSTOM_VOICE = "custom_voice"
    """Has speakers of its own."""
    VOICE_DESIGN = "voice_design"
    """Makes up a voice from a description."""


@dataclass(frozen=True, slots=True)
class TextIds:
    """Special ids of the text vocabulary."""

    bos: int
    eos: int
    pad: int
    im_start: int
    im_end: int


@dataclass(frozen=True, slots=True)
class CodecIds:
    """Special ids of the codec vocabulary; `eos` ends the speech."""

    eos: int
    think: int
    nothink: int
    think_bos: int
    think_eos: int
    pad: int
    bos: int


@dataclass(frozen=True, slots=True)
class Qwen3TtsConfig:
    """Sizes of both decoders, ids, languages and speakers.

    `talker.vocab` is the codec vocabulary, `depth.vocab` the codes of a codebook. `languages` are ids of the codec
    vocabulary by lower-case name, dialects among them; `speakers` ids by name, `dialects` the dialect of a speaker.
    `speaker_dim` is the width of a speaker vector, 0 where the checkpoint has no speaker encoder.
    """

    kind: Kind
    size: str
    talker: LlamaConfig
    depth: LlamaConfig
    codes: int
    text_vocab: int
    text_hidden: int
    text: TextIds
    codec: CodecIds
    languages: Mapping[str, int]
    speakers: Mapping[str, int]
    dialects: Mapping[str, str]
    speaker_dim: int

    @property
    def num_codes(self) -> int:
        """Ids of the codec vocabulary that are codes: they come first."""
        return self.talker.vocab - SPECIAL_CODES

    @classmethod
    def from_json(cls, path: Path) -> Self:
        """The config in a file `config.json`.

        Raises:
            BadWeights: it cannot be read, something is missing, or it asks for what is not done here.
        """
        hint = "a checkpoint is config.json, *.safetensors and its tokenizer's files"
        return parse_file(path, cls.parse, kind="a Qwen3-TTS", hint=hint)

    @classmethod
    def parse(cls, fields: Fields) -> Self:
        """The config of a parsed file. Raises KeyError, TypeError or ValueError with what is wrong."""
        if (
            fields.get("architectures", [ARCHITECTURE]) != [ARCHITECTURE]
            or fields.get("tokenizer_type", CODEC) != CODEC
        ):
            msg = f"architectures {fields.get('architectures')!r}, tokenizer_type {fields.get('tokenizer_type')!r}"
            raise ValueError(msg)
        talker = section(fields, "talker_config")
        depth = section(talker, "code_predictor_config")
        codes = integer(talker, "num_code_groups")
        if integer(depth, "num_code_groups") != codes or not 2 <= codes <= MOST_CODES:
            theirs = depth["num_code_groups"]
            msg = f"num_code_groups is {codes} and {theirs!r}; 2 to {MOST_CODES}, the same, are possible"
            raise ValueError(msg)
        kind = Kind(str(fields["tts_model_type"]))
        encoder = fields.get("speaker_encoder_config") if kind is Kind.BASE else None
        dialects = section(talker, "spk_is_dialect") if talker.get("spk_is_dialect") else {}
        return cls(
            kind=kind,
            size=str(fields.get("tts_model_size", "")),
            talker=_decoder(talker),
            depth=_decoder(depth),
            codes=codes,
            text_vocab=integer(talker, "text_vocab_size"),
            text_hidden=integer(talker, "text_hidden_size"),
            text=TextIds(
                *(
                    integer(fields, f"{name}_token_id")
                    for name in ("tts_bos", "tts_eos", "tts_pad", "im_start", "im_end")
                )
            ),
            codec=CodecIds(
                integer(talker, "codec_eos_token_id"),
                *(integer(talker, f"codec_{name}_id") for name in CodecIds.__slots__[1:]),
            ),
            languages=_ids(talker, "codec_language_id"),
            speakers=_ids(talker, "spk_id"),
            dialects={name: str(dialect) for name, dialect in dialects.items() if dialect},
            speaker_dim=integer(encoder, "enc_dim") if isinstance(encoder, dict) else 0,
        )


MOST_CODES = 32


def _decoder(fields: Fields) -> LlamaConfig:
    """Qwen3's decoder: query-key norm, no biases. The three position rows of its mrope are equal for speech: plain."""
    fixed: dict[str, object] = {"attention_bias": False, "hidden_act": "silu", "use_sliding_window": False}
    only(fields, fixed)
    scaling = fields.get("rope_scaling") or {}
    kind = scaling.get("rope_type", scaling.get("type", "default")) if isinstance(scaling, dict) else scaling
    if kind not in {"default", "mrope"}:
        msg = f"rope type is {kind!r}; only 'default' is possible"
        raise ValueError(msg)
    hidden, heads = integer(fields, "hidden_size"), integer(fields, "num_attention_heads")
    return LlamaConfig(
        vocab=integer(fields, "vocab_size"),
        hidden=hidden,
        layers=integer(fields, "num_hidden_layers"),
        query_heads=heads,
        kv_heads=integer(fields, "num_key_value_heads"),
        head_dim=hidden // heads if fields.get("head_dim") is None else integer(fields, "head_dim"),
        ffn=integer(fields, "intermediate_size"),
        eps=number(fields, "rms_norm_eps"),
        rope=RopeConfig(number(fields, "rope_theta")),
        max_positions=integer(fields, "max_position_embeddings"),
        tied=False,
        qk_norm=True,
    )


def _ids(fields: Fields, name: str) -> dict[str, int]:
    found = section(fields, name) if fields.get(name) else {}
    return {key.lower(): integer(found, key) for key in found}
