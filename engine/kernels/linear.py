"""Triton kernel of `engine.ops.linear` for few rows: a stream of the weights past rows that stay in registers.

Every program reads whole rows of the matrix in long pieces, several of them under way at once. The order of sums is
fixed and the same for 1 to 16 rows.
"""

from __future__ import annotations

import torch
import triton
import triton.language as tl

from engine.kernels.overlap import launch_options, wait

ROWS = 16
"""The least that `tl.dot` takes; rows beyond the real ones are zeros."""
MOST_OUTPUTS = 4096
"""With more outputs the library fills the device by itself and is as fast; with fewer it has to split its sums and add
them up in a second kernel."""


@triton.jit
def _linear_kernel(
    x, weight, out, num_rows, x_stride, out_stride, K: tl.constexpr, N, ROWS: tl.constexpr, BN: tl.constexpr,
    BK: tl.constexpr, PDL: tl.constexpr,
):  # fmt: skip
    wait(PDL)
    outputs = tl.program_id(0) * BN + tl.arange(0, BN)
    rows = tl.arange(0, ROWS)
    inner = tl.arange(0, BK)
    real = rows < num_rows
    inside = outputs < N
    x_places = x + rows[:, None] * x_stride + inner[None, :]
    w_places = weight + outputs.to(tl.int64)[:, None] * K + inner[None, :]
    total = tl.zeros((ROWS, BN), tl.float32)
    for start in range(0, K, BK):
        left = tl.load(x_places + start, mask=real[:, None], other=0.0)
        right = tl.load(w_places + start, mask=inside[:, None], other=0.0, eviction_policy="evict_first")
        total = tl.dot(left, tl.trans(right), total)
    places = out + rows[:, None] * out_stride + outputs[None, :]
    tl.store(places, total.to(out.dtype.element_ty), mask=real[:, None] & inside[None, :])


def takes(x: torch.Tensor, weight: torch.Tensor) -> bool:
    """Whether the kernel takes this product: few rows and outputs, 16-bit floats, inputs a multiple of 512 long."""
    few = x.shape[0] <= ROWS and weight.shape[0] <= MOST_OUTPUTS
    return few and weight.is_contiguous() and x.element_size() == 2 and x.shape[1] % 512 == 0


def linear(
    x: torch.Tensor, weight: torch.Tensor, *, block: int = 16, piece: int = 512, stages: int = 4, warps: int = 2
) -> torch.Tensor:
    """`engine.ops.linear` of [R, K] and [N, K]. The defaults were the best of what was tried on an H200."""
    rows, width = x.shape
    outputs = weight.shape[0]
    out = torch.empty((rows, outputs), dtype=x.dtype, device=x.device)
    _linear_kernel[(triton.cdiv(outputs, block),)](
        *(x, weight, out, rows, x.stride(0), out.stride(0)),
        K=width,
        N=outputs,
        ROWS=ROWS,
        BN=block,
        BK=piece,
        num_warps=warps,
        num_stages=stages,
        **launch_options(x.device),
    )
    return out
