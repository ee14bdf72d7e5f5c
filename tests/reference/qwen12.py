"""Runs the codec of the package qwen-tts on a tiny random checkpoint, in a process of its own (see qwen3_tts.py).

    python tests/reference/qwen12.py PACKAGES OUT

Writes the checkpoint in the published layout to OUT and, to OUT/decoded.npz, what the reference decodes from codes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from qwen3_tts import import_reference  # the script beside this one

CODES = 64
BOOKS = 6
FRAMES = 333
DECODER = {
    "codebook_size": CODES,
    "codebook_dim": 24,
    "latent_dim": 32,
    "hidden_size": 24,
    "head_dim": 8,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "intermediate_size": 40,
    "num_hidden_layers": 2,
    "num_quantizers": BOOKS,
    "upsample_rates": [4, 3],
    "upsampling_ratios": [2, 2],
    "decoder_dim": 32,
    "sliding_window": 40,
    "max_position_embeddings": 8000,
    "rope_theta": 10000,
    "rms_norm_eps": 1e-5,
}
ENCODER = {
    "hidden_size": 16,
    "num_filters": 4,
    "num_residual_layers": 1,
    "upsampling_ratios": [4, 3, 2],
    "codebook_size": CODES,
    "codebook_dim": 12,
    "vector_quantization_hidden_dimension": 12,
    "num_quantizers": 8,
    "num_hidden_layers": 2,
    "intermediate_size": 24,
    "num_attention_heads": 2,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "sliding_window": 20,
    "upsample_groups": 16,
    "frame_rate": 500.0,
    "sampling_rate": 24000,
}


def make(folder):
    import torch
    from qwen_tts.core.tokenizer_12hz.configuration_qwen3_tts_tokenizer_v2 import Qwen3TTSTokenizerV2Config
    from qwen_tts.core.tokenizer_12hz.modeling_qwen3_tts_tokenizer_v2 import Qwen3TTSTokenizerV2Model

    config = Qwen3TTSTokenizerV2Config(
        decoder_config=DECODER,
        encoder_config=ENCODER,
        encoder_valid_num_quantizers=BOOKS,
        input_sample_rate=24000,
        output_sample_rate=24000,
        encode_downsample_rate=48,
        decode_upsample_rate=48,
    )
    for part in (config, config.decoder_config, config.encoder_config):
        part._attn_implementation = "eager"
    model = Qwen3TTSTokenizerV2Model(config).eval().float()
    generator = torch.Generator().manual_seed(3)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if name.endswith("cluster_usage"):
            parameter.data = 0.5 + noise.abs()
        elif name.endswith(("layer_scale.scale", ".gamma")):  # published ones are small and hide errors
            parameter.data = 0.5 + 0.2 * noise
        elif parameter.dim() == 1:
            parameter.data = ("norm" in name) + 0.2 * noise
        else:
            parameter.data = noise * (1.0 if "embedding_sum" in name else 0.7 / parameter[0].numel() ** 0.5)
    for name, buffer in model.named_buffers():
        if name.endswith("embed_sum"):
            buffer.copy_(torch.randn(buffer.shape, generator=generator))
    model.save_pretrained(folder, safe_serialization=True)
    return model


def main(packages, out):
    import numpy as np
    import torch

    torch.set_num_threads(1)
    import_reference(packages)
    model = make(out)
    codes = torch.randint(0, CODES, (1, BOOKS, FRAMES), generator=torch.Generator().manual_seed(9))
    with torch.no_grad():
        decoder = model.decoder
        latents = decoder.pre_conv(decoder.quantizer.decode(codes)).transpose(1, 2)
        hidden = decoder.pre_transformer(inputs_embeds=latents).last_hidden_state
        made = {
            "codes": codes[0].T,
            "latents": latents[0],
            "hidden": hidden[0],
            "whole": decoder(codes)[0, 0],
            "official": decoder.chunked_decode(codes)[0, 0],
        }
    np.savez(out / "decoded.npz", **{name: value.numpy() for name, value in made.items()})


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
