"""What a Llama checkpoint's config.json says, read strictly: what this decoder does not do is an error."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from models.errors import BadWeights
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
        try:
            fields = json.loads(path.read_text("utf-8"))
        except OSError as error:
            msg = f"{path} cannot be read ({error.strerror}); a checkpoint is config.json and *.safetensors"
            raise BadWeights(msg) from error
        except ValueError as error:
            msg = f"{path} is not JSON ({error}); fetch it again"
            raise BadWeights(msg) from error
        try:
            return cls._parse(fields)
        except KeyError as error:
            msg = f"{path} does not say {error}; fetch it again"
            raise BadWeights(msg) from error
        except (ValueError, TypeError, AttributeError) as error:
            msg = f"{path} is not a Llama decoder that can be run here: {error}"
            raise BadWeights(msg) from error

    @classmethod
    def _parse(cls, fields: dict[str, object]) -> Self:
        architectures = fields.get("architectures") or ["LlamaForCausalLM"]
        if architectures != ["LlamaForCausalLM"]:
            msg = f"architectures is {architectures!r}, not LlamaForCausalLM"
            raise ValueError(msg)
        for name, allowed in _FIXED.items():
            if fields.get(name, allowed) != allowed:
                msg = f"{name} is {fields[name]!r}; only {allowed!r} is possible"
                raise ValueError(msg)
        hidden, heads = _int(fields, "hidden_size"), _int(fields, "num_attention_heads")
        return cls(
            vocab=_int(fields, "vocab_size"),
            hidden=hidden,
            layers=_int(fields, "num_hidden_layers"),
            query_heads=heads,
            kv_heads=heads if fields.get("num_key_value_heads") is None else _int(fields, "num_key_value_heads"),
            head_dim=hidden // heads if fields.get("head_dim") is None else _int(fields, "head_dim"),
            ffn=_int(fields, "intermediate_size"),
            eps=_float(fields, "rms_norm_eps"),
            rope=_rope(fields),
            max_positions=_int(fields, "max_position_embeddings"),
            tied=_bool(fields, "tie_word_embeddings"),
        )


def _rope(fields: dict[str, object]) -> RopeConfig:
    """transformers 5 writes `rope_parameters` with theta in it; 4 wrote `rope_theta` and perhaps `rope_scaling`."""
    found = fields.get("rope_parameters") or fields.get("rope_scaling") or {}
    if not isinstance(found, dict):
        msg = f"its rope parameters are {found!r}, not an object"
        raise TypeError(msg)
    theta = _float(found if "rope_theta" in found else fields, "rope_theta")
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
        factor=_float(found, "factor"),
        low_freq_factor=_float(found, "low_freq_factor"),
        high_freq_factor=_float(found, "high_freq_factor"),
        original_positions=_int(found, "original_max_position_embeddings"),
    )
    return RopeConfig(theta, scaling)


def _int(fields: dict[str, object], name: str) -> int:
    value = fields[name]
    if not isinstance(value, int) or isinstance(value, bool):
        msg = f"{name} is {value!r}, not a whole number"
        raise TypeError(msg)
    return value


def _float(fields: dict[str, object], name: str) -> float:
    value = fields[name]
    if not isinstance(value, int | float) or isinstance(value, bool):
        msg = f"{name} is {value!r}, not a number"
        raise TypeError(msg)
    return float(value)


def _bool(fields: dict[str, object], name: str) -> bool:
    value = fields.get(name, False)  # the Llama class's default, which writers of config.json leave out
    if not isinstance(value, bool):
        msg = f"{name} is {value!r}, not true or false"
        raise TypeError(msg)
    return value
