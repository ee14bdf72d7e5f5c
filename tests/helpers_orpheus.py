"""A tiny Orpheus checkpoint: the published files, names and ids, with small random weights and a small tokenizer."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from tokenizers import Regex, Tokenizer, decoders, models, pre_tokenizers, processors, trainers

from models.orpheus.tokens import END_OF_SPEECH
from tests.models.codecs.tiny_snac import make_tiny_snac

VOCAB = 156_940
HIDDEN, LAYERS, HEADS, KV_HEADS, HEAD_DIM, FFN = 64, 2, 4, 2, 16, 128
TEXT_IDS = 128_000
BEGIN, END = "<|begin_of_text|>", "<|eot_id|>"

_SPLIT = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s+"
_SAMPLE = (
    "tara: Good morning, it is late. leo: The house is old and nobody lives there. zoe: She said nothing.",
    "mia: When the rain stopped they went on. dan: <laugh> That is not what I said. jess: Where are you going?",
)


def tiny_config() -> dict[str, object]:
    """What its config.json says."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "vocab_size": VOCAB,
        "hidden_size": HIDDEN,
        "num_hidden_layers": LAYERS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "head_dim": HEAD_DIM,
        "intermediate_size": FFN,
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "rms_norm_eps": 1e-5,
        "rope_theta": 500000.0,
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 32.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 8192,
        },
        "max_position_embeddings": 131072,
        "tie_word_embeddings": True,
        "bos_token_id": 128000,
        "eos_token_id": 128009,
        "torch_dtype": "float32",
    }


def tiny_weights(*, seed: int = 0, stop_gain: float = 1.0) -> dict[str, torch.Tensor]:
    """Its tensors by their published names; norms are away from 1 and logits have a spread of a few units.

    With a `stop_gain` of 2 the stop id is often enough the likeliest for most segments to end by it.
    """
    generator = torch.Generator().manual_seed(seed)

    def matrix(rows: int, columns: int) -> torch.Tensor:
        return torch.randn(rows, columns, generator=generator) / columns**0.5

    def norm() -> torch.Tensor:
        return 0.5 + torch.rand(HIDDEN, generator=generator)

    weights = {"model.embed_tokens.weight": 2.5 * matrix(VOCAB, HIDDEN), "model.norm.weight": norm()}
    weights["model.embed_tokens.weight"][END_OF_SPEECH] *= stop_gain
    for layer in range(LAYERS):
        parts = {
            "input_layernorm": norm(),
            "self_attn.q_proj": matrix(HEADS * HEAD_DIM, HIDDEN),
            "self_attn.k_proj": matrix(KV_HEADS * HEAD_DIM, HIDDEN),
            "self_attn.v_proj": matrix(KV_HEADS * HEAD_DIM, HIDDEN),
            "self_attn.o_proj": matrix(HIDDEN, HEADS * HEAD_DIM),
            "post_attention_layernorm": norm(),
            "mlp.gate_proj": matrix(FFN, HIDDEN),
            "mlp.up_proj": matrix(FFN, HIDDEN),
            "mlp.down_proj": matrix(HIDDEN, FFN),
        }
        weights |= {f"model.layers.{layer}.{name}.weight": tensor for name, tensor in parts.items()}
    return weights


def write_weights(folder: Path, weights: dict[str, torch.Tensor], *, shards: int = 1) -> None:
    """Write tensors as one file, or as so many shards with their index."""
    if shards == 1:
        save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
        return
    places: dict[str, str] = {}
    for shard in range(shards):
        name = f"model-{shard + 1:05}-of-{shards:05}.safetensors"
        part = dict(list(weights.items())[shard::shards])
        save_file(part, folder / name, metadata={"format": "pt"})
        places |= dict.fromkeys(part, name)
    index = {"metadata": {}, "weight_map": places}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index), "utf-8")


def tiny_tokenizer() -> Tokenizer:
    """A byte-level BPE with the id layout of Llama 3: text below 128000, special ids from there, then custom ones."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(_SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=340, initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator(_SAMPLE, trainer)
    data = json.loads(tokenizer.to_str())
    vocab = data["model"]["vocab"]
    vocab |= {f"\0unused{number}": number for number in range(len(vocab), TEXT_IDS)}
    tokenizer = Tokenizer.from_str(json.dumps(data))
    special = [f"<|reserved_special_token_{number}|>" for number in range(256)]
    special[0], special[9] = BEGIN, END
    tokenizer.add_special_tokens(special)
    tokenizer.add_tokens([f"<custom_token_{number}>" for number in range(16)])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BEGIN} $A", pair=f"{BEGIN} $A {BEGIN} $B", special_tokens=[(BEGIN, TEXT_IDS)]
    )
    return tokenizer


def make_tiny_orpheus(folder: Path, *, seed: int = 0, shards: int = 1, stop_gain: float = 1.0) -> None:
    """Write a whole checkpoint into a folder: language model, tokenizer, and a codec in `snac/`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(tiny_config(), indent=2), "utf-8")
    write_weights(folder, tiny_weights(seed=seed, stop_gain=stop_gain), shards=shards)
    tiny_tokenizer().save(str(folder / "tokenizer.json"))
    (folder / "snac").mkdir(exist_ok=True)
    make_tiny_snac(folder / "snac", seed=seed)
