"""A tiny random SNAC in the published folder layout, made by the reference package, and that package as the oracle.

Strides and rates are the 24 kHz model's (a frame is 2,048 samples); only the widths are small.
"""

from __future__ import annotations

import json
import warnings
from pathlib import Path

import torch
from torch import nn

TINY_CONFIG = {
    "sampling_rate": 24000,
    "encoder_dim": 2,
    "encoder_rates": [2, 4, 8, 8],
    "decoder_dim": 64,
    "decoder_rates": [8, 8, 4, 2],
    "attn_window_size": None,
    "codebook_size": 4096,
    "codebook_dim": 8,
    "vq_strides": [4, 2, 1],
    "noise": True,
    "depthwise": True,
}


def reference(*, seed: int = 0) -> nn.Module:
    """The reference package's model with random weights: alphas from small to large, codebooks and biases filled."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the package scripts its activation on import
        from snac import SNAC

        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            model = SNAC(**TINY_CONFIG)
            for name, value in model.named_parameters():
                if name.endswith("alpha"):
                    value.data.uniform_(0.02, 2.0)
                elif name.endswith("bias"):
                    value.data.normal_(std=0.1)
                elif name.endswith("codebook.weight"):
                    value.data.normal_()
                elif name.endswith("original0"):
                    value.data.mul_(torch.empty_like(value).uniform_(0.5, 1.5))
    return model.eval()


def make_tiny_snac(folder: Path, *, seed: int = 0) -> None:
    """Write `config.json` and `pytorch_model.bin` (encoder keys too) into `folder`, which is made if need be."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(TINY_CONFIG, indent=2), "utf-8")
    torch.save(reference(seed=seed).state_dict(), folder / "pytorch_model.bin")


def reference_decode(model: nn.Module, codes: torch.Tensor) -> torch.Tensor:
    """[B, F, 7] codes to [B, F * 2048] samples by the reference package, its noise off."""
    rows = codes.shape[0]
    levels = [codes[:, :, :1], codes[:, :, 1:3], codes[:, :, 3:]]
    with torch.no_grad():
        quiet = [module for module in model.modules() if type(module).__name__ == "NoiseBlock"]
        handles = [module.register_forward_hook(lambda _, given, __: given[0]) for module in quiet]
        out = model.decode([level.reshape(rows, -1).long() for level in levels])
        for handle in handles:
            handle.remove()
    return out[:, 0]
