"""Which arithmetic Orpheus runs in, decided without torch, so that a card and a worker say the same."""

from __future__ import annotations

from models.devices import device_kind
from models.precision import asked_precision

NUMERICS_VERSION = "orpheus1"
"""Goes up when the same text, voice and seed give other samples (network, prompt, sampling, codec noise)."""


def resolve_precision(precision: str, device: str) -> str:
    """fp32 or bf16; `auto` is bf16 on CUDA, as the weights were published, and fp32 on a CPU, where bf16 is slower.

    Raises:
        ModelError: no such precision.
    """
    by_device = "bf16" if device_kind(device) == "cuda" else "fp32"
    return asked_precision(precision, model="orpheus") or by_device


def numerics(precision: str, device: str) -> str:
    """The version of the arithmetic: kernels differ between kinds of device, so the kind is part of it."""
    return f"{NUMERICS_VERSION}-{resolve_precision(precision, device)}-{device_kind(device)}"
