"""Kernels that start while the one before them still runs: programmatic dependent launch, decided in one place.

A decode step is some ten short kernels a layer, each of which waits for the last block of the one before and is then
set up. From compute capability 9.0 on a kernel may be launched with leave to be set up early (CUDA Programming Guide,
"Programmatic Dependent Launch and Synchronization"; PTX ISA, `griddepcontrol`). Knows no kernel in particular.

What a kernel that is launched with these options must keep, and why that is enough:

- Every program calls `wait` before it touches memory, ahead of any early return. `wait` returns when the kernel before
  has ended and what it wrote can be seen: nothing is read too early (read after write). A store above `wait` would be
  as wrong: the kernel before may still read what is overwritten (write after read; `empty` hands out memory that was
  just given back), or write the same place later. So neither a load nor a store may stand above `wait`, whatever it
  touches; only index arithmetic and prefetches into L2 may. A prefetch hands no value to the program, and L2 is where
  the writes of all kernels meet, so it can not make anything stale.
- As no program ends without having waited, a kernel's end means that the kernel before it has ended, and so on back: to
  wait for one is to wait for all, also where a kernel touches what others than its neighbour read or write.
- `trigger` lets the next kernel be set up once every program of this one has called it or has ended, so all programs of
  this kernel have their places by then and the next one takes none away. It promises nothing about memory: the next
  kernel's `wait` still waits for the end of this one. Hence it may be the first statement.
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
TRIGGER = False
"""Whether they also let the next kernel be set up as soon as they have begun, rather than when their programs end."""

_LEAST_CAPABILITY = (9, 0)


def launch_options(device: torch.device) -> dict[str, bool]:
    """Keyword arguments for the launch of a kernel on `device`: its constants PDL and TRIGGER, and Triton's option.

    PDL is False where the device does not have it: below compute capability 9.0, not CUDA, interpreted.
    """
    if not (ENABLED and device.type == "cuda" and _able(device.index)):
        return {"PDL": False, "TRIGGER": False}
    return {"PDL": True, "TRIGGER": TRIGGER, "launch_pdl": True}


@functools.cache
def _able(index: int | None) -> bool:
    # ROCm calls its devices "cuda" as well, with numbers of its own.
    return torch.version.hip is None and torch.cuda.get_device_capability(index) >= _LEAST_CAPABILITY


@triton.jit
def trigger(TRIGGER: tl.constexpr):
    """Let the next kernel be set up once all programs have come here. No promise about memory."""
    if TRIGGER:
        tl.extra.cuda.gdc_launch_dependents()


@triton.jit
def wait(PDL: tl.constexpr):
    """Until the kernel before has ended and its writes can be seen: ahead of every load, store and return."""
    if PDL:
        tl.extra.cuda.gdc_wait()


@triton.jit
def prefetch(places, num_bytes):
    """Bring `num_bytes` (a multiple of 16) from each of `places` (aligned to 16 bytes) into L2. Compute capability 9.0.

    The one access that may stand above `wait`; all of it must lie inside a tensor.
    """
    tl.inline_asm_elementwise(
        "{ cp.async.bulk.prefetch.L2.global [$1], $2; mov.b32 $0, 0; }",
        "=r,l,r",
        [places.to(tl.int64), num_bytes],
        dtype=tl.int32,
        is_pure=False,
        pack=1,
    )
