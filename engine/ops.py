"""Pointwise ops of transformer layers on whichever device the rows are: torch here, Triton kernels on CUDA.

The order of roundings is that of Hugging Face's Llama, so that checkpoints give what they give there. Knows no model.
"""

from __future__ import annotations

import torch
import torch.nn.functional as F  # noqa: N812  # the name everybody knows it by


def linear(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    """x @ weight.T: `x` [R, K], `weight` [N, K] of the same dtype to [R, N]; sums in float32."""
    if x.is_cuda:
        from engine.kernels import linear as skinny

        if skinny.takes(x, weight):
            return skinny.linear(x, weight)
    return F.linear(x, weight)


def rms_norm(x: torch.Tensor, weight: torch.Tensor, eps: float) -> torch.Tensor:
    """x / rms(x) * weight (Zhang and Sennrich 2019): `x` [R, D], `weight` [D] of the same dtype and device to [R, D].

    The quotient is taken in float32 and rounded to the dtype of `x` before it is weighted.
    """
    if x.is_cuda:
        from engine.kernels import norm

        return norm.rms_norm(x, weight, eps)
    wide = x.to(torch.float32)
    scale = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + eps)
    return weight * (wide * scale).to(x.dtype)


def add_rms_norm(
    x: torch.Tensor, residual: torch.Tensor, weight: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """The sum of `x` and `residual` [R, D], rounded to their dtype, and its `rms_norm`: (normed, sum).

    The sum is written into `residual`, which is returned: the caller must own it and not need it as it was.
    """
    if x.is_cuda:
        from engine.kernels import norm

        return norm.add_rms_norm(x, residual, weight, eps)
    residual.add_(x)
    return rms_norm(residual, weight, eps), residual


def head_norm(qkv: torch.Tensor, weights: torch.Tensor, eps: float) -> torch.Tensor:
    """`rms_norm` of each of the first H heads, written into `qkv` [R, at least H * D], which is returned.

    `weights` [H, D] of the same dtype: those of query heads, then those of key heads; value heads follow and stay as
    they are. Query-key normalisation (Henry et al. 2020), before rotation as in Qwen3.
    """
    if qkv.is_cuda:
        from engine.kernels import norm

        return norm.head_norm(qkv, weights, eps)
    heads, dim = weights.shape
    normed = qkv[:, : heads * dim].view(len(qkv), heads, dim)
    wide = normed.to(torch.float32)
    scale = torch.rsqrt(wide.square().mean(dim=-1, keepdim=True) + eps)
    normed.copy_(weights * (wide * scale).to(qkv.dtype))
    return qkv


def silu_mul(gate_up: torch.Tensor) -> torch.Tensor:
    """SwiGLU (Shazeer 2020) without its matrices: silu(gate) * up, with `gate_up` [R, 2F] = gate beside up, to [R, F].

    silu(gate) is rounded to the dtype before it is multiplied.
    """
    if gate_up.is_cuda:
        from engine.kernels import norm

        return norm.silu_mul(gate_up)
    gate, up = gate_up.chunk(2, dim=-1)
    return F.silu(gate) * up


def snake_after(x: torch.Tensor, before: torch.Tensor, alpha: torch.Tensor, inverse: torch.Tensor) -> torch.Tensor:
    """Rows `before` [B, N, C] as they are, then x + sin(alpha x)^2 * inverse of `x` [B, T, C]: [B, N + T, C].

    Snake (Ziyin et al. 2020) by channel, with `alpha` and `inverse` [C] float32; computed in float32.
    """
    if x.is_cuda:
        from engine.kernels import snake

        return snake.after(x, before, alpha, inverse)
    wide = x.to(torch.float32)
    return torch.cat((before, (wide + (wide * alpha).sin().square() * inverse).to(x.dtype)), dim=1)
