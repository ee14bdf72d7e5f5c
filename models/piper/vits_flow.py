"""The coupling flow of VITS, run backwards: samples of the prior to the decoder's latents.

Four additive couplings, each a WaveNet without output gate (Kim et al. 2021, section 2.5.2). The reversal of channels
between two couplings is folded into the weights at load. float32 always: in bfloat16 the audio falls to 9 dB.
"""

from __future__ import annotations

import torch
from torch import Tensor

from models.piper.layout import VoiceLayout
from models.piper.vits_layers import Dense, TapConv, tensor


class WaveNet:
    """Gated residual layers: [T, C] -> [T, C]; the sum of what every layer skips out."""

    def __init__(self, layout: VoiceLayout, prefix: str) -> None:
        numbers = layout.numbers(f"{prefix}.in_layers")
        self.gates = [TapConv(layout, f"{prefix}.in_layers.{number}") for number in numbers]
        self.mixes = [Dense.read(layout, f"{prefix}.res_skip_layers.{number}") for number in numbers]

    def __call__(self, x: Tensor) -> Tensor:
        """Apply; x itself is not changed."""
        frames, channels = x.shape
        radius = max(gate.radius for gate in self.gates)
        padded = x.new_zeros(frames + 2 * radius, channels)
        state = padded[radius : radius + frames]
        state.copy_(x)
        skipped = torch.zeros_like(x)
        for gate, mix in zip(self.gates, self.mixes, strict=True):
            spare = radius - gate.radius
            both = gate.on_padded(padded[spare : padded.shape[0] - spare])
            active = torch.tanh(both[:, :channels]).mul_(torch.sigmoid(both[:, channels:]))
            mixed = mix(active)
            if mixed.shape[1] > channels:  # every layer but the last also feeds the next one
                state += mixed[:, :channels]
            skipped += mixed[:, -channels:]
        return skipped


class Coupling:
    """One half of the channels shifted by what a WaveNet reads from the other half."""

    def __init__(self, layout: VoiceLayout, prefix: str, *, reversed_channels: bool) -> None:
        before = tensor(layout, f"{prefix}.pre.weight")[:, :, 0]
        after = tensor(layout, f"{prefix}.post.weight")[:, :, 0]
        shift = tensor(layout, f"{prefix}.post.bias")
        if reversed_channels:
            before, after, shift = before.flip(1), after.flip(0), shift.flip(0)
        self.before = Dense(before, tensor(layout, f"{prefix}.pre.bias"))
        self.wavenet = WaveNet(layout, f"{prefix}.enc")
        self.after = Dense(after, shift)

    def shift(self, source: Tensor) -> Tensor:
        """What the other half of the channels is shifted by: [T, Z / 2] -> [T, Z / 2]."""
        return self.after(self.wavenet(self.before(source)))


class Flow:
    """Samples of the prior [T, Z] to latents [T, Z], in place."""

    def __init__(self, layout: VoiceLayout) -> None:
        numbers = layout.numbers("flow.flows")
        # Backwards, VITS reverses all channels before each coupling. Two reversals cancel, so the couplings at odd
        # turns see the channels reversed (halves swapped, each half turned round), the others as they are.
        self.couplings = [
            Coupling(layout, f"flow.flows.{number}", reversed_channels=turn % 2 == 0)
            for turn, number in enumerate(reversed(numbers))
        ]
        self.ends_reversed = len(numbers) % 2 == 1

    def __call__(self, z: Tensor) -> Tensor:
        """Run backwards; z is changed and returned (reversed once more for an odd number of couplings)."""
        low, high = z.chunk(2, dim=1)
        for turn, coupling in enumerate(self.couplings):
            if turn % 2 == 0:
                low -= coupling.shift(high)
            else:
                high -= coupling.shift(low)
        return z.flip(1) if self.ends_reversed else z
