"""Pointwise ops of transformer layers on whichever device the rows are: torch here, Triton kernels on CUDA.

The order of roundings is that of Hugging Face's Llama, so that checkpoints give what they give there. Knows no model.
"""

from __future__ import annotations

from dataclasses import dataclass

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


@dataclass(frozen=True, slots=True)
class Snake:
    """Parameters of x + sin(alpha x)^2 * inverse by channel (Ziyin et al. 2020): `alpha` and `inverse` [C] float32."""

    alpha: torch.Tensor
    inverse: torch.Tensor

    def __call__(self, x: torch.Tensor) -> torch.Tensor:
        """[..., C] float32 to [..., C]."""
        return x + (x * self.alpha).sin().square() * self.inverse


def snake_after(x: torch.Tensor, before: torch.Tensor, snake: Snake) -> torch.Tensor:
    """Rows `before` [B, N, C] as they are, then the activations of `x` [B, T, C]: [B, N + T, C].

    Computed in float32, rounded to the dtype of `x`.
    """
    if x.is_cuda:
        from engine.kernels import conv_rows

        return conv_rows.snake_after(x, before, snake)
    return torch.cat((before, snake(x.to(torch.float32)).to(x.dtype)), dim=1)


def causal_conv(
    rows: torch.Tensor,
    weight: torch.Tensor,
    bias: torch.Tensor,
    *,
    dilation: int = 1,
    snake: Snake | None = None,
    residual: torch.Tensor | None = None,
) -> torch.Tensor:
    """A convolution of K taps over rows [B, (K - 1) * dilation + T, C]: [B, T, O]; row t sees rows t, t + dilation, ...

    `weight` [K, C, O] of the rows' dtype, the oldest tap first; `bias` [O] float32. Then a `snake` of O channels, then
    `residual` [B, T, O] is added. Sums are float32 and rounded at the end (on a CPU after each part).
    """
    if rows.is_cuda and rows.dtype != torch.float32:
        from engine.kernels import conv_rows

        return conv_rows.causal_conv(rows, weight, bias, dilation=dilation, snake=snake, residual=residual)
    taps, _, outputs = weight.shape
    count = rows.shape[1] - (taps - 1) * dilation
    # one product: convolutions of libraries may cut float32 down to TF32
    near = torch.cat([rows[:, tap * dilation : tap * dilation + count] for tap in range(taps)], dim=2)
    out = F.linear(near, weight.view(-1, outputs).t()).to(torch.float32) + bias
    if snake is not None:
        out = snake(out)
    if residual is not None:
        out = out + residual
    return out.to(rows.dtype)
