"""The shape of a SNAC decoder as its `config.json` says it. Knows no weights."""

from __future__ import annotations

import json
from dataclasses import dataclass, fields
from pathlib import Path

from models.errors import BadWeights

LEVEL_STRIDES = (4, 2, 1)
"""Latent steps that one code of each level lasts: a frame has 1, 2 and 4 codes of the three levels."""
CODES_PER_FRAME = 7
STEPS_PER_FRAME = LEVEL_STRIDES[0]
"""Latent steps in one frame."""
TAPS = 7
"""Width of every depthwise convolution and of the last one."""
DILATIONS = (1, 3, 9)
"""Of the three residual units of a block."""

_IGNORED = ("encoder_dim", "encoder_rates")
_INTS = ("sampling_rate", "decoder_dim", "codebook_size", "codebook_dim", "latent_dim")


@dataclass(frozen=True, slots=True)
class SnacConfig:
    """Shape of the decoder; the defaults are those of the published 24 kHz model."""

    sampling_rate: int = 24000
    latent_dim: int = 768
    decoder_dim: int = 1024
    decoder_rates: tuple[int, ...] = (8, 8, 4, 2)
    codebook_size: int = 4096
    codebook_dim: int = 8
    noise: bool = True

    def __post_init__(self) -> None:
        for name in _INTS:
            _demand(name, getattr(self, name), "a whole number of at least 1", good=_is_size(getattr(self, name)))
        rates = self.decoder_rates
        good = len(rates) > 0 and all(_is_size(rate) and rate % 2 == 0 for rate in rates)
        _demand("decoder_rates", list(rates), "a list of even numbers (odd strides pad unevenly)", good=good)
        share = 2 ** len(rates)
        _demand("decoder_dim", self.decoder_dim, f"a multiple of {share}", good=self.decoder_dim % share == 0)
        _demand("noise", self.noise, "true or false", good=isinstance(self.noise, bool))

    @property
    def rates(self) -> tuple[int, ...]:
        """Rows per frame after each block: 32, 256, 1024, 2048 in the published model."""
        rows, found = STEPS_PER_FRAME, []
        for stride in self.decoder_rates:
            rows *= stride
            found.append(rows)
        return tuple(found)

    @property
    def widths(self) -> tuple[int, ...]:
        """Channels before the first block and after each."""
        return tuple(self.decoder_dim // 2**block for block in range(len(self.decoder_rates) + 1))

    @property
    def samples_per_frame(self) -> int:
        """Samples that one frame makes."""
        return self.rates[-1]

    @property
    def context_frames(self) -> int:
        """Frames on each side that samples of one frame depend on (3 in the published model).

        Walked from the samples of frame 0 back to the codes: a convolution widens by its reach, output o of a
        transposed convolution of stride s, kernel 2s and padding s / 2 comes from inputs (o + s/2) // s and the one
        before.
        """
        first, last = 0, self.samples_per_frame - 1
        reach = TAPS // 2
        first, last = first - reach, last + reach
        for stride in reversed(self.decoder_rates):
            unit_reach = reach * sum(DILATIONS)
            first, last = first - unit_reach, last + unit_reach
            first, last = (first + stride // 2) // stride - 1, (last + stride // 2) // stride
        first, last = first - reach, last + reach
        return max(-(first // STEPS_PER_FRAME), last // STEPS_PER_FRAME)

    @classmethod
    def read(cls, path: Path) -> SnacConfig:
        """Read `config.json`.

        Raises:
            BadWeights: it cannot be read, a name is missing or unknown, or it describes another kind of SNAC (with
                attention, odd strides, full convolutions or other level strides).
        """
        try:
            found = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            msg = f"{path}: the SNAC config cannot be read ({error}); fetch the model's folder again"
            raise BadWeights(msg) from error
        if not isinstance(found, dict):
            msg = f"{path}: the SNAC config is a {type(found).__name__}, not an object of names; fetch it again"
            raise BadWeights(msg)
        try:
            return cls.from_dict(found)
        except BadWeights as error:
            msg = f"{path}: {error}"
            raise BadWeights(msg) from error

    @classmethod
    def from_dict(cls, found: dict[str, object]) -> SnacConfig:
        """The same from the parsed object. Raises BadWeights as `read`."""
        fixed = {"attn_window_size": None, "vq_strides": list(LEVEL_STRIDES), "depthwise": True}
        own = {field.name for field in fields(cls)}
        wanted = own | set(fixed) | set(_IGNORED)
        missing = sorted(wanted - set(found) - {"latent_dim"})
        unknown = sorted(set(found) - wanted)
        if missing or unknown:
            msg = f"SNAC config: missing {missing}, unknown {unknown}; it must be that of a SNAC 24 kHz model"
            raise BadWeights(msg)
        for name, only in fixed.items():
            _demand(name, found[name], f"{only} (the 24 kHz model's)", good=found[name] == only)
        values = {name: value for name, value in found.items() if name in own}
        values.setdefault("latent_dim", _encoder_width(found))
        rates = values["decoder_rates"]
        values["decoder_rates"] = tuple(rates) if isinstance(rates, list) else ()
        return cls(**values)  # type: ignore[arg-type]  # __post_init__ checks each


def _encoder_width(found: dict[str, object]) -> object:
    """The latent width where the config leaves it to the encoder: doubled by each of its strides."""
    width, strides = found["encoder_dim"], found["encoder_rates"]
    good = _is_size(width) and isinstance(strides, list) and len(strides) > 0
    _demand("encoder_dim and encoder_rates", [width, strides], "a number and a list of strides", good=good)
    return width * 2 ** len(strides) if isinstance(width, int) and isinstance(strides, list) else None


def _is_size(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


def _demand(name: str, value: object, allowed: str, *, good: bool) -> None:
    if not good:
        msg = f"SNAC config: {name} is {value}, it must be {allowed}; use the folder of a SNAC 24 kHz model"
        raise BadWeights(msg)
