"""Kernels that start while the one before them still runs: programmatic dependent launch, decided in one place.

A decode step is some ten short kernels a layer, each of which waits for the last block of the one before and is then
set up. From compute capability 9.0 on a kernel may be launched with leave to be set up early (CUDA Programming Guide,
"Programmatic Dependent Launch and Synchronization"; PTX ISA, `griddepcontrol`). Knows no kernel in particular.

What a kernel that is launched with these options must keep, and why that is enough:

- Every program calls `wait` before it touches memory, ahead of any early return. `wait` returns when the kernel before
  has ended and what it wrote can be seen: nothing is read too early (read after write). A store above `wait` would be
  as wrong: the kernel before may still read what is overwritten (write after read; `empty` hands out memory that was
  just given back), or write the same place later. So neither a load nor a store may stand above `wait`, whatever it
  touches; only index arithmetic may.
- As no program ends without having waited, a kernel's end means that the kernel before it has ended, and so on back: to
  wait for one is to wait for all, also where a kernel touches what others than its neighbour read or write.
- `wait` begins by letting the next kernel be set up, which happens once every program of this one has come so far or
  has ended: all programs of this kernel have their places by then and the next one takes none away. That promises
  nothing about memory: the next kernel's `wait` still waits for the end of this one.
- A kernel launched without these options (torch, the convolutions), a copy, an event and the end of a graph wait for
  the end of the kernel before, which is the end of all, as ever. A library's kernel that is launched like ours has to
  keep the same rules by itself.

Stream capture turns such a launch into a programmatic edge of the graph (CUDA 12.3 or newer), so graphs have it too.
"""

from __future__ import annotations

import functools

import torch
import triton
import triton.language as tl

ENABLED = True
"""Whether kernels are launched so where the device can; for measuring. Read at each launch: a graph keeps what was set
when it was captured."""

_LEAST_CAPABILITY = (9, 0)


def launch_options(device: torch.device) -> dict[str, bool]:
    """Keyword arguments for the launch of a kernel on `device`: its constant PDL, and Triton's option.

    PDL is False where the device does not have it: below compute capability 9.0, not CUDA, interpreted.
    """
    if not (ENABLED and device.type == "cuda" and _able(device.index)):
        return {"PDL": False}
    return {"PDL": True, "launch_pdl": True}


@functools.cache
def _able(index: int | None) -> bool:
    # ROCm calls its devices "cuda" as well, with numbers of its own.
    return torch.version.hip is None and torch.cuda.get_device_capability(index) >= _LEAST_CAPABILITY


@triton.jit
def wait(PDL: tl.constexpr):
    """Let the next kernel be set up, then wait until the one before has ended and its writes can be seen.

    It stands ahead of every load, store and return.
    """
    if PDL:
        tl.extra.cuda.gdc_launch_dependents()
        tl.extra.cuda.gdc_wait()
