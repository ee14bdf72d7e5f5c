"""Which attention back end serves a device. A back end's own packages are imported only when it is chosen."""

from __future__ import annotations

import torch

from engine.attention.base import AttentionBackend, PagedKv
from engine.attention.torch_pages import TorchAttention
from engine.errors import DeviceUnavailable

NAMES = ("auto", "torch", "triton", "flashinfer")


def make_attention(name: str, kv: PagedKv, pages: torch.Tensor, *, deterministic: bool) -> AttentionBackend:
    """The back end of that name over `kv`; `auto` is triton on CUDA and torch elsewhere.

    `pages` [S + 1, P] int32 are the page tables. `deterministic`: a row's
    result must not depend on the other rows of its step.

    Raises:
        ValueError: there is no such back end, or its kernels cannot work on this KV.
        DeviceUnavailable: it needs CUDA and the memory is elsewhere, or its package is not installed.
    """
    if name not in NAMES:
        msg = f"attention={name!r} is not known; allowed are {', '.join(NAMES)}"
        raise ValueError(msg)
    device = kv.data.device
    if name == "auto":
        name = "triton" if device.type == "cuda" else "torch"
    if name == "torch":
        return TorchAttention(kv, pages)
    if device.type != "cuda":
        msg = f"attention={name!r} needs a CUDA device and the KV memory is on {device}; choose auto or torch"
        raise DeviceUnavailable(msg)
    try:
        if name == "triton":
            from engine.attention.triton_pages import TritonAttention

            return TritonAttention(kv, pages)
        from engine.attention.flashinfer_pages import FlashInferAttention
    except ModuleNotFoundError as error:
        msg = (
            f"attention={name!r} needs the package {error.name!r}, which is not installed; CUDA builds of torch for "
            "Linux bring it: pip install 'triton>=3.6,<4'"
        )
        raise DeviceUnavailable(msg) from error
    return FlashInferAttention(kv, pages, deterministic=deterministic)
