"""Arenas: all inputs of a step in one device buffer, filled by one copy from one host buffer; outputs the other way.

    inputs = Arena({"slots": ((256,), np.int32)}, device)
    staged = inputs.stage()        # numpy views of a host buffer that nothing reads any more
    staged["slots"][:] = ...
    inputs.upload()                # one asynchronous copy, ordered on the current stream
    inputs.fields["slots"]         # the device tensor; it never moves, so graphs may read it

Host buffers take turns: while one is still being copied the next is filled. `stage` waits for the oldest copy should it
not be done (the device then lies several launches behind). What `download` gives must be read within two more of them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

Array = npt.NDArray[Any]
Layout = Mapping[str, tuple[tuple[int, ...], type[np.generic]]]

ALIGNMENT_BYTES = 16
"""Fields start at multiples of this, so that kernels may read them in 16-byte pieces."""
HOST_BUFFERS = 3


class Arena:
    """Named typed fields of one buffer."""

    def __init__(self, layout: Layout, device: torch.device) -> None:
        size_bytes, places = _places(layout)
        pinned = device.type == "cuda"
        self._device_bytes = torch.zeros(size_bytes, dtype=torch.uint8, device=device)
        self._host_bytes = [torch.zeros(size_bytes, dtype=torch.uint8, pin_memory=pinned) for _ in range(HOST_BUFFERS)]
        self._host = [_numpy_views(layout, places, host.numpy()) for host in self._host_bytes]
        self._copied: list[torch.cuda.Event] | None = None
        if pinned:
            self._copied = [torch.cuda.Event() for _ in range(HOST_BUFFERS)]
        self._turn = 0
        self.fields = _tensor_views(layout, places, self._device_bytes)

    def stage(self) -> dict[str, Array]:
        """The next host buffer's fields, holding what they held three uses ago: fill every element."""
        self._turn = (self._turn + 1) % HOST_BUFFERS
        if self._copied is not None:
            self._copied[self._turn].synchronize()
        return self._host[self._turn]

    def upload(self) -> None:
        """Copy the staged buffer to the device, ordered on the current stream."""
        self._device_bytes.copy_(self._host_bytes[self._turn], non_blocking=True)
        if self._copied is not None:
            self._copied[self._turn].record()

    def download(self) -> dict[str, Array]:
        """Copy the device buffer to the next host buffer, ordered on the current stream; read it after an event."""
        self._turn = (self._turn + 1) % HOST_BUFFERS
        self._host_bytes[self._turn].copy_(self._device_bytes, non_blocking=True)
        return self._host[self._turn]


def _places(layout: Layout) -> tuple[int, dict[str, int]]:
    """Size of the buffer and where each field starts, in bytes."""
    places: dict[str, int] = {}
    end = 0
    for name, (shape, kind) in layout.items():
        places[name] = end
        size_bytes = int(np.prod(shape)) * np.dtype(kind).itemsize
        end += -(-size_bytes // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
    return end, places


def _numpy_views(layout: Layout, places: Mapping[str, int], buffer: npt.NDArray[np.uint8]) -> dict[str, Array]:
    views: dict[str, Array] = {}
    for name, (shape, kind) in layout.items():
        size_bytes = int(np.prod(shape)) * np.dtype(kind).itemsize
        views[name] = buffer[places[name] : places[name] + size_bytes].view(kind).reshape(shape)
    return views


def _tensor_views(layout: Layout, places: Mapping[str, int], buffer: torch.Tensor) -> dict[str, torch.Tensor]:
    views: dict[str, torch.Tensor] = {}
    for name, (shape, kind) in layout.items():
        dtype = torch.from_numpy(np.zeros(0, kind)).dtype
        size_bytes = int(np.prod(shape)) * np.dtype(kind).itemsize
        views[name] = buffer[places[name] : places[name] + size_bytes].view(dtype).reshape(shape)
    return views
