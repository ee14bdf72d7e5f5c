"""What a Llama checkpoint's config.json says, read strictly: what this decoder does not do is an error."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Self

from models.fields import Fields, integer, number, only, parse_file
from models.layers.rope import Llama3Scaling, RopeConfig

_FIXED: dict[str, object] = {
    "attention_bias": False,
    "mlp_bias": False,
    "hidden_act": "silu",
    "quantization_config": None,
    "partial_rotary_factor": 1.0,
}
"""What must stand in a config, or not at all."""


@dataclass(frozen=True, slots=True)
class LlamaConfig:
    """Sizes of one decoder. `tied` says that the head's weights are the embedding's, `qk_norm` that each query and key
    head is normalised before it is rotated (Qwen3)."""

    vocab: int
    hidden: int
    layers: int
    query_heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    eps: float
    rope: RopeConfig
    max_positions: int
    tied: bool = True
    qk_norm: bool = False

    def __post_init__(self) -> None:
        sizes = (self.vocab, self.hidden, self.layers, self.query_heads, self.kv_heads, self.head_dim, self.ffn)
        if min(*sizes, self.max_positions) < 1 or self.query_heads % self.kv_heads or self.head_dim % 2:
            msg = (
                f"vocab, hidden, layers, query heads, kv heads, head_dim, ffn {sizes}, positions {self.max_positions}: "
                "all must be at least 1, query heads a multiple of kv heads, head_dim even"
            )
            raise ValueError(msg)

    @property
    def qkv_rows(self) -> int:
        """Width of fused queries, keys and values."""
        return (self.query_heads + 2 * self.kv_heads) * self.head_dim

    @classmethod
    def from_json(cls, path: Path) -> Self:
        """The config in a file `config.json`, of transformers 4 or 5.

        Raises:
            BadWeights: it cannot be read, a size is missing, or it asks for something this decoder does not do.
        """
        hint = "a checkpoint is config.json and *.safetensors"
        return parse_file(path, cls._parse, kind="a Llama decoder", hint=hint)

    @classmethod
    def _parse(cls, fields: Fields) -> Self:
        architectures = fields.get("architectures") or ["LlamaForCausalLM"]
        if architectures != ["LlamaForCausalLM"]:
            msg = f"architectures is {architectures!r}, not LlamaForCausalLM"
            raise ValueError(msg)
        only(fields, _FIXED)
        hidden, heads = integer(fields, "hidden_size"), integer(fields, "num_attention_heads")
        return cls(
            vocab=integer(fields, "vocab_size"),
            hidden=hidden,
            layers=integer(fields, "num_hidden_layers"),
            query_heads=heads,
            kv_heads=heads if fields.get("num_key_value_heads") is None else integer(fields, "num_key_value_heads"),
            head_dim=hidden // heads if fields.get("head_dim") is None else integer(fields, "head_dim"),
            ffn=integer(fields, "intermediate_size"),
            eps=number(fields, "rms_norm_eps"),
            rope=_rope(fields),
            max_positions=integer(fields, "max_position_embeddings"),
            tied=_bool(fields, "tie_word_embeddings"),
        )


def _rope(fields: Fields) -> RopeConfig:
    """transformers 5 writes `rope_parameters` with theta in it; 4 wrote `rope_theta` and perhaps `rope_scaling`."""
    found = fields.get("rope_parameters") or fields.get("rope_scaling") or {}
    if not isinstance(found, dict):
        msg = f"its rope parameters are {found!r}, not an object"
        raise TypeError(msg)
    theta = number(found if "rope_theta" in found else fields, "rope_theta")
    kind = found.get("rope_type", found.get("type", "default"))
    if found.get("partial_rotary_factor", 1.0) != 1.0:
        msg = f"partial_rotary_factor is {found['partial_rotary_factor']!r}; only 1.0 is possible"
        raise ValueError(msg)
    if kind == "default":
        return RopeConfig(theta)
    if kind != "llama3":
        msg = f"rope type is {kind!r}; only 'default' and 'llama3' are possible"
        raise ValueError(msg)
    scaling = Llama3Scaling(
        factor=number(found, "factor"),
        low_freq_factor=number(found, "low_freq_factor"),
        high_freq_factor=number(found, "high_freq_factor"),
        original_positions=integer(found, "original_max_position_embeddings"),
    )
    return RopeConfig(theta, scaling)


def _bool(fields: Fields, name: str) -> bool:
    value = fields.get(name, False)  # the Llama class's default, which writers of config.json leave out
    if not isinstance(value, bool):
        msg = f"{name} is {value!r}, not true or false"
        raise TypeError(msg)
    return value
