"""The files of a SNAC folder and the names in them: gives a checked table of name -> tensor. Knows no arithmetic.

Weight-normed layers keep a size and a direction. Their names are torch's present ones
(`X.parametrizations.weight.original0` and `original1`); the older `X.weight_g` and `X.weight_v` are taken too.
"""

from __future__ import annotations

import pickle
import zipfile
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor

from models.codecs.snac.config import DILATIONS, LEVEL_STRIDES, TAPS, SnacConfig
from models.errors import BadWeights

SIZE, DIRECTION = ".parametrizations.weight.original0", ".parametrizations.weight.original1"
_OLD = ((".weight_g", SIZE), (".weight_v", DIRECTION))
_NAMED = 6
"""How many names an error lists."""


def read_state(folder: Path, config: SnacConfig) -> dict[str, Tensor]:
    """The decoder's tensors from `model.safetensors` or `pytorch_model.bin`, as float32 on the CPU, all names there.

    Raises:
        BadWeights: no such file, it is damaged, or its names, shapes or values are not those of the config.
    """
    path = next(
        (folder / name for name in ("model.safetensors", "pytorch_model.bin") if (folder / name).is_file()), None
    )
    if path is None:
        msg = f"{folder}: neither model.safetensors nor pytorch_model.bin is there; fetch the model's folder again"
        raise BadWeights(msg)
    try:
        found = _load(path)
    except (OSError, RuntimeError, ValueError, EOFError, KeyError, pickle.UnpicklingError, SafetensorError) as error:
        msg = f"{path}: the weights cannot be read ({str(error)[:200]}); the file is damaged, fetch it again"
        raise BadWeights(msg) from error
    if not isinstance(found, dict) or not all(isinstance(value, Tensor) for value in found.values()):
        msg = f"{path}: this is not a table of tensors; fetch the file again"
        raise BadWeights(msg)
    try:
        return checked(found, config)
    except BadWeights as error:
        msg = f"{path}: {error}"
        raise BadWeights(msg) from error


def checked(found: dict[str, Tensor], config: SnacConfig) -> dict[str, Tensor]:
    """The same from a state dict: what the decoder needs, under the present names. Raises BadWeights."""
    state = {_present(name): value for name, value in found.items() if not _is_encoder(name)}
    wanted = names(config)
    missing, unexpected = sorted(set(wanted) - set(state)), sorted(set(state) - set(wanted))
    if missing or unexpected:
        msg = f"missing {_some(missing)}, unexpected {_some(unexpected)}; the file must be a SNAC model of its config"
        raise BadWeights(msg)
    for name, shape in wanted.items():
        if tuple(state[name].shape) != shape:
            msg = f"{name} is {tuple(state[name].shape)}, its config says {shape}; take both from one model"
            raise BadWeights(msg)
        if not state[name].is_floating_point() or not bool(state[name].isfinite().all()):
            msg = f"{name} holds values that are no finite floats; the file is damaged, fetch it again"
            raise BadWeights(msg)
    # A copy: the file may be mapped, and may change once it was read.
    return {name: state[name].to(torch.float32, copy=True) for name in wanted}


def names(config: SnacConfig) -> dict[str, tuple[int, ...]]:
    """Every name that decoding needs, with its shape."""
    latent, width, widths = config.latent_dim, config.codebook_dim, config.widths
    wanted: dict[str, tuple[int, ...]] = {}
    for level in range(len(LEVEL_STRIDES)):
        prefix = f"quantizer.quantizers.{level}"
        wanted |= _conv(f"{prefix}.out_proj", (latent, width, 1)) | {f"{prefix}.out_proj.bias": (latent,)}
        wanted[f"{prefix}.codebook.weight"] = (config.codebook_size, width)
    for index, shape in ((0, (latent, 1, TAPS)), (1, (widths[0], latent, 1))):
        wanted |= _conv(f"decoder.model.{index}", shape) | {f"decoder.model.{index}.bias": shape[:1]}
    for block in range(len(config.decoder_rates)):
        wanted |= _block(config, block)
    tail = 2 + len(config.decoder_rates)
    wanted |= _conv(f"decoder.model.{tail + 1}", (1, widths[-1], TAPS)) | {f"decoder.model.{tail + 1}.bias": (1,)}
    wanted[f"decoder.model.{tail}.alpha"] = (1, widths[-1], 1)
    return wanted


def block_prefix(block: int) -> str:
    """Name of a block of the decoder."""
    return f"decoder.model.{2 + block}.block"


def unit_prefix(config: SnacConfig, block: int, unit: int) -> str:
    """Name of a residual unit: they stand after activation, transposed convolution and, if there, noise."""
    return f"{block_prefix(block)}.{(3 if config.noise else 2) + unit}.block"


def _block(config: SnacConfig, block: int) -> dict[str, tuple[int, ...]]:
    before, after = config.widths[block], config.widths[block + 1]
    prefix = block_prefix(block)
    wanted = _conv(f"{prefix}.1", (before, after, 2 * config.decoder_rates[block]))
    wanted |= {f"{prefix}.0.alpha": (1, before, 1), f"{prefix}.1.bias": (after,)}
    if config.noise:
        wanted |= _conv(f"{prefix}.2.linear", (after, after, 1))
    for unit in range(len(DILATIONS)):
        name = unit_prefix(config, block, unit)
        wanted |= _conv(f"{name}.1", (after, 1, TAPS)) | _conv(f"{name}.3", (after, after, 1))
        wanted |= {f"{name}.{part}.alpha": (1, after, 1) for part in (0, 2)}
        wanted |= {f"{name}.{part}.bias": (after,) for part in (1, 3)}
    return wanted


def _conv(prefix: str, shape: tuple[int, ...]) -> dict[str, tuple[int, ...]]:
    return {prefix + SIZE: (shape[0], 1, 1), prefix + DIRECTION: shape}


def _load(path: Path) -> object:
    if path.suffix == ".safetensors":
        return load_file(path)
    return torch.load(path, map_location="cpu", weights_only=True, mmap=zipfile.is_zipfile(path))


def _present(name: str) -> str:
    for old, new in _OLD:
        if name.endswith(old):
            return name.removesuffix(old) + new
    return name


def _is_encoder(name: str) -> bool:
    """Names that only encoding needs."""
    return name.startswith("encoder.") or (name.startswith("quantizer.quantizers.") and ".in_proj." in name)


def _some(found: list[str]) -> str:
    more = f" and {len(found) - _NAMED} more" if len(found) > _NAMED else ""
    return f"{found[:_NAMED]}{more}"
