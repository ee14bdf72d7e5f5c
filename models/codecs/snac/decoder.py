"""The SNAC decoder as the token lane's codec: frames of seven codes in, 24 kHz samples out.

A frame is SNAC's own: one code of level 0, two of level 1, four of level 2 (columns 0, 1-2, 3-6), each level in time.
Windows of one utterance with `context_frames` on each side give what decoding all of it at once gives, noise too.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import Tensor

from models.codecs.snac import plain
from models.codecs.snac.config import CODES_PER_FRAME, SnacConfig
from models.codecs.snac.weights import SnacWeights

DTYPES = (torch.float32, torch.float16, torch.bfloat16)


class SnacDecoder:
    """One decoder on one device; fulfils `engine.tokens.program.Codec`.

    `fused` chooses the CUDA form (Triton kernels), which keeps matrices and signals in `compute_dtype`; the plain form
    is float32. Measured on an H200 with 16 windows of 70 frames: float16 and bfloat16 make 13,800 seconds of audio a
    second, float32 3,470; against it the rounding of float16 lies 53 dB below the signal, that of bfloat16 35 dB.
    `noise` adds SNAC's keyed noise; None asks the config.
    """

    def __init__(
        self,
        config: SnacConfig,
        weights: SnacWeights,
        *,
        compute_dtype: torch.dtype = torch.float32,
        noise: bool | None = None,
        fused: bool | None = None,
    ) -> None:
        """`fused` None takes it where the weights are on CUDA. Raises ValueError: no such dtype or form here."""
        on_cuda = weights.conv.is_cuda
        self._use_fused = on_cuda if fused is None else fused
        if compute_dtype not in DTYPES or (not self._use_fused and compute_dtype != torch.float32):
            msg = f"compute_dtype {compute_dtype} is not allowed: fused takes one of {DTYPES}, plain only float32"
            raise ValueError(msg)
        self.config = config
        self._weights = weights
        self._noise = config.noise if noise is None else noise and config.noise
        if self._use_fused:
            from models.codecs.snac.fused import FusedDecoder  # needs Triton, which only CUDA builds of torch bring

            self._fused = FusedDecoder(weights, compute_dtype)

    @classmethod
    def from_folder(
        cls,
        path: Path,
        *,
        device: torch.device,
        compute_dtype: torch.dtype = torch.float32,
        noise: bool | None = None,
        fused: bool | None = None,
    ) -> SnacDecoder:
        """Load `config.json` and `model.safetensors` or `pytorch_model.bin`.

        Raises:
            BadWeights: a file is missing, damaged or of another kind of model.
        """
        config = SnacConfig.read(path / "config.json")
        weights = SnacWeights.load(path, config, device=device)
        return cls(config, weights, compute_dtype=compute_dtype, noise=noise, fused=fused)

    @classmethod
    def random(
        cls,
        config: SnacConfig,
        *,
        seed: int,
        device: torch.device,
        compute_dtype: torch.dtype = torch.float32,
        noise: bool | None = None,
        fused: bool | None = None,
    ) -> SnacDecoder:
        """Random weights, drawn on the device."""
        weights = SnacWeights.random(config, seed=seed, device=device)
        return cls(config, weights, compute_dtype=compute_dtype, noise=noise, fused=fused)

    @property
    def sample_rate_hz(self) -> int:
        """Rate of the samples."""
        return self.config.sampling_rate

    @property
    def samples_per_frame(self) -> int:
        """Samples that one frame makes."""
        return self.config.samples_per_frame

    @property
    def codes_per_frame(self) -> int:
        """Codes in one frame."""
        return CODES_PER_FRAME

    @property
    def context_frames(self) -> int:
        """Frames that a window needs on each side of its middle."""
        return self.config.context_frames

    @torch.no_grad()
    def decode(self, codes: Tensor, valid: Tensor, seeds: Tensor, first_frame: Tensor) -> Tensor:
        """As `engine.tokens.program.Codec.decode`: [B, F, 7] codes to [B, F * samples_per_frame] float32 samples.

        Samples outside `valid` are 0, and codes there may be anything. Raises ValueError: shapes or dtypes differ.
        """
        batch = codes.shape[0]
        wanted = (
            (codes, torch.int32, (batch, *codes.shape[1:2], CODES_PER_FRAME)),
            (valid, torch.int32, (batch, 2)),
            (seeds, torch.int64, (batch,)),
            (first_frame, torch.int64, (batch,)),
        )
        for (given, dtype, shape), name in zip(wanted, ("codes", "valid", "seeds", "first_frame"), strict=True):
            if given.dtype != dtype or tuple(given.shape) != shape:
                msg = f"{name} is {tuple(given.shape)} {given.dtype}, it must be {shape} {dtype}"
                raise ValueError(msg)
        windows = plain.Windows(codes, valid.contiguous(), seeds.contiguous(), first_frame.contiguous())
        if self._use_fused:
            return self._fused.decode(windows, noise=self._noise)
        return plain.decode(self._weights, windows, noise=self._noise)
