"""Loading: shards, dtypes, tied heads; every kind of damage is named before memory is spent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from models.errors import BadWeights
from models.layers.checkpoint import load_llama
from models.layers.llama import LlamaWeights
from models.layers.llama_config import LlamaConfig
from models.layers.rope import RopeConfig
from tests.helpers_orpheus import write_weights

CONFIG = LlamaConfig(
    vocab=100, hidden=32, layers=2, query_heads=4, kv_heads=2, head_dim=8, ffn=48, eps=1e-5,
    rope=RopeConfig(10000.0), max_positions=50,
)  # fmt: skip
UNTIED = LlamaConfig(**{**{name: getattr(CONFIG, name) for name in LlamaConfig.__slots__}, "tied": False})
Q = "model.layers.1.self_attn.q_proj.weight"
EMBEDDING, HEAD = "model.embed_tokens.weight", "lm_head.weight"


def tensors() -> dict[str, torch.Tensor]:
    shapes: dict[str, tuple[int, ...]] = {EMBEDDING: (100, 32), "model.norm.weight": (32,)}
    for layer in range(2):
        parts = {
            **{f"self_attn.{name}_proj": (rows, 32) for name, rows in {"q": 32, "k": 16, "v": 16, "o": 32}.items()},
            "mlp.gate_proj": (48, 32),
            "mlp.up_proj": (48, 32),
            "mlp.down_proj": (32, 48),
            "input_layernorm": (32,),
            "post_attention_layernorm": (32,),
        }
        shapes |= {f"model.layers.{layer}.{name}.weight": shape for name, shape in parts.items()}
    generator = torch.Generator().manual_seed(3)
    return {key: torch.randn(shape, generator=generator) for key, shape in shapes.items()}


def load(folder: Path, config: LlamaConfig = CONFIG, dtype: torch.dtype = torch.float32) -> LlamaWeights:
    return load_llama(folder, config, device=torch.device("cpu"), dtype=dtype)


def refused(folder: Path, config: LlamaConfig = CONFIG) -> str:
    with pytest.raises(BadWeights) as caught:
        load(folder, config)
    assert str(folder) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("shards", [1, 3])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_tensors_land_in_their_places(tmp_path, shards, dtype):
    parts = tensors()
    write_weights(tmp_path, parts, shards=shards)
    weights = load(tmp_path, dtype=dtype)
    layer = weights.layers[1]
    assert layer.qkv.dtype == dtype
    wanted = {
        "self_attn.q_proj": layer.qkv[:32],
        "self_attn.k_proj": layer.qkv[32:48],
        "self_attn.v_proj": layer.qkv[48:],
        "self_attn.o_proj": layer.out,
        "mlp.gate_proj": layer.gate_up[:48],
        "mlp.up_proj": layer.gate_up[48:],
        "mlp.down_proj": layer.down,
        "input_layernorm": layer.input_norm,
        "post_attention_layernorm": layer.post_norm,
    }
    for name, got in wanted.items():
        assert torch.equal(got, parts[f"model.layers.1.{name}.weight"].to(dtype)), name
    assert torch.equal(weights.norm, parts["model.norm.weight"].to(dtype))
    assert torch.equal(weights.embedding[:100], parts[EMBEDDING].to(dtype))
    assert torch.count_nonzero(weights.embedding[100:]) == 0


def test_a_head_that_is_stored_twice_and_old_buffers_are_accepted(tmp_path):
    parts = tensors()
    parts[HEAD] = parts[EMBEDDING].clone()
    parts["model.layers.0.self_attn.rotary_emb.inv_freq"] = torch.ones(4)
    write_weights(tmp_path, parts)
    assert load(tmp_path).head.shape == (128, 32)


def test_a_tied_head_that_differs_is_refused(tmp_path):
    parts = tensors()
    parts[HEAD] = parts[EMBEDDING].clone()
    parts[HEAD][99, 31] += 1
    write_weights(tmp_path, parts)
    assert "differs from model.embed_tokens.weight, but config.json says tie_word_embeddings" in refused(tmp_path)


def test_a_head_of_its_own(tmp_path):
    parts = tensors()
    write_weights(tmp_path, parts)
    assert "missing: lm_head.weight" in refused(tmp_path, UNTIED)
    parts[HEAD] = torch.randn(100, 32)
    write_weights(tmp_path, parts)
    weights = load(tmp_path, UNTIED)
    assert torch.equal(weights.head[:100], parts[HEAD])
    assert torch.equal(weights.embedding[:100], parts[EMBEDDING])
    assert torch.count_nonzero(weights.head[100:]) == 0


def test_missing_and_unexpected_tensors_are_named_up_to_five(tmp_path):
    parts = tensors()
    for name in [name for name in parts if name.startswith("model.layers.1.")]:
        del parts[name]
    parts["model.layers.0.self_attn.q_proj.bias"] = torch.zeros(32)
    write_weights(tmp_path, parts)
    text = refused(tmp_path)
    assert "missing: model.layers.1.input_layernorm.weight, " in text
    assert "self_attn.o_proj.weight and 4 more; unexpected: model.layers.0.self_attn.q_proj.bias; " in text
    assert text.count("model.layers.1.") == 5


def test_wrong_shapes_and_dtypes_are_named(tmp_path):
    parts = tensors()
    parts[Q] = torch.zeros(32, 31)
    parts["model.norm.weight"] = torch.zeros(32, dtype=torch.int8)
    write_weights(tmp_path, parts)
    text = refused(tmp_path)
    assert f"of another shape: {Q} (32, 31) instead of (32, 32)" in text
    assert "not in BF16, F16, F32: model.norm.weight I8" in text


@pytest.mark.parametrize("keep", [0, 5, 400, -10])
def test_a_truncated_file_is_refused(tmp_path, keep):
    write_weights(tmp_path, tensors())
    path = tmp_path / "model.safetensors"
    path.write_bytes(path.read_bytes()[:keep])
    assert "cannot be read" in refused(tmp_path)


def test_shards_that_do_not_fit_together_are_refused(tmp_path):
    assert "neither model.safetensors nor model.safetensors.index.json" in refused(tmp_path)
    parts = tensors()
    write_weights(tmp_path, parts, shards=2)
    first = tmp_path / "model-00001-of-00002.safetensors"
    second = tmp_path / "model-00002-of-00002.safetensors"
    kept = second.read_bytes()
    second.unlink()
    assert f"names the file {second.name!r}, which is not in" in refused(tmp_path)
    second.write_bytes(first.read_bytes())
    assert "stands in two files" in refused(tmp_path)
    second.write_bytes(kept)
    assert load(tmp_path).norm.shape == (32,)
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": {Q: "../outside.safetensors"}}))
    assert "'../outside.safetensors', which is not in" in refused(tmp_path)
    for content in ("{", "[]", '{"weight_map": 3}'):
        index.write_text(content)
        assert "cannot be read as a list of shards" in refused(tmp_path)
