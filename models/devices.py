"""Torch devices by name, for loaders: what is not there is told before anything is read."""

from __future__ import annotations

from importlib.util import find_spec
from typing import TYPE_CHECKING

from engine.errors import DeviceUnavailable
from models.errors import MissingExtra

if TYPE_CHECKING:
    import torch


def device_kind(device: str) -> str:
    """`cuda` of `cuda:1`."""
    return device.split(":", maxsplit=1)[0]


def open_device(
    device: str, *, model: str, devices: tuple[str, ...], install_hint: str, needs_triton: bool
) -> torch.device:
    """The torch device of a name, for a model that runs on `devices`. `needs_triton`: on CUDA, for its kernels.

    Raises:
        DeviceUnavailable: the model does not run there, or torch sees no such device.
        MissingExtra: torch or Triton is not installed.
    """
    if device_kind(device) not in devices:
        msg = f"model {model} runs on {' and '.join(devices)}, not on {device!r}"
        raise DeviceUnavailable(msg)
    try:
        import torch  # not for those who read cards
    except ModuleNotFoundError as error:
        msg = f"model {model} needs the package {error.name!r}, which is not installed: {install_hint}"
        raise MissingExtra(msg) from error
    place = torch.device(device)
    if place.type == "cuda" and (place.index or 0) >= torch.cuda.device_count():
        count = torch.cuda.device_count()
        msg = f"torch sees {count} CUDA devices, not {device!r}; check the driver, or use device 'cpu'"
        raise DeviceUnavailable(msg)
    if needs_triton and place.type == "cuda" and find_spec("triton") is None:
        msg = (
            f"model {model} needs the package triton on CUDA, which the CUDA builds of torch for Linux bring: "
            "pip install 'triton>=3.6,<4'"
        )
        raise MissingExtra(msg)
    return place
