"""Attention back ends over paged KV: `torch` (any device, the oracle), `triton` and `flashinfer` (CUDA)."""
