"""The decoder against transformers' Llama on the tiny checkpoint, and its parts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from transformers import LlamaForCausalLM

from models.errors import BadWeights
from models.layers.checkpoint import load_llama
from models.layers.llama import LlamaDecoder
from models.layers.llama_config import LlamaConfig
from models.layers.rope import Llama3Scaling, RopeConfig
from tests.helpers_orpheus import VOCAB, tiny_config
from tests.models.layers.dense import DenseAttend

CPU = torch.device("cpu")
IDS = torch.tensor([128259, 128000, 311, 25, 319, 274, 17, 128009, 128260, 128261, 128257, 130000, 135001, 140002])
SMALL = LlamaConfig(
    vocab=100, hidden=32, layers=2, query_heads=4, kv_heads=2, head_dim=8, ffn=48, eps=1e-5,
    rope=RopeConfig(10000.0), max_positions=50,
)  # fmt: skip


@pytest.fixture(scope="module")
def decoder(tiny_orpheus: Path) -> LlamaDecoder:
    config = LlamaConfig.from_json(tiny_orpheus / "config.json")
    return LlamaDecoder(config, load_llama(tiny_orpheus, config, device=CPU, dtype=torch.float32), max_positions=512)


@pytest.fixture(scope="module")
def theirs(tiny_orpheus: Path):
    model = LlamaForCausalLM.from_pretrained(tiny_orpheus, dtype=torch.float32, attn_implementation="eager")
    with torch.inference_mode():
        return model(IDS[None], output_hidden_states=True)


def test_hidden_rows_and_logits_are_those_of_transformers(decoder, theirs):
    hidden = decoder.backbone(decoder.embed(IDS), torch.arange(len(IDS)), DenseAttend(decoder.kv))
    torch.testing.assert_close(hidden, theirs.hidden_states[-1][0], atol=1e-4, rtol=0)
    logits = decoder.head(hidden, first=0, rows=VOCAB)
    assert theirs.logits.std() > 1.0
    torch.testing.assert_close(logits[:, :VOCAB], theirs.logits[0], atol=1e-4, rtol=0)


def test_row_by_row_is_the_same_as_at_once(decoder, theirs):
    attend = DenseAttend(decoder.kv)
    parts = [IDS[:5], *IDS[5:].split(1)]
    rows = [decoder.backbone(decoder.embed(part), torch.zeros(len(part)), attend) for part in parts]
    torch.testing.assert_close(torch.cat(rows), theirs.hidden_states[-1][0], atol=1e-4, rtol=0)


def test_the_head_of_some_ids_is_a_padded_view(decoder, theirs):
    hidden = theirs.hidden_states[-1][0]
    first, rows = 128256, 28682
    logits = decoder.head(hidden, first=first, rows=rows)
    assert logits.shape == (len(IDS), 28736)
    torch.testing.assert_close(logits[:, :rows], theirs.logits[0, :, first : first + rows], atol=1e-4, rtol=0)
    view = decoder.head_weight(first=first, rows=rows)
    assert view.untyped_storage().data_ptr() == decoder.weights.embedding.untyped_storage().data_ptr()
    assert torch.count_nonzero(view[VOCAB - first :]) == 0
    assert decoder.weights.head is decoder.weights.embedding


def test_random_weights_are_repeatable_and_scaled():
    first, second, other = (
        LlamaDecoder.random(SMALL, seed=seed, device=CPU, dtype=torch.float32) for seed in (1, 1, 2)
    )
    pairs = list(zip(first.weights.tensors(), second.weights.tensors(), strict=True))
    assert all(torch.equal(one, two) for one, two in pairs)
    assert not torch.equal(first.weights.layers[0].qkv, other.weights.layers[0].qkv)
    assert 0.015 < first.weights.layers[1].gate_up.std() < 0.025
    assert torch.equal(first.weights.norm, torch.ones(32))
    assert first.weights.embedding.shape == (128, 32)
    assert torch.count_nonzero(first.weights.embedding[100:]) == 0
    untied = LlamaDecoder.random(
        LlamaConfig(**{**_fields(SMALL), "tied": False}), seed=1, device=CPU, dtype=torch.float32
    )
    assert not torch.equal(untied.weights.head, untied.weights.embedding)
    assert torch.count_nonzero(untied.weights.head[100:]) == 0


def test_the_bytes_of_a_step_leave_the_embedding_out():
    decoder = LlamaDecoder.random(SMALL, seed=0, device=CPU, dtype=torch.bfloat16)
    layer = 32 + 64 * 32 + 32 * 32 + 32 + 96 * 32 + 32 * 48
    assert decoder.step_bytes(rows=40) == 2 * (2 * layer + 32 + 64 * 32)
    assert decoder.kv.bytes_per_row == 2 * 2 * 2 * 8 * 2
    assert decoder.max_positions == 50
    assert decoder.rope.cos_sin.shape == (50, 8)


def _fields(config: LlamaConfig) -> dict[str, object]:
    return {name: getattr(config, name) for name in LlamaConfig.__slots__}


def write(folder: Path, **changes: object) -> Path:
    path = folder / "config.json"
    fields = {name: value for name, value in (tiny_config() | changes).items() if value is not ...}
    path.write_text(json.dumps(fields), "utf-8")
    return path


def test_a_config_of_either_transformers_is_read(tmp_path):
    old = LlamaConfig.from_json(write(tmp_path))
    parameters = {"rope_theta": 500000.0, **tiny_config()["rope_scaling"]}
    new = LlamaConfig.from_json(write(tmp_path, rope_theta=..., rope_scaling=..., rope_parameters=parameters))
    assert old == new
    assert old.rope == RopeConfig(500000.0, Llama3Scaling(32.0, 1.0, 4.0, 8192))
    plain = LlamaConfig.from_json(write(tmp_path, rope_scaling=None, head_dim=..., num_key_value_heads=...))
    assert (plain.rope.scaling, plain.head_dim, plain.kv_heads) == (None, 16, 4)


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"attention_bias": True}, "attention_bias is True; only False"),
        ({"mlp_bias": True}, "mlp_bias is True"),
        ({"hidden_act": "gelu"}, "hidden_act is 'gelu'; only 'silu'"),
        ({"quantization_config": {"bits": 4}}, "quantization_config"),
        ({"architectures": ["MistralForCausalLM"]}, "not LlamaForCausalLM"),
        ({"rope_scaling": {"rope_type": "yarn", "factor": 2.0}}, "rope type is 'yarn'; only 'default' and 'llama3'"),
        ({"rope_scaling": {"rope_type": "llama3", "factor": 2.0}}, "does not say 'low_freq_factor'"),
        ({"rope_scaling": [1]}, r"rope parameters are \[1\]"),
        ({"vocab_size": ...}, "does not say 'vocab_size'"),
        ({"hidden_size": "64"}, "hidden_size is '64', not a whole number"),
        ({"rms_norm_eps": None}, "rms_norm_eps is None, not a number"),
        ({"num_key_value_heads": 3}, "query heads a multiple of kv heads"),
        ({"tie_word_embeddings": 1}, "tie_word_embeddings is 1"),
    ],
)
def test_a_config_that_cannot_be_run_is_refused_with_its_path(tmp_path, change, text):
    path = write(tmp_path, **change)
    with pytest.raises(BadWeights, match=text) as caught:
        LlamaConfig.from_json(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("content", ["{", "[]", None])
def test_a_config_that_is_none_is_refused(tmp_path, content):
    path = tmp_path / "config.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(BadWeights, match=r"config\.json"):
        LlamaConfig.from_json(path)
